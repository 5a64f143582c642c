-- peek_token(key): the next fencing token, and the last one, 0 when none is known. The next is larger
-- than any before while the key lives; when the key was lost, larger by the clock of the server, in
-- microseconds. Stays below 2^53, so a Lua number holds it exactly.
local function peek_token(key)
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local last = tonumber(redis.call('GET', key) or '0') or 0
  return math.max(last + 1, now), last
end

-- store_token(key, token, idle_ms): makes it the last one that was given out. (Left to itself Redis 7.2
-- writes some numbers with an exponent.)
local function store_token(key, token, idle_ms)
  redis.call('SET', key, string.format('%.0f', token), 'PX', idle_ms)
end

-- next_token(key, idle_ms, count): reserves `count` fencing tokens and gives the first of them, and
-- the last one before, 0 when none was known.
local function next_token(key, idle_ms, count)
  local first, last = peek_token(key)
  store_token(key, first + tonumber(count) - 1, idle_ms)
  return first, last
end

-- last_token(key, idle_ms): the last token that was given out; when none is known, the server's time
-- in microseconds, which no earlier token exceeds and every later one does; and then 0 as what is
-- known.
local function last_token(key, idle_ms)
  local last = redis.call('GET', key)
  if last then
    redis.call('PEXPIRE', key, idle_ms)
    return tonumber(last), tonumber(last)
  end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2], 0
end
