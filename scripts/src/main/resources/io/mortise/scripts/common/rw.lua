-- The read-write lock: its holds, who may enter when one ends, and who is notified.
--
-- A reader's id is its holder, a writer's `<holder>:write`: in the hash, in the queue, in the names of
-- keys and channels. Every reader has a key for each of its counts that lives as long as its lease. A
-- writer of ours has one while readers hold beside it, because they may extend the life of the hash.
-- @include common/lease
-- @include common/locktype
-- @include common/publish
-- @include common/queue

-- Later than any time.
local FOREVER = 2 ^ 53

-- More than what passes within a script, ms: two times that differ by less are the same.
local PASSES = 20

local function is_writer(entry)
  return string.sub(entry, -6) == ':write'
end

local function lease_key(k, entry, count)
  return k.prefix .. ':' .. entry .. ':rwlock_timeout:' .. count
end

-- The remaining life of a key, ms; negative when it does not exist.
local function left_of(key)
  local left = redis.call('PTTL', key)
  return left == -1 and FOREVER or left
end

-- The time until another attempt is useful, as scripts return it.
local function ask_after(left)
  return left >= FOREVER and -1 or math.max(left, 1)
end

-- Each re-entry of a reader of Redisson has a lease key, which is looked at; of one that re-enters more often the first.
local LEVELS = 1000

-- A hold count, at most LEVELS; nil when the value is none: then the hash is somebody else's.
local function count_of(value)
  return #value < 10 and string.find(value, '^[1-9]%d*$') and math.min(tonumber(value), LEVELS) or nil
end

local function reader_left(k, reader, count)
  local left = -2
  for n = 1, count do
    left = math.max(left, left_of(lease_key(k, reader, n)))
  end
  return left
end

-- A key beside the lock has an end, and lasts at least for that time from now.
local function keep_for(key, life)
  if redis.call('PTTL', key) < tonumber(life) then
    redis.call('PEXPIRE', key, life)
  end
end

-- @include common/readers
-- @include common/rwwriters

-- Fails when one of the keys has another type. Called before anything is written: what a script has
-- written stays when it fails later.
local function check(k)
  redis.call('HLEN', k.lock)
  if redis.call('EXISTS', k.intent, k.waiters, k.turn, k.queue, k.deadlines, k.readers, k.writers) > 0 then
    redis.call('GET', k.intent)
    redis.call('ZCARD', k.waiters)
    redis.call('ZCARD', k.turn)
    redis.call('LLEN', k.queue)
    redis.call('ZCARD', k.deadlines)
    redis.call('ZCARD', k.readers)
    redis.call('ZCARD', k.writers)
  end
end

