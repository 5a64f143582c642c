-- stale(fence, token, retention_ms): the largest token that the resource has seen, if it exceeds this
-- one; otherwise nil, and this one becomes the largest. A retention of 0 has no end.
local function stale(fence, token, retention_ms)
  local last = tonumber(redis.call('GET', fence) or '0') or 0
  if last > tonumber(token) then
    return last
  end
  if tonumber(retention_ms) > 0 then
    redis.call('SET', fence, token, 'PX', retention_ms)
  else
    redis.call('SET', fence, token)
  end
  return nil
end
