-- fair/queue: the number of waiters, and the position of the first of some of them.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] the holders, with a space between two; or nothing
--
-- Answer: {length, position}, the position counted from 0, or -1 when none of them waits.
-- Cost: O(queue + holders). Safe to repeat.
-- @include common/queue
begin_to_write(KEYS[2])
prune(KEYS[1], KEYS[2], now_ms())
local WINDOW = 1000 -- not all at once: the first one is often near the head
local asked = {}
for holder in string.gmatch(ARGV[1], '%S+') do
  asked[holder] = true
end
local length = redis.call('LLEN', KEYS[1])

local function position()
  for from = 0, next(asked) and length - 1 or -1, WINDOW do
    for i, holder in ipairs(redis.call('LRANGE', KEYS[1], from, from + WINDOW - 1)) do
      if asked[holder] then
        return from + i - 1
      end
    end
  end
  return -1
end

return {length, position()}
