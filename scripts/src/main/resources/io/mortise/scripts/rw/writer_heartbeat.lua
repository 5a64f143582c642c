-- rw/writer_presence: the heartbeat of waiting writers, which prolongs their intents.
--
-- EACH writer has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- KEYS[3] its channel, and the prefix of the channels of queued waiters
-- KEYS[4] the intent of a waiting writer
-- KEYS[5] the waiting readers, a sorted set with their deadlines, epoch ms
-- KEYS[6] the readers whose turn it is, a sorted set of the same form
-- KEYS[7] the queue of a fair lock, a list
-- KEYS[8] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] writer
-- ARGV[2] how long its intent lasts without a heartbeat, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each writer 1 to go on waiting; 0 when there is no intent, 2 when the lock is free:
-- both should ask again.
-- Cost: O(writers x readers). Safe to repeat: it extends what exists, and adds no intent.
-- @include common/rw
local function sign(k, writer, life)
  check(k)
  local intent = redis.call('GET', k.intent)
  if intent == writer then
    redis.call('PEXPIRE', k.intent, life)
  end
  local s = settle(k)
  if s.write_ended then
    tell(k, s)
  end
  if not intent then
    return 0
  end
  return not s.mode and redis.call('EXISTS', k.turn) == 0 and 2 or 1
end

local answers = {}
for i = 1, #KEYS / 8 do
  local at = 8 * (i - 1)
  local k = {
    lock = KEYS[at + 1],
    prefix = KEYS[at + 2],
    channel = KEYS[at + 3],
    intent = KEYS[at + 4],
    waiters = KEYS[at + 5],
    turn = KEYS[at + 6],
    queue = KEYS[at + 7],
    deadlines = KEYS[at + 8],
    publish = ARGV[3 * i],
  }
  answers[i] = answer_of(sign, k, ARGV[3 * i - 2], ARGV[3 * i - 1])
end
return answers
