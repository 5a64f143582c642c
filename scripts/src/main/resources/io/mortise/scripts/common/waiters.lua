-- Those that wait for a plain lock, and are registered.
-- @include common/ours
-- @include common/registered

-- Whether the end of the hold will notify the first that is registered: not that of one of Redisson's, which uses the
-- channel of the lock, nor of the rest of a minimum, which ends by itself.
local function notifies_first(lock)
  local holder = redis.call('HKEYS', lock)[1]
  return holder and is_ours(holder) and string.sub(holder, -5) ~= ':kept'
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
