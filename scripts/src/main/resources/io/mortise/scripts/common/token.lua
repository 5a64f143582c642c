-- The last fencing token of a lock. Two facts keep tokens in order: while the key lives the next one is
-- larger than it, and the key does not end before the server's clock, in microseconds, has passed it. So
-- the clock is larger than all tokens when the key has ended.
-- @include common/lease

local function clock_micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- known_token(key): the last token that was issued; nil when none is known, or the value can be none, such as nan or
-- one from 2^53 on: no token would ever be larger than that. Writes nothing.
local function known_token(key)
  local token = tonumber(redis.call('GET', key) or '')
  return token and token >= 0 and token < 2 ^ 53 and token or nil
end

-- peek_token(key): the next token, the last one or 0, and the clock. Writes nothing. Stays below 2^53,
-- so a Lua number holds it exactly.
local function peek_token(key)
  local now = clock_micros()
  local last = known_token(key) or 0
  return math.max(last + 1, now), last, now
end

-- store_token(key, token, retention_ms, now): stores the last issued token. The key lives for its retention
-- from when the clock passes the token; one without an end, as Redisson makes it, keeps none. (By default
-- Redis 7.2 writes some numbers with an exponent.)
local function store_token(key, token, retention_ms, now)
  local text = string.format('%.0f', token)
  if redis.call('PTTL', key) == -1 then
    redis.call('SET', key, text)
  else
    local life = retention_ms + math.max(math.ceil((token - now) / 1000), 0)
    redis.call('SET', key, text, 'PX', string.format('%.0f', life))
  end
end

-- next_token(key, retention_ms, count): reserves `count` tokens; returns the first of them, and the last one
-- before, 0 when none was known.
local function next_token(key, retention_ms, count)
  local first, last, now = peek_token(key)
  store_token(key, first + count - 1, retention_ms, now)
  return first, last
end

-- shared_token(key, last, retention_ms): the token of a reader: the last one that was issued, as known_token returns
-- it. When none is known, the clock is issued, which no earlier token exceeds. It is stored, so that later ones exceed
-- it even if the clock is set back.
local function shared_token(key, last, retention_ms)
  if last then
    lengthen(key, retention_ms)
    return last
  end
  local now = clock_micros()
  store_token(key, now, retention_ms, now)
  return now
end
