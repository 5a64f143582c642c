-- Refuses a read-write lock, returns 0 when nobody holds the lock, and otherwise reads what a forced
-- release needs: the holder, and the life of the mark that tells it.
-- @include common/locktype
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return refuse('read-write lock')
end
local holder = redis.call('HKEYS', KEYS[1])[1]
if not holder then
  return 0
end
local left = redis.call('PTTL', KEYS[1])
local life = left > 0 and string.format('%.0f', left) or ARGV[2] -- Redis 7.2 may write a number with an exponent
redis.call('GET', KEYS[3]) -- fails on another type, SET would not
-- A server without memory lets a script go on that has begun to write: so it does not refuse the mark.
redis.call('PEXPIRE', KEYS[3], life)
