-- fair/queue: the number of waiters, and the position of one of them.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] holder, or nothing
--
-- Answer: {length, position}, the position counted from 0, or -1 when it does not wait.
-- Cost: O(queue). Safe to repeat.
-- @include common/queue
prune(KEYS[1], KEYS[2], now_ms())
local position = redis.call('LPOS', KEYS[1], ARGV[1])
return {redis.call('LLEN', KEYS[1]), position or -1}
