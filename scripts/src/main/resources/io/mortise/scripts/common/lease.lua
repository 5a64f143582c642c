-- lengthen(key, lease_ms): the key lives at least for the lease from now. Never shortens: a late
-- command, or one with a shorter lease than another hold needs, changes nothing, and a key without an
-- end keeps none.
local function lengthen(key, lease_ms)
  local left = redis.call('PTTL', key)
  if left >= 0 and left < tonumber(lease_ms) then
    redis.call('PEXPIRE', key, lease_ms)
  end
end

-- take(lock, lease_ms, ...): writes the fields and values of the first hold into a free lock.
-- If the user may not PEXPIRE, no hold without an end may stay; the reply is the error then.
local function take(lock, lease_ms, ...)
  redis.call('HSET', lock, ...)
  local done, err = pcall(redis.call, 'PEXPIRE', lock, lease_ms)
  if not done then
    redis.call('DEL', lock)
    error(err)
  end
end
