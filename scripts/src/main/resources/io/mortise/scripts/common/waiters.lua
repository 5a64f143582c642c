-- Those that wait for a plain lock: a sorted set of holders by the time of their first attempts, us of the server's
-- clock. The end of a hold notifies the first of them alone, on the channel of its client. It stays the first until
-- it has acquired the lock, leaves, or is passed over because it does not come.
-- @include common/ours
-- @include common/publish

-- Whether the end of the hold will notify the first that is registered: not that of one of Redisson's, which uses the
-- channel of the lock, nor of the rest of a minimum, which ends by itself.
local function notifies_first(lock)
  local holder = redis.call('HKEYS', lock)[1]
  return holder and is_ours(holder) and string.sub(holder, -5) ~= ':kept'
end

-- The first that is registered, or nil. Fails on a key of another type, so it is called before anything is written.
local function first_waiter(waiters)
  return redis.call('ZRANGE', waiters, 0, 0)[1]
end

local function notify_first(command, channels, first)
  return publish(command, channels .. ':' .. string.sub(first, 1, 36), '0')
end

-- Notifies after the end of a hold: all that listen to the channel of the lock, as Redisson's waiters do, and the
-- first that is registered. Returns how many were notified, or -1.
local function notify_waiters(command, channels, first)
  local heard = publish(command, channels, '0')
  return first and heard >= 0 and heard + notify_first(command, channels, first) or heard
end

-- The same after the end of a hold of a fair lock: notifies the head of its queue; when that is empty, those that wait
-- for a plain lock of the same name, of whom `first` is the first that is registered. Returns how many were notified, or -1.
local function notify_next(command, channels, head, first)
  if head then
    return publish(command, channels .. ':' .. head, '0')
  end
  return notify_waiters(command, channels, first)
end

-- Removes a waiter that leaves; returns whether it was registered. The next one is notified in its place: when the
-- lock is free, the waiter may have been notified; when the end of the hold does not notify the first, the first has
-- to listen to the channel of the lock.
local function leave_waiters(lock, command, channels, waiters, holder)
  local first = first_waiter(waiters)
  if redis.call('ZREM', waiters, holder) == 0 then
    return false
  end
  local next = first == holder and not notifies_first(lock) and first_waiter(waiters)
  if next then
    notify_first(command, channels, next)
  end
  return true
end
