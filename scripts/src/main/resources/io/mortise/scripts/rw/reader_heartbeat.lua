-- rw/reader_heartbeat: the heartbeat of waiting readers.
--
-- EACH reader has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the intent of a waiting writer
-- KEYS[3] the waiting readers, a sorted set with their deadlines, epoch ms
-- KEYS[4] the readers whose turn it is, a sorted set of the same form
-- ARGV[1] reader
-- ARGV[2] how long it counts as waiting without a heartbeat, ms
--
-- Answer: for each reader 1 to go on waiting; 0 when it does not count as waiting any more, 2 when it
-- may enter: both should ask again.
-- Cost: O(waiting readers). Safe to repeat: it extends what exists, and adds nothing.
-- @include common/rw
local function heartbeat(lock, intent, waiters, turn, reader, life)
  if redis.call('ZSCORE', turn, reader) then
    return 2
  elseif not redis.call('ZSCORE', waiters, reader) then
    return 0
  end
  local open = redis.call('HGET', lock, 'mode') ~= 'write' and redis.call('EXISTS', intent) == 0
  wait(waiters, reader, life)
  return open and 2 or 1
end

local answers = {}
for i = 1, #KEYS / 4 do
  local at = 4 * (i - 1)
  answers[i] = answer_of(heartbeat, KEYS[at + 1], KEYS[at + 2], KEYS[at + 3], KEYS[at + 4],
      ARGV[2 * i - 1], tonumber(ARGV[2 * i]))
end
return answers