-- The holders of the lock, without the one that `leaves`: looks at each. Writes nothing. Of a hash of somebody else
-- it returns `other_type` alone.
local function look(k, leaves)
  local s = {mode = false, readers = {}, over = {}, read_left = -2, write_left = -2}
  local all = redis.call('HGETALL', k.lock)
  local foreign = false
  for i = 1, #all, 2 do
    if all[i] == 'mode' then
      s.mode = all[i + 1]
    elseif not count_of(all[i + 1]) then
      foreign = true
    end
  end
  if foreign or s.mode ~= 'read' and s.mode ~= 'write' then
    s.mode, s.other_type = false, #all > 0
    return s
  end
  for i = 1, #all, 2 do
    local entry, value = all[i], all[i + 1]
    if is_writer(entry) then
      s.writer = entry
    elseif entry ~= 'mode' then
      local count = count_of(value)
      local left = leaves and leaves(entry) and -2 or reader_left(k, entry, count)
      if left < 0 then
        s.over[#s.over + 1] = {entry, count}
      else
        s.readers[#s.readers + 1] = entry
        s.read_left = math.max(s.read_left, left)
      end
    end
  end
  if s.mode == 'write' and s.writer and not (leaves and leaves(s.writer)) then
    local alone = #s.readers + #s.over == 0
    local own = not alone and is_ours(s.writer)
    s.write_left = left_of(own and lease_key(k, s.writer, 1) or k.lock)
  end
  return s
end

-- The lock and what is noted of its readers end then.
local function last_for(k, left)
  redis.call('PEXPIRE', k.lock, ms(left))
  redis.call('PEXPIRE', k.readers, ms(math.min(left, QUEUE_LIFE)))
end

-- As settle, for a hash of readers, without a look at each. `strangers`: some are not in the set.
local function settle_readers(k, changed, strangers)
  local swept = sweep(k)
  local left, certain, removed = longest(k)
  changed = changed or swept or removed
  if (strangers or not left) and redis.call('HLEN', k.lock) > 1 then
    -- When all these were over and there are more, nothing is left of the lock as far as is known: a
    -- writer asks again, and the next ones are looked at.
    local others = sample(k)
    if not others then
      return {mode = false, other_type = true, read_left = -2, write_left = -2}
    end
    left, certain = math.max(left or 0, others), false
  end
  local s = {mode = 'read', read_left = left, write_left = -2}
  if redis.call('HLEN', k.lock) <= 1 then
    redis.call('DEL', k.lock)
    redis.call('UNLINK', k.readers)
    s.mode, s.read_left = false, -2
  elseif left < FOREVER and (changed and certain or left > left_of(k.lock) + PASSES) then
    last_for(k, math.max(left, 1))
  end
  return s
end

-- Removes holds that are over, or leave; the lock then lasts as long as the longest that stays. `changed`:
-- one has left already.
local function settle(k, leaves, changed)
  if not leaves and redis.call('HGET', k.lock, 'mode') == 'read' then
    local strangers = unknown(k) ~= 0
    if not strangers or redis.call('HLEN', k.lock) > STEP + 1 then
      return settle_readers(k, changed, strangers)
    end
  end
  local s = look(k, leaves)
  if not s.mode then
    return s
  end
  for _, reader in ipairs(s.over) do
    redis.call('HDEL', k.lock, reader[1])
    redis.call('ZREM', k.readers, reader[1])
    for n = 1, reader[2] do
      redis.call('DEL', lease_key(k, reader[1], n))
    end
  end
  s.write_ended = s.mode == 'write' and s.write_left < 0
  local beside = #s.over + #s.readers > 0
  if s.writer and beside and (s.write_ended or #s.readers == 0) then
    redis.call('DEL', lease_key(k, s.writer, 1))
  end
  if #s.readers == 0 and s.write_left < 0 then
    redis.call('DEL', k.lock)
    redis.call('UNLINK', k.readers)
    s.mode = false
    return s
  end
  if s.write_ended then
    redis.call('HDEL', k.lock, s.writer or '')
    redis.call('HSET', k.lock, 'mode', 'read')
    s.mode = 'read'
  end
  local left = math.max(s.read_left, s.write_left)
  local change = changed or #s.over > 0 or s.write_ended or left > left_of(k.lock) + PASSES
  if change and left < FOREVER then
    last_for(k, math.max(left, 1))
  end
  return s
end

-- Writes a hold, the first one or one beside others.
local function add_hold(k, mode, hold, lease)
  if redis.call('EXISTS', k.lock) == 0 then
    take(k.lock, lease, 'mode', mode, hold, 1)
  else
    lengthen(k.lock, lease)
    redis.call('HSET', k.lock, hold, 1)
  end
end

-- Writes the lease key of a reader, and returns its life. Never shortened: a re-entry may have asked for more since a
-- late attempt was sent.
local function keep_lease(k, reader, lease)
  local own = lease_key(k, reader, 1)
  local left = left_of(own)
  if left >= tonumber(lease) then
    return left
  end
  redis.call('SET', own, 1, 'PX', lease)
  return tonumber(lease)
end

-- A reader whose lease key lives for `left` enters; `writer` is the write hold of its own thread beside it, or false.
local function enter(k, reader, lease, left, writer)
  if writer and redis.call('HLEN', k.lock) == 2 then
    local left = left_of(k.lock)
    if left >= FOREVER then
      redis.call('SET', lease_key(k, writer, 1), 1)
    else
      redis.call('SET', lease_key(k, writer, 1), 1, 'PX', ms(math.max(left, 1)))
    end
  end
  if note(k, reader, left) then
    sweep(k) -- without a writer nobody else does
  end
  add_hold(k, 'read', reader, lease)
end

-- @include common/rwwaiters

-- Notifies all that a hold has ended: 1 after a write hold, which lets readers in, 0 after the last read
-- hold, which matters to no reader.
local function notify_end(k, s)
  local heard = publish(k.publish, k.channel, s.write_ended and '1' or '0')
  if s.write_ended then
    begin_turn(k)
    heard = heard + notify_readers(k)
  end
  return heard + notify_queue(k, s.mode) + (s.mode and 0 or notify_writer(k))
end

-- Notifies the waiters that the lock will end sooner than they expect.
local function notify_shorter(k, message)
  local heard = publish(k.publish, k.channel, message)
  local head = redis.call('LINDEX', k.queue, 0)
  heard = heard + (head and notify_entry(k, head) or 0) + notify_writer(k)
  return heard + (message == '1' and notify_readers(k) or 0)
end

-- Notifies those that a change concerns; returns how many were notified. Waiters are also notified when
-- none may enter but the lock will end sooner than expected: Redisson's wait for that time, without a trace.
-- A writer beside readers of Redisson is notified because it has to listen to them.
local function notify_change(k, s, whole)
  local sooner = math.max(s.read_left, s.write_left) + PASSES < whole
  if s.write_ended or not s.mode then
    return notify_end(k, s) + (s.mode and sooner and notify_writer(k) or 0)
  end
  if not sooner then
    return held_by_redisson(k) and notify_writer(k) or 0
  end
  return notify_shorter(k, '0')
end

-- Removes those that leave; returns how many were notified, and whether the hash has a field of somebody else's: then
-- nothing was removed.
local function remove_holds(k, leaves)
  local whole = left_of(k.lock)
  local s = settle(k, leaves)
  return notify_change(k, s, whole), s.other_type
end

-- Removes one hold; returns how many were notified.
local function remove_hold(k, hold)
  if is_writer(hold) or redis.call('HGET', k.lock, 'mode') ~= 'read' then
    local heard, foreign = remove_holds(k, function(entry)
      return entry == hold
    end)
    if foreign then
      redis.call('HDEL', k.lock, hold)
      redis.call('DEL', lease_key(k, hold, 1))
    end
    return heard
  end
  local whole = left_of(k.lock)
  redis.call('DEL', lease_key(k, hold, 1))
  remove_readers(k, {hold})
  return notify_change(k, settle(k, nil, true), whole)
end

-- In a batch, a lock whose key has another type does not affect the others; its waiter gets 0, asks
-- again, and gets the error.
local function answer_of(heartbeat, ...)
  local done, answer = pcall(heartbeat, ...)
  return done and answer or 0
end
