-- refusal(fence, token, retention_ms): the answer when the resource has seen a larger token, or its fence
-- is no token; otherwise nil, and this token becomes the largest. A retention of 0 has no end.
local function refusal(fence, token, retention_ms)
  local last = redis.call('GET', fence) or '0'
  if #last > 16 or not string.find(last, '^%d+$') or tonumber(last) >= 2 ^ 53 then
    return redis.error_reply("FENCETYPE the value of '" .. fence
      .. "' is no fencing token; use another resource name, or set it to the last token")
  end
  if tonumber(last) > tonumber(token) then
    return {0, tonumber(last)}
  end
  if tonumber(retention_ms) > 0 then
    redis.call('SET', fence, token, 'PX', retention_ms)
  else
    redis.call('SET', fence, token)
  end
  return nil
end
