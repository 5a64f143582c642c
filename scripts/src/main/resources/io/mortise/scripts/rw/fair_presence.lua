-- rw/fair_presence: the sign of life of those in the queue; it also moves the queue on when its head
-- died, or when a peer that does not know the queue gave up the lock.
--
-- EACH waiter has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] what the keys of its holds begin with
-- KEYS[3] its channel, and what the channels of those in the queue begin with
-- KEYS[4] the intent of a writer that waits
-- KEYS[5] the readers that wait, a sorted set with their deadlines, epoch ms
-- KEYS[6] the readers whose turn it is, a sorted set of the same form
-- KEYS[7] the queue of a fair lock, a list
-- KEYS[8] the deadlines of those in the queue, a sorted set, epoch ms
-- ARGV[1] waiter: a reader, or a writer
-- ARGV[2] how long a place is kept without a sign of life, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each waiter 1 when it waits on; 0 when it has no place any more, 2 when it may come in:
-- both should ask again.
-- Cost: O(waiters), and O(readers) for the head. Safe to repeat: it makes no place.
-- @include common/rw
local answers = {}
local now = now_ms()
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
  local waiter = ARGV[3 * i - 2]
  answers[i] = 0
  if redis.call('ZSCORE', k.deadlines, waiter) then
    stand(k.queue, k.deadlines, waiter, now, tonumber(ARGV[3 * i - 1]))
    answers[i] = 1
  end
  local head = prune(k.queue, k.deadlines, now)
  local mode = redis.call('HGET', k.lock, 'mode')
  if mode and head == waiter then
    local s = settle(k)
    if s.write_ended then
      tell(k, s)
    end
    mode = s.mode
  end
  if is_writer(waiter) and head == waiter and not mode
      or not is_writer(waiter) and mode ~= 'write' and before_writers(k, waiter) then
    answers[i] = 2
  else
    call_queue(k, mode)
  end
end
return answers
