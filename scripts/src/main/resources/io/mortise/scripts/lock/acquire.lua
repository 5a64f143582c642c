-- lock/acquire: acquires a free lock, or returns how long it is busy; one that waits is registered then.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] its fencing token
-- KEYS[3] its waiters, a sorted set of holders; of one that does not wait the lock again: on a cluster whose slot
--         moves, a key that does not exist would be an error
-- ARGV[1] holder, unique for each acquisition
-- ARGV[2] lease, ms
-- ARGV[3] retention of the token, ms
-- ARGV[4] how many tokens to reserve, at least 1
-- ARGV[5] 1 when the holder waits for the lock, otherwise 0
--
-- Answer: {1, first token, last one before or 0} when acquired; {0, remaining lease in ms, or -1 for ever} when busy
-- and the end of the hold notifies all on the channel of the lock, or nobody; {2, ms} when busy and registered: its
-- end notifies the first that is registered, and ms is the time until another attempt is useful without a message.
-- Cost: O(log waiters). Safe to repeat: the same holder writes the same fields, and gets a newer token.
-- @include common/token
-- @include common/locktype
local lock, waiters, holder, waits = KEYS[1], KEYS[3], ARGV[1], ARGV[5] == '1'
local free = redis.call('HLEN', lock) == 0
-- What can fail comes first, while nothing is written.
local place = tonumber(waits and redis.call('ZSCORE', waiters, holder) or '')
if free or redis.call('HEXISTS', lock, holder) == 1 then
  local token, last = next_token(KEYS[2], ARGV[3], ARGV[4])
  if free then
    take(lock, ARGV[2], holder, '1')
  else
    lengthen(lock, ARGV[2])
  end
  if place then
    redis.call('ZREM', waiters, holder)
  end
  return {1, token, last}
end
if redis.call('HEXISTS', lock, 'mode') == 1 then
  return refuse('read-write lock')
end
-- @include common/waiters
come_in_vain(waiters, holder, place)
local left = redis.call('PTTL', lock)
if not waits or not notifies_first(lock) then
  return {0, left}
end

-- The longest wait without another look: should the notified waiter die, and the client that would look after it too.
local LOOK = 5000

-- The life of the key after a waiter has asked.
local LIFE = 30 * 1000

register(waiters, holder, place, clock_micros())
redis.call('PEXPIRE', waiters, LIFE)
return {2, left >= 0 and left < LOOK and left or LOOK}
