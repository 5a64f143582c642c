-- lock/notify: notifies the next waiter, a while after the one that was notified at the end of a hold.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the prefix of the channels of clients
-- KEYS[3] its waiters, a sorted set of holders
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: 1 when the lock is free and the next one was notified: it may not come either. Otherwise 0: when the end of a
-- hold will notify the next one; when there is none; and when the lock is held by one whose release notifies only the
-- channel of the lock, and the next one was notified, so that it listens to that.
-- Cost: O(log waiters). Safe to repeat: one that is notified too early asks in vain.
-- @include common/waiters
local first = first_waiter(KEYS[3])
if not first or notifies_first(KEYS[1]) then
  return 0
end
notify_first(ARGV[1], KEYS[2], KEYS[3], first)
return redis.call('HLEN', KEYS[1]) == 0 and 1 or 0
