-- rw/fair_write: acquires a free lock for writing when it is this writer's turn; otherwise joins the
-- queue.
--
-- @include common/rwkeys
-- KEYS[10] its fencing token
-- ARGV[1] writer, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[4] how long a place is kept without a heartbeat, ms; 0: do not join the queue
-- ARGV[5] retention of the token, ms
-- ARGV[6] how many tokens to reserve: 1, because no hold of a fair lock is handed off
--
-- Answer: {1, token, last} when acquired; {0, ms} when busy; {2, ms} when in the queue, where ms is the
-- time until another attempt is useful without a message, or -1 when others see to that.
-- Cost: O(log readers), at any place in a queue of any length, and O(1) for each dead waiter at its head.
-- Safe to repeat: the same writer writes the same field, and has one place.
-- @include common/token
local free = redis.call('EXISTS', k.lock, k.queue, k.deadlines, k.writers) == 0
-- @include common/writebegin
local now = math.floor(now_micros / 1000)
local length = redis.call('LLEN', k.queue)
local head = prune(k.queue, k.deadlines, now)
local mine = s.mode and redis.call('HEXISTS', k.lock, writer) == 1
if mine or (not s.mode and (not head or head == writer)) then
  -- A repetition that finds a reader below this hold is late, and nobody has its token. Readers get that of the reader.
  if not mine or redis.call('HLEN', k.lock) <= 2 then
    store_token(KEYS[10], token, ARGV[5], now_micros)
  end
  add_hold(k, 'write', writer, ARGV[2])
  if head == writer then
    remove_waiter(k.queue, k.deadlines, writer)
  end
  return {1, token, last_known}
end
local left = math.max(s.read_left, s.write_left)
if life == 0 then
  begin_to_write(k.deadlines)
  return {0, ask_after(left)}
end
if redis.call('LLEN', k.queue) < length then
  notify_queue(k, s.mode)
end
join(k, writer, now, life)
head = redis.call('LINDEX', k.queue, 0)
if head == writer then
  return {2, ask_after(left)}
end
return {2, ask_behind(k.queue, k.deadlines, head, writer, now)}
