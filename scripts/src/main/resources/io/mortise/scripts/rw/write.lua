-- rw/write: acquires a free lock for writing; one that waits is registered, and keeps new readers out.
--
-- @include common/rwkeys
-- KEYS[10] its fencing token
-- ARGV[1] writer, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[4] how long its intent lasts without a heartbeat, ms; 0: it does not wait
-- ARGV[5] retention of the token, ms
-- ARGV[6] how many tokens to reserve, at least 1
--
-- Answer: {1, first token, last one before or 0} when acquired; {0, ms} when busy; {2, ms} when it waits, and {3, ms}
-- when one of Redisson's holds the lock, whose release notifies only the channel of the lock; ms is the time until
-- another attempt is useful without a message, or -1 when there is no end.
-- Cost: O(log readers); O(waiting readers x log) when a write hold has ended. Safe to repeat: the same writer writes
-- the same field, and gets a newer token.
-- @include common/token
local free = redis.call('EXISTS', k.lock, k.intent, k.turn, k.writers) == 0
-- @include common/writebegin
local mine = s.mode and redis.call('HEXISTS', k.lock, writer) == 1
local turn = turn_left(k)
if mine or (not s.mode and turn < 0) then
  -- A repetition that finds a reader below this hold is late, and nobody has its token. Readers get that of the reader.
  if not mine or redis.call('HLEN', k.lock) <= 2 then
    store_token(KEYS[10], token + ARGV[6] - 1, ARGV[5], now_micros)
  end
  add_hold(k, 'write', writer, ARGV[2])
  redis.call('ZREM', k.writers, writer)
  if redis.call('GET', k.intent) == writer then
    pass_intent(k)
  end
  return {1, token, last_known}
end
local left = math.max(s.read_left, s.write_left, turn)
if life == 0 then
  return {0, ask_after(left)}
end
local place = tonumber(redis.call('ZSCORE', k.writers, writer) or '')
if place then
  begin_to_write(k.writers)
end
if not redis.call('SET', k.intent, writer, 'PX', life, 'NX') then
  if redis.call('GET', k.intent) == writer then
    redis.call('PEXPIRE', k.intent, life)
  else
    intent_left(k, life)
  end
end
come_in_vain(k.writers, writer, place)
register(k.writers, writer, place, now_micros)
keep_for(k.writers, life)
return {held_by_redisson(k) and 3 or 2, ask_after(left)}
