-- lock/keep: ends a hold before its minimum is over. The lock stays busy for the rest of the minimum, under a
-- holder that no client has, and those that wait for it are notified of its new end.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of the lock, and the prefix of the channels of clients
-- KEYS[3] the mark that a forced release leaves
-- KEYS[4] its waiters, a sorted set of holders
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] the rest of the minimum, ms
--
-- Answer: as lock/release. A late attempt or renewal of this holder finds the lock busy.
-- Cost: O(log waiters), and the PUBLISH. Safe to repeat: a repetition does not find the holder.
-- @include common/lease
-- @include common/ownhold
if not held then
  return not_held()
end
-- @include common/waiters
local first = first_waiter(KEYS[4])
redis.call('DEL', KEYS[1])
take(KEYS[1], ARGV[3], ARGV[1] .. ':kept', '1')
return {1, notify_waiters(ARGV[2], KEYS[2], KEYS[4], first), first and 1}
