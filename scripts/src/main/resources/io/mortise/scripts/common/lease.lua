-- lengthen(key, lease_ms): the key lives at least so long from now. Never shortens: a command that comes
-- late, or that knows of less than another hold needs, takes nothing away, and a key without an end
-- keeps none.
local function lengthen(key, lease_ms)
  local left = redis.call('PTTL', key)
  if left >= 0 and left < tonumber(lease_ms) then
    redis.call('PEXPIRE', key, lease_ms)
  end
end

-- take(lock, lease_ms, ...): writes the fields and values of the first hold into a lock that nobody
-- holds. If the user may not PEXPIRE there must not be a hold without an end; the error is the answer
-- then.
local function take(lock, lease_ms, ...)
  redis.call('HSET', lock, ...)
  local done, err = pcall(redis.call, 'PEXPIRE', lock, lease_ms)
  if not done then
    redis.call('DEL', lock)
    error(err)
  end
end
