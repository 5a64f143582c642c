-- fair/queue: the number of waiters, and the position of the first of some of them.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] the holders, with a space between two; or nothing
--
-- Answer: {length, position}, the position counted from 0, or -1 when none of them waits.
-- Cost: O(queue + holders). Safe to repeat.
-- @include common/queue
prune(KEYS[1], KEYS[2], now_ms())
local asked = {}
for holder in string.gmatch(ARGV[1], '%S+') do
  asked[holder] = true
end
local position = -1
if next(asked) then
  for i, holder in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
    if asked[holder] then
      position = i - 1
      break
    end
  end
end
return {redis.call('LLEN', KEYS[1]), position}
