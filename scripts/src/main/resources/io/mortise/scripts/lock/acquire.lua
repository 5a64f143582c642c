-- lock/acquire: acquires a free lock, or returns how long it is busy.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] its fencing token
-- ARGV[1] holder, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] retention of the token, ms
-- ARGV[4] how many tokens to reserve, at least 1
--
-- Answer: {1, first token, last one before or 0} when acquired; {0, remaining lease in ms, or -1 for ever} when busy.
-- Cost: O(1). Safe to repeat: the same holder writes the same field, and gets a newer token.
-- @include common/token
-- @include common/locktype
local free = redis.call('HLEN', KEYS[1]) == 0
if free or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  -- What can fail comes first, while nothing is held.
  local token, last = next_token(KEYS[2], ARGV[3], ARGV[4])
  if free then
    take(KEYS[1], ARGV[2], ARGV[1], '1')
  else
    lengthen(KEYS[1], ARGV[2])
  end
  return {1, token, last}
end
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return refuse('read-write lock')
end
return {0, redis.call('PTTL', KEYS[1])}
