-- rw/reader_presence: the sign of life of readers that wait.
--
-- EACH reader has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the intent of a writer that waits
-- KEYS[3] the readers that wait, a sorted set with their deadlines, epoch ms
-- KEYS[4] the readers whose turn it is, a sorted set of the same form
-- ARGV[1] reader
-- ARGV[2] how long it counts as waiting without a sign of life, ms
--
-- Answer: for each reader 1 when it waits on; 0 when it does not count as waiting any more, 2 when it
-- may come in: both should ask again.
-- Cost: O(readers). Safe to repeat: it lengthens what is there, and makes nothing.
-- @include common/rw
local answers = {}
for i = 1, #KEYS / 4 do
  local lock, intent = KEYS[4 * i - 3], KEYS[4 * i - 2]
  local waiters, turn = KEYS[4 * i - 1], KEYS[4 * i]
  local reader = ARGV[2 * i - 1]
  answers[i] = 0
  if redis.call('ZSCORE', turn, reader) then
    answers[i] = 2
  elseif redis.call('ZSCORE', waiters, reader) then
    wait(waiters, reader, tonumber(ARGV[2 * i]))
    local open = redis.call('HGET', lock, 'mode') ~= 'write' and redis.call('EXISTS', intent) == 0
    answers[i] = open and 2 or 1
  end
end
return answers
