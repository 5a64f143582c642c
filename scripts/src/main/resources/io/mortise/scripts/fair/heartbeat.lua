-- fair/heartbeat: the heartbeat of waiters; it also advances the queue when its head died.
--
-- EACH waiter has
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the prefix of the channels of its waiters
-- KEYS[3] the queue, a list of holders
-- KEYS[4] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] holder
-- ARGV[2] how long a place is kept without a heartbeat, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each waiter 1 to go on waiting; 0 when it has lost its place, 2 when the lock is free
-- and it is its turn: both should ask again.
-- Cost: O(waiters); with waiters of Redisson, or of ours with a longer timeout, also O(queue) once.
-- Wakes the head of each queue at most once. Safe to repeat. A queue whose key has another type does not
-- affect the others.
-- @include common/publish
-- @include common/queue
local answers, queues = {}, {}
local now = now_ms()

-- The state of a queue before any heartbeat.
local function open(queue, deadlines)
  repair(queue, deadlines)
  return {waiters = {}, was = {}, redissons = 0, latest = latest_deadline(deadlines)}
end

local function heartbeat(known, queue, deadlines, holder, life)
  local deadline = deadline_of(deadlines, holder)
  if not deadline then
    return 0
  end
  local new = now + life
  if known.latest > new then
    if not known.before then
      known.before, known.redissons = redissons_before(queue)
    end
    new = new + REDISSON_WAIT * (known.before[holder] or 0)
  end
  known.was[holder] = deadline
  extend(queue, deadlines, holder, new)
  return 1
end

-- The waiter of this batch whose turn it is; another one is notified.
local function move_on(known, lock, channels, queue, deadlines, command)
  local head = prune(queue, deadlines, now)
  if not head or redis.call('EXISTS', lock) == 1 then
    return nil
  end
  if not known.waiters[head] then
    publish(command, channels .. ':' .. head, '0')
  end
  return known.waiters[head]
end

-- All heartbeats come before any removal: others of this batch may be ahead.
for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local queue, deadlines = KEYS[k + 3], KEYS[k + 4]
  local known = queues[queue]
  if not known then
    local sound, opened = pcall(open, queue, deadlines)
    known = sound and opened or {unsound = true}
    known.at = i
    queues[queue] = known
  end
  answers[i] = 0
  if not known.unsound then
    local done, answer =
      pcall(heartbeat, known, queue, deadlines, ARGV[a + 1], tonumber(ARGV[a + 2]))
    answers[i] = done and answer or 0
  end
  if answers[i] == 1 then
    known.waiters[ARGV[a + 1]] = i
  end
end

for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local queue, deadlines = KEYS[k + 3], KEYS[k + 4]
  local known = queues[queue]
  if known.at == i and not known.unsound then
    if known.redissons > 0 then
      pcall(move_redissons, queue, deadlines, known.was)
    end
    local done, turn =
      pcall(move_on, known, KEYS[k + 1], KEYS[k + 2], queue, deadlines, ARGV[a + 3])
    if done and turn then
      answers[turn] = 2
    end
  end
end
return answers
