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
-- most once. Safe to repeat.
-- @include common/queue
local answers, queues = {}, {}
local now = now_ms()

-- Everybody signs before anybody is taken for dead: the others of this batch may stand before.
for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local queue, deadlines = KEYS[k + 3], KEYS[k + 4]
  local holder, life = ARGV[a + 1], tonumber(ARGV[a + 2])
  local known = queues[queue]
  if not known then
    heal(queue, deadlines)
    known = {at = i, waiters = {}}
    queues[queue] = known
  end
  local deadline = deadline_of(deadlines, holder)
  if deadline then
    local new = now + life
    if deadline > new then
      known.redissons = known.redissons or redissons(queue)
      local last = known.redissons.before[holder]
      new = last and behind(deadlines, known.redissons.first, last, now, life) or new
    end
    redis.call('ZADD', deadlines, ms(new), holder)
    keep(queue, deadlines)
    known.waiters[holder] = i
    answers[i] = 1
  else
    answers[i] = 0
  end
end

for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local known = queues[KEYS[k + 3]]
  if known.at == i then
    local head = prune(KEYS[k + 3], KEYS[k + 4], now)
    if head and redis.call('EXISTS', KEYS[k + 1]) == 0 then
      if known.waiters[head] then
        answers[known.waiters[head]] = 2
      else
        redis.call(ARGV[a + 3], KEYS[k + 2] .. ':' .. head, '0')
      end
    end
  end
end
return answers
