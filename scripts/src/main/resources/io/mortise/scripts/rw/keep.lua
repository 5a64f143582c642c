-- rw/keep: ends a read or a write hold before its minimum is over. The hold stays for the rest of the minimum,
-- under an id that no client has; the lock lasts as long as its longest hold. When that is shorter than
-- before, the waiters ask again.
--
-- @include common/rwkeys
-- KEYS[10] the holds that were released by force, a set
-- ARGV[1] hold
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] the rest of the minimum, ms
--
-- Answer: as rw/release. A late attempt or renewal of this hold does not find it.
-- Cost: O(log readers); O(waiting readers x log) for a write hold. Safe to repeat: a repetition does not find the hold.
local hold, rest = ARGV[1], ARGV[3]
if redis.call('HEXISTS', k.lock, hold) == 0 or redis.call('HEXISTS', k.lock, 'mode') == 0 then
  return {redis.call('SISMEMBER', KEYS[10], hold) == 1 and 2 or 0, 0}
end
-- @include common/rw
k.publish = ARGV[2]
check(k)
local writer = is_writer(hold)
local kept = writer and string.sub(hold, 1, -7) .. ':kept:write' or hold .. ':kept'
local beside = writer and redis.call('HLEN', k.lock) > 2
-- The end that the waiters know: that of the write hold, or that of the lock, which is the last end of its readers.
local known = left_of(beside and lease_key(k, hold, 1) or k.lock)
-- Removed first: a server without memory lets a script go on that has begun to write.
redis.call('HDEL', k.lock, hold)
redis.call('DEL', lease_key(k, hold, 1))
if not writer then
  redis.call('ZREM', k.readers, hold)
  note(k, kept, tonumber(rest))
end
redis.call('HSET', k.lock, kept, '1')
local left = tonumber(rest)
if writer and not beside then
  redis.call('PEXPIRE', k.lock, rest)
else
  redis.call('SET', lease_key(k, kept, 1), '1', 'PX', rest)
  local s = settle(k, nil, true)
  if s.write_ended then
    return {1, notify_end(k, s), k.notified}
  end
  if not writer then
    left = math.max(s.read_left, s.write_left)
  end
end
-- Nobody notices the end of the rest, so the turn of the readers that wait begins now, and lasts beyond it.
if writer then
  begin_turn(k)
  redis.call('PEXPIRE', k.turn, ms(left + TURN))
end
if left >= known then
  return {1, held_by_redisson(k) and notify_writer(k) or 0, k.notified}
end
return {1, notify_shorter(k, writer and '1' or '0'), k.notified}
