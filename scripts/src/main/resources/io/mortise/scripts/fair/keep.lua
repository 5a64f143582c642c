-- fair/keep: ends a hold before its minimum is over. The lock stays busy for the rest of the minimum, under a
-- holder that no client has; the head of the queue asks again, or when it is empty, the waiters for a plain
-- lock of that name.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of plain locks, and the prefix of the channels of its waiters
-- KEYS[3] the mark that a forced release leaves
-- KEYS[4] the queue, a list of holders
-- KEYS[5] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[6] the waiters for a plain lock of that name, a sorted set of holders
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] the rest of the minimum, ms
-- ARGV[4] the waiters of its run that have had this hold, separated by spaces
--
-- Answer: as fair/release. A late attempt or renewal of this holder finds the lock busy.
-- Cost: O(1), and O(1) for each dead waiter at the head and each that it has served. Safe to repeat: a repetition
-- does not find the holder.
-- @include common/ownhold
-- @include common/waiters
-- @include common/lease
-- @include common/queue
-- @include common/served
if not held then
  leave_served(KEYS[1], ARGV[2], KEYS[2], KEYS[4], KEYS[5], KEYS[6], ARGV[4])
  return not_held()
end
local first = first_waiter(KEYS[6])
remove_served(KEYS[4], KEYS[5], ARGV[4])
local head = prune(KEYS[4], KEYS[5], now_ms())
redis.call('DEL', KEYS[1])
take(KEYS[1], ARGV[3], ARGV[1] .. ':kept', '1')
return {1, notify_next(ARGV[2], KEYS[2], head, KEYS[6], first)}
