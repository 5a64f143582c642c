-- Whether the holder has the lock.
local held = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1

-- @include common/forced
-- The answer when it has not: 2 when its hold was released by force, otherwise 0.
local function not_held()
  return {was_forced(KEYS[3], ARGV[1]) and 2 or 0, 0}
end
