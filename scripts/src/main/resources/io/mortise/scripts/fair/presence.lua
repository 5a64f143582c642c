-- fair/presence: the sign of life of those who wait; it also moves the queue on when its head died.
--
-- EACH waiter has
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] what the channels of its waiters begin with
-- KEYS[3] the queue, a list of holders
-- KEYS[4] the deadlines of those in the queue, a sorted set, epoch ms
-- ARGV[1] holder
-- ARGV[2] how long a place is kept without a sign of life, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each waiter 1 when it waits on; 0 when it has no place any more, 2 when the lock is free
-- and it is its turn: both should ask again.
-- Cost: O(waiters); behind waiters of Redisson's O(queue) besides, once. Wakes the head of each queue at
-- most once. Safe to repeat. One queue whose key has become something else does not spoil the others.
-- @include common/publish
-- @include common/queue
local answers, queues = {}, {}
local now = now_ms()

local function sign(known, queue, deadlines, holder, life)
  local deadline = deadline_of(deadlines, holder)
  if not deadline then
    return 0
  end
  local new = now + life
  if deadline > new then
    known.redissons = known.redissons or redissons_before(queue)
    new = new + REDISSON_WAIT * (known.redissons[holder] or 0)
  end
  redis.call('ZADD', deadlines, ms(new), holder)
  keep(queue, deadlines)
  return 1
end

-- The waiter of this batch whose turn it is; another one is woken.
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

-- Everybody signs before anybody is taken for dead: the others of this batch may stand before.
for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local queue, deadlines = KEYS[k + 3], KEYS[k + 4]
  local known = queues[queue]
  if not known then
    known = {at = i, waiters = {}}
    queues[queue] = known
    pcall(heal, queue, deadlines)
  end
  local done, answer = pcall(sign, known, queue, deadlines, ARGV[a + 1], tonumber(ARGV[a + 2]))
  answers[i] = done and answer or 0
  if answers[i] == 1 then
    known.waiters[ARGV[a + 1]] = i
  end
end

for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local known = queues[KEYS[k + 3]]
  if known.at == i then
    local done, turn =
      pcall(move_on, known, KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], ARGV[a + 3])
    if done and turn then
      answers[turn] = 2
    end
  end
end
return answers
