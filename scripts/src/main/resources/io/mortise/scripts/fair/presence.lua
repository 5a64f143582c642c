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
-- Cost: O(waiters). Safe to repeat.
-- @include common/publish
-- @include common/queue
local answers = {}
local now = now_ms()
for i = 1, #KEYS / 4 do
  local k, a = 4 * (i - 1), 3 * (i - 1)
  local lock, queue, deadlines = KEYS[k + 1], KEYS[k + 3], KEYS[k + 4]
  local holder = ARGV[a + 1]
  if redis.call('ZSCORE', deadlines, holder) then
    stand(queue, deadlines, holder, now, tonumber(ARGV[a + 2]))
    answers[i] = 1
  else
    answers[i] = 0
  end
  local head = prune(queue, deadlines, now)
  if head and redis.call('EXISTS', lock) == 0 then
    if head == holder then
      answers[i] = 2
    else
      publish(ARGV[a + 3], KEYS[k + 2] .. ':' .. head, '0')
    end
  end
end
return answers
