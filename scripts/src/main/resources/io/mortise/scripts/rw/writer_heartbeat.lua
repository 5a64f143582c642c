-- rw/writer_heartbeat: the heartbeat of waiting writers, which prolongs their intents and registrations.
--
-- EACH writer has
-- @include common/rwbatch
-- ARGV[1] writer
-- ARGV[2] how long its intent lasts without a heartbeat, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each writer 1 to go on waiting; 0 when there is no intent, or it is not registered, 2 when the lock
-- is free: both should ask again.
-- Cost: O(writers x log readers). Safe to repeat: it extends what exists, and adds nothing.
-- @include common/rw
local function heartbeat(k, writer, life)
  check(k)
  local intent = redis.call('GET', k.intent)
  if intent == writer then
    redis.call('PEXPIRE', k.intent, life)
  end
  local s = settle(k)
  if s.write_ended then
    notify_end(k, s)
  end
  keep_for(k.writers, life)
  if not intent or not redis.call('ZSCORE', k.writers, writer) then
    return 0
  end
  return not s.mode and redis.call('EXISTS', k.turn) == 0 and 2 or 1
end

local answers = {}
for i = 1, #KEYS / 9 do
  answers[i] = answer_of(heartbeat, keys_of(i), ARGV[3 * i - 2], ARGV[3 * i - 1])
end
return answers
