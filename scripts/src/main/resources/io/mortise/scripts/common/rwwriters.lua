-- The writers that wait for a lock that is not fair: each is registered, and the end of a hold notifies the first. The
-- intent of one of them keeps new readers out for all; when that one acquires, the next one has it.
-- @include common/registered

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
  local first = first_waiter(k.writers)
  if not first then
    return 0
  end
  k.notified = 1
  return notify_first(k.publish, k.channel, k.writers, first)
end

-- The intent of a writer that acquires is that of the next one, for the rest of its life. One that was notified and has
-- not come may be dead: it gets none.
local function pass_intent(k)
  local next, left = first_waiter(k.writers), redis.call('PTTL', k.intent)
  redis.call('DEL', k.intent)
  if next then
    redis.call('SET', k.intent, next.holder, 'PX', ms(math.max(left, 1)))
  end
end

-- Removes a writer that leaves; returns whether it was registered, and whether the next one has to ask: this one may
-- have been notified, of the end of a hold or of a sooner end, or it may listen to Redisson for the others.
local function unregister(k, writer)
  local place = tonumber(redis.call('ZSCORE', k.writers, writer) or '')
  local first = redis.call('ZRANGE', k.writers, 0, 0)[1] == writer
  redis.call('ZREM', k.writers, writer)
  return place, place and (first or place >= NOTIFIED)
end
