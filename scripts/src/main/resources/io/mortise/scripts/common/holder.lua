-- Refuses a read-write lock, returns 0 when nobody holds the lock, and otherwise reads what a forced
-- release needs: the mark that tells the holder, and its life.
-- @include common/locktype
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return refuse('read-write lock')
end
local holder = redis.call('HKEYS', KEYS[1])[1]
if not holder then
  return 0
end
local left = redis.call('PTTL', KEYS[1])
left = math.max(left > 0 and left or tonumber(ARGV[2]), redis.call('PTTL', KEYS[3]))
local life = string.format('%.0f', left) -- Redis 7.2 may write a number with an exponent
-- Earlier holders that were forced out may not know it yet. GET fails on another type, SET would not.
local forced = {holder}
for earlier in string.gmatch(redis.call('GET', KEYS[3]) or '', '%S+') do
  if #forced < 16 and earlier ~= holder then
    forced[#forced + 1] = earlier
  end
end
-- A server without memory lets a script go on that has begun to write: so it does not refuse the mark.
redis.call('PEXPIRE', KEYS[3], life)
