-- rw/fair_read: acquires the lock for reading when no writer holds it or is ahead in the queue;
-- otherwise joins the queue.
--
-- @include common/rwkeys
-- KEYS[10] the fencing token, which readers share
-- ARGV[1] reader, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[4] the write hold of the calling thread, or nothing: below it no reader queues
-- ARGV[5] how long a place is kept without a heartbeat, ms; 0: do not join the queue
-- ARGV[6] retention of the token, ms
-- ARGV[7] the token of that write hold, or 0
-- ARGV[8] the last of the tokens that were reserved for hand-offs of that write hold, or -1
--
-- Answer: {1, token, last token or 0} when acquired; {0, ms} when busy; {2, ms} when in the queue, where ms
-- is the time until another attempt is useful without a message, or -1 when others see to that.
-- Cost: O(log readers), at any place in a queue of any length, and O(1) for each dead waiter at its head.
-- Safe to repeat: the same reader writes the same field, and has one place.
-- @include common/token
local free = redis.call('EXISTS', k.lock, k.queue, k.deadlines, k.readers, k.writers) == 0
-- @include common/readbegin
local now = now_ms()
local length = redis.call('LLEN', k.queue)
local head = prune(k.queue, k.deadlines, now)
local pruned = redis.call('LLEN', k.queue) < length
if admitted or (mode ~= 'write' and before_writers(k, reader)) then
  local token = enter_with_token()
  if redis.call('ZSCORE', k.deadlines, reader) then
    remove_reader(k, reader)
    -- The reader that is now near enough to the head to see no writer ahead.
    local next = redis.call('LINDEX', k.queue, WINDOW - 1)
    if next and not pruned and before_writers(k, next) then
      notify_entry(k, next)
    end
  end
  if pruned then
    notify_queue(k, redis.call('HGET', k.lock, 'mode'))
  end
  return {1, token, last or 0}
end
if life == 0 then
  begin_to_write(k.deadlines)
  return {0, ask_after(left)}
end
if pruned then
  notify_queue(k, mode)
end
join(k, reader, now, life)
if before_writers(k, reader) then
  return {2, ask_after(left)}
end
head = redis.call('LINDEX', k.queue, 0)
return {2, ask_behind(k.queue, k.deadlines, head, reader, now)}
