-- rw/fair_heartbeat: the heartbeat of queued waiters; it also advances the queue when its head
-- died, or when a peer that ignores the queue released the lock.
--
-- EACH waiter has
-- @include common/rwbatch
-- ARGV[1] waiter: a reader, or a writer
-- ARGV[2] how long a place is kept without a heartbeat, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each waiter 1 to go on waiting; 0 when it has lost its place, 2 when it may enter:
-- both should ask again.
-- Cost: O(waiters), and O(log readers) for each lock with the heartbeat of its head. Notifies others at
-- most once. Safe to repeat: it adds no place. A lock whose key has another type does not affect the
-- others.
-- @include common/rw
local answers, locks = {}, {}

local function heartbeat(k, waiter, life)
  if not redis.call('ZSCORE', k.deadlines, waiter) then
    return 0
  end
  extend(k.queue, k.deadlines, waiter, now_ms() + life)
  return 1
end

-- The waiters of this batch that may enter; others that may are notified.
local function move_on(k, alive)
  local head = prune(k.queue, k.deadlines, now_ms())
  local mode = redis.call('HGET', k.lock, 'mode')
  if mode and alive[head] then
    local s = settle(k)
    if s.write_ended then
      notify_end(k, s)
    end
    mode = s.mode
  end
  local mine = {}
  for _, entry in ipairs(first_in_queue(k, head, mode)) do
    if alive[entry] then
      mine[#mine + 1] = alive[entry]
    else
      notify_entry(k, entry)
    end
  end
  return mine
end

-- All heartbeats come before any removal: others of this batch may be ahead.
for i = 1, #KEYS / 9 do
  local k = keys_of(i)
  local lock = locks[k.lock]
  if not lock then
    lock = {k = k, alive = {}}
    lock.sound = pcall(check, lock.k)
    locks[k.lock] = lock
    locks[#locks + 1] = lock
  end
  answers[i] = 0
  if lock.sound then
    answers[i] = answer_of(heartbeat, lock.k, ARGV[3 * i - 2], tonumber(ARGV[3 * i - 1]))
  end
  if answers[i] == 1 then
    lock.alive[ARGV[3 * i - 2]] = i
  end
end

for _, lock in ipairs(locks) do
  if lock.sound then
    local done, mine = pcall(move_on, lock.k, lock.alive)
    for _, i in pairs(done and mine or lock.alive) do
      answers[i] = done and 2 or 0 -- after 0 the waiter asks again, and gets the error
    end
  end
end
return answers
