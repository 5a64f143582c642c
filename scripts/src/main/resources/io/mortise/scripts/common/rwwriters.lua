-- The writers that wait for a lock that is not fair: each is registered, and the end of a hold notifies the first. The
-- intent of one of them keeps new readers out for all; when that one acquires or leaves, the next one has it.
-- @include common/registered

local function writers_of(k)
  return 'mortise_write_waiters:' .. k.prefix
end

-- Whether one of Redisson's holds the lock, whose release notifies only the channel of the lock.
local function held_by_redisson(k)
  local mode, all = redis.call('HGET', k.lock, 'mode'), redis.call('HLEN', k.lock)
  if mode == 'read' and all > STEP + 1 then
    return unknown(k) ~= 0
  end
  for _, hold in ipairs(redis.call('HKEYS', k.lock)) do
    if hold ~= 'mode' and (mode == 'read' or is_writer(hold)) and not is_ours(hold) then
      return true
    end
  end
  return false
end

-- Notifies the first writer; returns how many were notified, or -1.
local function notify_writer(k)
  local first = first_waiter(writers_of(k))
  if not first then
    return 0
  end
  k.notified = 1
  return notify_first(k.publish, k.channel, writers_of(k), first)
end

-- The intent of a writer that acquires or leaves is that of the next one; returns whether there is one.
local function pass_intent(k)
  local next, left = redis.call('ZRANGE', writers_of(k), 0, 0)[1], redis.call('PTTL', k.intent)
  redis.call('DEL', k.intent)
  if not next then
    return false
  end
  redis.call('SET', k.intent, next, 'PX', math.max(left, 1))
  return true
end
