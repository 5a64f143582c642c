-- fair/acquire: acquires a free lock when it is this waiter's turn; otherwise joins the queue.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] its fencing token
-- KEYS[3] the queue, a list of holders
-- KEYS[4] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] holder, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] retention of the token, ms
-- ARGV[4] how many waiters the run may have: those of the same client directly behind this holder, to whom the
--         client passes the hold in their order. They keep their places, and a token is reserved for each
-- ARGV[5] how long a place is kept without a heartbeat, ms; 0: do not join the queue
--
-- Answer: {1, first token, last one before or 0, each holder of the run} when acquired; {0, ms} when busy;
-- {2, ms} when in the queue, where ms is the time until another attempt is useful without a message, or -1 when others
-- see to that.
-- Cost: O(1), at any place in a queue of any length, and O(1) for each dead waiter at its head and each in the run;
-- with waiters of Redisson, or of ours with a longer timeout, O(queue) to join.
-- Safe to repeat: the same holder writes the same field, and has one place. While it holds, its run is at the head
-- of the queue.
-- @include common/token
local lock, queue, deadlines, holder = KEYS[1], KEYS[3], KEYS[4], ARGV[1]
-- No holder and no waiters: the functions below are not needed, and making them takes time.
if redis.call('EXISTS', lock, queue, deadlines) == 0 then
  local token, last = next_token(KEYS[2], ARGV[3], 1)
  take(lock, ARGV[2], holder, '1')
  return {1, token, last}
end
-- @include common/locktype
-- @include common/queue
-- The waiters of the holder's client directly behind it, in order. Nobody comes between them while it holds: others
-- join at the tail.
local function run_of(holder, most)
  local run, client = {}, string.sub(holder, 1, 36)
  for _, waiter in ipairs(redis.call('LRANGE', queue, 0, most)) do
    if waiter ~= holder then
      if #run == most or string.sub(waiter, 1, 36) ~= client then
        break
      end
      run[#run + 1] = waiter
    end
  end
  return run
end

-- What can fail comes first, before anything is written.
local token, last, clock = peek_token(KEYS[2])
local free = redis.call('HLEN', lock) == 0
if not free and redis.call('HEXISTS', lock, 'mode') == 1 then
  return refuse('read-write lock')
end
local life = tonumber(ARGV[5])
local now = math.floor(clock / 1000)
local head = prune(queue, deadlines, now)
if (free and (not head or head == holder)) or redis.call('HEXISTS', lock, holder) == 1 then
  local run = head and run_of(holder, tonumber(ARGV[4])) or {}
  store_token(KEYS[2], token + #run, ARGV[3], clock)
  if free then
    take(lock, ARGV[2], holder, '1')
  else
    lengthen(lock, ARGV[2])
  end
  if head then
    remove_waiter(queue, deadlines, holder)
  end
  return {1, token, last, unpack(run)}
end
local remaining = redis.call('PTTL', lock)
if life == 0 then
  begin_to_write(deadlines)
  return {0, remaining == -2 and 1 or remaining}
end
join_or_extend(queue, deadlines, holder, now, life)
head = redis.call('LINDEX', queue, 0)
if head == holder then
  return {2, remaining}
end
return {2, ask_behind(queue, deadlines, head, holder, now)}
