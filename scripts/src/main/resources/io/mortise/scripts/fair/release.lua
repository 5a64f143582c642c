-- fair/release: releases the lock and wakes only the head of the queue; when it is empty, the waiters
-- for a plain lock of that name.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of plain locks, and the prefix of the channels of its waiters
-- KEYS[3] the mark that a forced release leaves
-- KEYS[4] the queue, a list of holders
-- KEYS[5] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[6] the waiters for a plain lock of that name, a sorted set of holders
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] the waiters of its run that have had this hold, separated by spaces
--
-- Answer: {1, notified subscribers, or -1} when released; {0, 0} when this holder does not hold it;
-- {2, 0} when it was released by force. Then the places of those that it has served are removed all the same.
-- Cost: O(1), and O(1) for each dead waiter at the head and each that it has served. Safe to repeat: it releases
-- only the given acquisition.
-- @include common/ownhold
if not held and ARGV[3] == '' then
  return not_held()
end
-- @include common/waiters
local first = first_waiter(KEYS[6])
if held and redis.call('EXISTS', KEYS[4], KEYS[5]) == 0 then
  redis.call('DEL', KEYS[1])
  return {1, notify_waiters(ARGV[2], KEYS[2], KEYS[6], first)}
end
-- @include common/queue
-- @include common/served
if not held then
  leave_served(KEYS[1], ARGV[2], KEYS[2], KEYS[4], KEYS[5], KEYS[6], ARGV[3])
  return not_held()
end
remove_served(KEYS[4], KEYS[5], ARGV[3])
local head = prune(KEYS[4], KEYS[5], now_ms())
redis.call('DEL', KEYS[1])
return {1, notify_next(ARGV[2], KEYS[2], head, KEYS[6], first)}
