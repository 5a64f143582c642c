-- Those that wait for a plain lock: a sorted set of holders by their places, in the order in which they joined. The end
-- of a hold notifies the first of them alone, on the channel of its client, and moves it behind all others: one that
-- does not come costs the others one release. One that comes in vain gets its place back.
-- @include common/ours
-- @include common/publish

-- Whether the end of the hold will notify the first that is registered: not that of one of Redisson's, which uses the
-- channel of the lock, nor of the rest of a minimum, which ends by itself.
local function notifies_first(lock)
  local holder = redis.call('HKEYS', lock)[1]
  return holder and is_ours(holder) and string.sub(holder, -5) ~= ':kept'
end

-- What is added to the place of a waiter that was notified: more than any place, and exact in a Lua number.
local NOTIFIED = 2 ^ 52

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

-- Notifies that one; returns how many were notified, or -1.
local function notify_first(command, channels, waiters, first)
  redis.call('ZADD', waiters, number(first.place + NOTIFIED), first.holder)
  return publish(command, channels .. ':' .. string.sub(first.holder, 1, 36), '0')
end

-- Notifies after the end of a hold: all that listen to the channel of the lock, as Redisson's waiters do, and the
-- first that waits. Returns how many were notified, or -1.
local function notify_waiters(command, channels, waiters, first)
  local heard = publish(command, channels, '0')
  if not first or heard < 0 then
    return heard
  end
  local one = notify_first(command, channels, waiters, first)
  return one < 0 and one or heard + one
end

-- The same after the end of a hold of a fair lock: notifies the head of its queue; when that is empty, those that wait
-- for a plain lock of the same name. Returns how many were notified, or -1.
local function notify_next(command, channels, head, waiters, first)
  if head then
    return publish(command, channels .. ':' .. head, '0')
  end
  return notify_waiters(command, channels, waiters, first)
end

-- Removes a waiter that leaves; returns whether it was registered. It may have been notified, or be the one that
-- listens to the channel of the lock for the others; so the next one looks, unless the end of a hold will notify it.
local function leave_waiters(lock, command, channels, waiters, holder)
  if redis.call('ZREM', waiters, holder) == 0 then
    return false
  end
  local next = not notifies_first(lock) and first_waiter(waiters)
  if next then
    notify_first(command, channels, waiters, next)
  end
  return true
end
