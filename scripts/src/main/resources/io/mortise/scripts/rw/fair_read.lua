-- rw/fair_read: acquires the lock for reading when no writer holds it or is ahead in the queue;
-- otherwise joins the queue.
--
-- @include common/rwkeys
-- KEYS[9] the fencing token of the last write
-- ARGV[1] reader, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[4] the write hold of the calling thread, or nothing: below it no reader queues
-- ARGV[5] how long a place is kept without a heartbeat, ms; 0: do not join the queue
-- ARGV[6] idle life of the token, ms
--
-- Answer: {1, last token, the same or 0} when acquired; {0, ms} when busy; {2, ms} when in the queue, where ms
-- is the time until another attempt is useful without a message, or -1 when others see to that.
-- Cost: O(1), at any place in a queue of any length, and O(1) for each dead waiter at its head.
-- Safe to repeat: the same reader writes the same field, and has one place.
-- @include common/token
-- @include common/firstread
local reader, writer, life = ARGV[1], ARGV[4], tonumber(ARGV[5])
-- No holder and no waiters: the code below is not needed, and parsing it takes time.
if redis.call('EXISTS', k.lock, k.queue, k.deadlines) == 0 then
  local token, last = last_token(KEYS[9])
  lengthen(KEYS[9], ARGV[6])
  read_first(k, reader, ARGV[2])
  return {1, token, last}
end
-- @include common/rw
k.publish = ARGV[3]
check(k)
local token, last_known = last_token(KEYS[9])
local mode = redis.call('HGET', k.lock, 'mode')
if not mode and redis.call('EXISTS', k.lock) == 1 then
  return refuse('lock without readers')
end
local nested = writer ~= '' and mode == 'write' and redis.call('HEXISTS', k.lock, writer) == 1
local admitted = nested or redis.call('HEXISTS', k.lock, reader) == 1
local left = 1
if not admitted and mode == 'write' then
  local s = settle(k)
  if s.write_ended then
    tell(k, s)
  end
  mode, left = s.mode, s.write_left
end
local now = now_ms()
local length = redis.call('LLEN', k.queue)
local head = prune(k.queue, k.deadlines, now)
local pruned = redis.call('LLEN', k.queue) < length
if admitted or (mode ~= 'write' and before_writers(k, reader)) then
  lengthen(KEYS[9], ARGV[6])
  enter(k, reader, ARGV[2], nested and writer)
  if redis.call('ZSCORE', k.deadlines, reader) then
    step_ahead(k, reader)
    -- The reader that is now near enough to the head to see no writer ahead.
    local next = redis.call('LINDEX', k.queue, WINDOW - 1)
    if next and not pruned and before_writers(k, next) then
      call_entry(k, next)
    end
  end
  if pruned then
    call_queue(k, redis.call('HGET', k.lock, 'mode'))
  end
  return {1, token, last_known}
end
if life == 0 then
  return {0, ask_after(left)}
end
if pruned then
  call_queue(k, mode)
end
stand(k.queue, k.deadlines, reader, now, life)
if before_writers(k, reader) then
  return {2, ask_after(left)}
end
head = redis.call('LINDEX', k.queue, 0)
if redis.call('LINDEX', k.queue, 1) == reader then
  return {2, tonumber(redis.call('ZSCORE', k.deadlines, head)) - now + 1}
end
return {2, -1}
