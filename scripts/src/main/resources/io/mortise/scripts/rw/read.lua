-- rw/read: acquires the lock for reading, beside other readers or below a write hold of the same
-- thread.
-- Readers wait while a writer holds the lock or intends to, unless it is the turn of the readers that
-- waited before.
--
-- @include common/rwkeys
-- KEYS[10] the fencing token, which readers share
-- ARGV[1] reader, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[4] the write hold of the calling thread, or nothing
-- ARGV[5] how long it counts as waiting without a heartbeat, ms; 0: it does not wait
-- ARGV[6] retention of the token, ms
-- ARGV[7] the token of that write hold, or 0
-- ARGV[8] the last of the tokens that were reserved for hand-offs of that write hold, or -1
--
-- Answer: {1, token, last token or 0} when acquired; {0, ms} when busy; {2, ms} when it waits, and {3, ms} when a
-- writer of Redisson holds the lock, whose release notifies only the channel of the lock; ms is the time until another
-- attempt is useful without a message, or -1 when there is no end.
-- Cost: O(log readers). Safe to repeat: the same reader writes the same field.
-- @include common/token
local free = redis.call('EXISTS', k.lock, k.intent, k.waiters, k.turn, k.readers, k.writers) == 0
-- @include common/readbegin
if not admitted and mode ~= 'write' then
  left = intent_left(k, life)
  admitted = left < 0 or redis.call('ZSCORE', k.turn, reader)
end
if admitted then
  local token = enter_with_token()
  redis.call('ZREM', k.waiters, reader)
  redis.call('ZREM', k.turn, reader)
  return {1, token, last or 0}
end
if life == 0 then
  return {0, ask_after(left)}
end
if redis.call('ZSCORE', k.turn, reader) then
  begin_to_write(k.turn) -- it waits already, for the rest of a minimum
end
wait(k.waiters, reader, life)
return {mode == 'write' and held_by_redisson(k) and 3 or 2, ask_after(left)}
