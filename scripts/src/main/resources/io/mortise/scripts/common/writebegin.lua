-- Acquires a lock for writing that is `free`; otherwise reads its state, and ends what is over.
local writer, life = ARGV[1], tonumber(ARGV[4])
-- No holder and no waiters: the functions below are not needed, and making them takes time.
if free then
  local token, last = next_token(KEYS[10], ARGV[5], ARGV[6])
  take(k.lock, ARGV[2], 'mode', 'write', writer, '1')
  return {1, token, last}
end
-- @include common/rw
k.publish = ARGV[3]
check(k)
local token, last_known, now_micros = peek_token(KEYS[10])
local s = settle(k)
if s.other_type then
  return refuse('lock without readers')
end
if s.write_ended then
  notify_end(k, s)
end
