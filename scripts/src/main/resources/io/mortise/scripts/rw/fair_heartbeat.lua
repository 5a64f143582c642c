-- rw/fair_presence: the heartbeat of queued waiters; it also advances the queue when its head
-- died, or when a peer that ignores the queue released the lock.
--
-- EACH waiter has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- KEYS[3] its channel, and the prefix of the channels of queued waiters
-- KEYS[4] the intent of a waiting writer
-- KEYS[5] the waiting readers, a sorted set with their deadlines, epoch ms
-- KEYS[6] the readers whose turn it is, a sorted set of the same form
-- KEYS[7] the queue of a fair lock, a list
-- KEYS[8] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] waiter: a reader, or a writer
-- ARGV[2] how long a place is kept without a heartbeat, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each waiter 1 to go on waiting; 0 when it has lost its place, 2 when it may enter:
-- both should ask again.
-- Cost: O(waiters), and O(readers) for each lock with the heartbeat of its head. Notifies others at
-- most once. Safe to repeat: it adds no place. A lock whose key has another type does not affect the
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

-- The waiters of this batch that may enter; others that may are notified.
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

-- All heartbeats come before any removal: others of this batch may be ahead.
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
      answers[i] = done and 2 or 0 -- after 0 the waiter asks again, and gets the error
    end
  end
end
return answers
