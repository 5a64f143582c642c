-- rw/leave: removes whatever an acquisition has: its intent, its registration, its place, or the hold itself.
--
-- @include common/rwkeys
-- ARGV[1] hold: a reader, or a writer
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, notified subscribers, less 1 for each channel without permission} when it had
-- anything; otherwise {0, 0}.
-- Cost: O(1) for a waiter, O(queue) for one behind the head of a queue, O(log readers) for a holder. Safe
-- to repeat: it names one acquisition.
-- @include common/rw
local hold = ARGV[1]
k.publish = ARGV[2]
check(k)
local found, heard = false, 0
local registered, next_asks = unregister(k, hold)
local intended = redis.call('GET', k.intent) == hold
if intended then
  redis.call('DEL', k.intent)
end
local waited = redis.call('ZREM', k.waiters, hold) == 1
local turn = redis.call('ZREM', k.turn, hold) == 1
local queued = redis.call('ZSCORE', k.deadlines, hold)
if queued then
  remove_waiter(k.queue, k.deadlines, hold)
end
if redis.call('HEXISTS', k.lock, hold) == 1 then
  found = true
  heard = remove_hold(k, hold)
end
-- The waiters that it kept out: readers by an intent, writers by a turn. Behind a writer of Redisson the readers have
-- to listen to the channel of the lock.
local mode = redis.call('HGET', k.lock, 'mode')
if intended and mode ~= 'write' then
  heard = heard + publish(k.publish, k.channel, '1')
elseif turn and not mode and redis.call('EXISTS', k.turn) == 0 then
  heard = heard + publish(k.publish, k.channel, '0') + notify_writer(k)
end
if intended and (mode ~= 'write' or held_by_redisson(k)) then
  heard = heard + notify_readers(k)
end
if intended or next_asks and not found then
  heard = heard + notify_writer(k)
end
if queued then
  heard = heard + notify_queue(k, mode)
end
if found or registered or intended or waited or turn or queued then
  return {1, heard}
end
return {0, 0}
