-- lock/pass_over: removes the waiter that was notified of a release, if the lock is still free, and notifies the next.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the prefix of the channels of clients
-- KEYS[3] its waiters, a sorted set of holders
-- ARGV[1] the waiter that was notified
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, the waiter that is notified now}, or {0} when the lock is held or nobody else is registered.
-- Cost: O(log waiters). Safe to repeat: one that has come is no longer registered.
-- @include common/waiters
local first = first_waiter(KEYS[3])
if not first or redis.call('HLEN', KEYS[1]) > 0 then
  return {0}
end
if first == ARGV[1] then
  redis.call('ZREM', KEYS[3], first)
  first = first_waiter(KEYS[3])
end
if not first then
  return {0}
end
notify_first(ARGV[2], KEYS[2], first)
return {1, first}
