-- lock/acquire_all: acquires several free locks, or none of them.
--
-- EACH lock has
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] its fencing token
-- ARGV[1] holder, unique for each acquisition; the same for all
-- ARGV[2] lease, ms
-- ARGV[3] retention of the token, ms
--
-- Answer: {1, token, last one before or 0} when all are acquired: one token, larger than any before;
-- {0, i, remaining lease in ms, or -1 for ever} of the first busy lock.
-- Cost: O(locks). Safe to repeat: the same holder writes the same fields, and gets a newer token.
-- @include common/token
-- @include common/locktype
local token, last, now = 0, 0, 0
for i = 1, #KEYS / 2 do
  local lock, holder = KEYS[2 * i - 1], ARGV[3 * i - 2]
  if redis.call('HLEN', lock) > 0 and redis.call('HEXISTS', lock, holder) == 0 then
    if redis.call('HEXISTS', lock, 'mode') == 1 then
      return refuse('read-write lock')
    end
    return {0, i, redis.call('PTTL', lock)}
  end
  local its_token, its_last, its_now = peek_token(KEYS[2 * i])
  token, last, now = math.max(token, its_token), math.max(last, its_last), its_now
end
-- What can fail comes first, while nothing is held.
for i = 1, #KEYS / 2 do
  store_token(KEYS[2 * i], token, ARGV[3 * i], now)
end
for i = 1, #KEYS / 2 do
  local lock, holder, lease = KEYS[2 * i - 1], ARGV[3 * i - 2], ARGV[3 * i - 1]
  if redis.call('HLEN', lock) == 0 then
    take(lock, lease, holder, '1')
  else
    lengthen(lock, lease)
  end
end
return {1, token, last}
