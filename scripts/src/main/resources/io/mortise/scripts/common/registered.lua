-- Those that are registered as waiters: a sorted set of holders by their places, in the order in which they joined. The
-- end of a hold notifies the first of them alone, on the channel of its client, and moves it behind all others: one
-- that does not come costs the others one release. One that comes in vain gets its place back.
-- @include common/memory
-- @include common/publish

-- A notification adds this to the place of a waiter: more than any place, and exact in a Lua number.
local NOTIFIED = 2 ^ 52

-- A notified waiter that never comes back is forgotten a day after it joined, us.
local FORGET = 24 * 60 * 60 * 1000000

local function number(n)
  return string.format('%.0f', n)
end

-- The first that has not been notified, and its place; or nil. Fails on a key of another type, so it is called before
-- anything is written.
local function first_waiter(waiters)
  local first = redis.call('ZRANGE', waiters, 0, 0, 'WITHSCORES')
  local place = tonumber(first[2])
  if place and place < NOTIFIED then
    return {holder = first[1], place = place}
  end
  return nil
end

-- Gives one that is registered another place.
local function move(waiters, holder, place)
  begin_to_write(waiters)
  redis.call('ZADD', waiters, number(place), holder)
end

-- Notifies that one; returns how many were notified, or -1.
local function notify_first(command, channels, waiters, first)
  move(waiters, first.holder, first.place + NOTIFIED)
  return publish(command, channels .. ':' .. string.sub(first.holder, 1, 36), '0')
end

-- Gives one that comes in vain its place back.
local function come_in_vain(waiters, holder, place)
  if place and place >= NOTIFIED then
    move(waiters, holder, place - NOTIFIED)
  end
end

-- Registers a waiter, behind all others if it has no place; `now` in us. The caller sees to the life of the key.
local function register(waiters, holder, place, now)
  if not place then
    -- Behind the last one, also after the clock was set back.
    local waiting = redis.call('ZCOUNT', waiters, '-inf', number(NOTIFIED - 1))
    local last = waiting > 0 and redis.call('ZRANGE', waiters, waiting - 1, waiting - 1, 'WITHSCORES')[2] or 0
    redis.call('ZADD', waiters, number(math.max(now, last + 1)), holder)
    redis.call('ZREMRANGEBYSCORE', waiters, number(NOTIFIED), number(NOTIFIED + now - FORGET))
  end
end
