-- lock/release: releases the lock, and notifies those that wait for it; or removes one that waits.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of the lock, and the prefix of the channels of clients
-- KEYS[3] the mark that a forced release leaves
-- KEYS[4] its waiters, a sorted set of holders
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, notified subscribers, or -1, 1 if one of the waiters was notified} when released; {2, 0} when it was
-- released by force; {3, 0} when this holder was only registered as a waiter; otherwise {0, 0}.
-- Cost: O(log waiters), and the PUBLISH. Safe to repeat: it names one acquisition.
-- @include common/publish
local lock, channels, waiters, holder = KEYS[1], KEYS[2], KEYS[4], ARGV[1]
local held = redis.call('HEXISTS', lock, holder) == 1
-- Nobody waits: the functions below are not needed, and making them takes time.
if held and not redis.call('ZRANGE', waiters, 0, 0)[1] then
  redis.call('DEL', lock)
  return {1, publish(ARGV[2], channels, '0')}
end
-- @include common/waiters
if held then
  local first = first_waiter(waiters)
  redis.call('DEL', lock)
  return {1, notify_waiters(ARGV[2], channels, waiters, first), first and 1}
end
-- @include common/forced
local forced = was_forced(KEYS[3], holder)
local waited = leave_waiters(lock, ARGV[2], channels, waiters, holder)
return {forced and 2 or waited and 3 or 0, 0}
