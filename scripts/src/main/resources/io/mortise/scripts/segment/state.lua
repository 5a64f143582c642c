-- segment/state: the exhausted segments, and the number of those that wait for any.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
--
-- Answer: {length of the queue, index, ...}, the indices in ascending order.
-- Cost: O(exhausted), O(1) for each dead waiter at the head, and O(queue) for each of at most 100 behind it.
-- Safe to repeat.
-- @include common/segments
check_group(KEYS[1], KEYS[2], KEYS[3])
begin_to_write(KEYS[2])
remove_dead(KEYS[1], KEYS[2], now_ms())
local indices = {}
for _, i in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  indices[#indices + 1] = tonumber(i)
end
table.sort(indices)
return {redis.call('LLEN', KEYS[1]), unpack(indices)}
