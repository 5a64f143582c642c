-- Whether the holder has the lock.
local held = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1

-- The answer when it has not: 2 when its hold was released by force, otherwise 0.
local function not_held()
  return {redis.call('GET', KEYS[3]) == ARGV[1] and 2 or 0, 0}
end
