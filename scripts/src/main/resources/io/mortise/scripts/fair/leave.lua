-- fair/leave: removes whatever an acquisition has: its place in the queue, or the lock itself, and the places of those
-- that its hold has served.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of plain locks, and the prefix of the channels of its waiters
-- KEYS[3] the queue, a list of holders
-- KEYS[4] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[5] the waiters for a plain lock of that name, a sorted set of holders
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] the waiters of its run that have had its hold, separated by spaces
--
-- Answer: {1, notified subscribers, or -1} when it held the lock, or one of them had a place; otherwise {0, 0}.
-- Cost: O(1) for a holder and for the head, O(queue) for a waiter behind it.
-- Safe to repeat: it names one acquisition.
-- @include common/waiters
-- @include common/queue
-- @include common/served
local lock, queue, deadlines, holder = KEYS[1], KEYS[3], KEYS[4], ARGV[1]
local held = redis.call('HEXISTS', lock, holder) == 1
local first = first_waiter(KEYS[5])
sizes_match(queue, deadlines) -- fails on another type
if held then
  redis.call('DEL', lock)
end
local queued = remove_waiter(queue, deadlines, holder)
queued = remove_served(queue, deadlines, ARGV[3]) or queued
if not held and not queued then
  return {0, 0}
end
local head = prune(queue, deadlines, now_ms())
if redis.call('EXISTS', lock) == 1 then
  return {1, 0}
end
return {1, notify_next(ARGV[2], KEYS[2], head, KEYS[5], first)}
