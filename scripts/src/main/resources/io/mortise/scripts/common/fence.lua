-- refusal(fence, token, retention_ms): the answer when the resource has seen a larger token, or its fence
-- is no token; otherwise nil, and this token becomes the largest. A retention of 0 has no end. A fence never
-- ends earlier than it would have: another store of the resource may need it for longer.
local function refusal(fence, token, retention_ms)
  local last = redis.call('GET', fence) or '0'
  if #last > 16 or not string.find(last, '^%d+$') or tonumber(last) >= 2 ^ 53 then
    return redis.error_reply("FENCETYPE the value of '" .. fence
      .. "' is no fencing token; use another resource name, or set it to the last token")
  end
  if tonumber(last) > tonumber(token) then
    return {0, tonumber(last)}
  end
  local retention = tonumber(retention_ms)
  local left = retention > 0 and redis.call('PTTL', fence) or -1 -- -1 without an end, -2 without a fence
  if left == -1 then
    redis.call('SET', fence, token)
  else
    redis.call('SET', fence, token, 'PX', string.format('%.0f', math.max(retention, left)))
  end
  return nil
end
