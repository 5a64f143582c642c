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
-- Cost: O(waiters), and for each lock of which the head signs O(readers). Calls others at most once.
-- Safe to repeat: it makes no place. One lock whose key has become something else does not spoil the
-- others.
-- @include common/rw
local answers, locks = {}, {}

local function sign(k, waiter, life)
  if not redis.call('ZSCORE', k.deadlines, waiter) then
    return 0
  end
  redis.call('ZADD', k.deadlines, ms(now_ms() + life), waiter)
  keep(k.queue, k.deadlines)
  return 1
end

-- Those of this batch who may come in; others who may are called.
local function move_on(k, signed)
  local head = prune(k.queue, k.deadlines, now_ms())
  local mode = redis.call('HGET', k.lock, 'mode')
  if mode and signed[head] then
    local s = settle(k)
    if s.write_ended then
      tell(k, s)
    end
    mode = s.mode
  end
  local mine = {}
  for _, entry in ipairs(first_in_queue(k, head, mode)) do
    if signed[entry] then
      mine[#mine + 1] = signed[entry]
    else
      call_entry(k, entry)
    end
  end
  return mine
end

-- Everybody signs before anybody is taken for dead: the others of this batch may stand before.
for i = 1, #KEYS / 8 do
  local at = 8 * (i - 1)
  local lock = locks[KEYS[at + 1]]
  if not lock then
    lock = {signed = {}}
    lock.k = {
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
    lock.sound = pcall(check, lock.k)
    locks[KEYS[at + 1]] = lock
    locks[#locks + 1] = lock
  end
  answers[i] = 0
  if lock.sound then
    answers[i] = answer_of(sign, lock.k, ARGV[3 * i - 2], tonumber(ARGV[3 * i - 1]))
  end
  if answers[i] == 1 then
    lock.signed[ARGV[3 * i - 2]] = i
  end
end

for _, lock in ipairs(locks) do
  if lock.sound then
    local done, mine = pcall(move_on, lock.k, lock.signed)
    for _, i in pairs(done and mine or lock.signed) do
      answers[i] = done and 2 or 0 -- who hears 0 asks again, and is told what is wrong
    end
  end
end
return answers
