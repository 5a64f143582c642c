-- lock/inspect: returns whether the lock is held, and for how long.
--
-- KEYS[1] the lock, a hash {holder -> count}
--
-- Answer: the remaining lease in ms; -1 when it is held for ever, -2 when it is not held.
-- Cost: O(1). Writes nothing.
-- @include common/locktype
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return refuse('read-write lock')
end
return redis.call('PTTL', KEYS[1])
