-- The read-write lock: who holds it, who is let in when a hold ends, and who is told.
--
-- A reader is called by its holder, a writer `<holder>:write`; so in the hash, in the queue, in the names of
-- keys and channels. Every reader has a key for each of its counts that lives as long as its lease. A
-- writer of ours has one while readers stand beside it, because then the life of the hash is not its own.
-- @include common/lease
-- @include common/locktype
-- @include common/publish
-- @include common/queue

-- More than any time.
local FOREVER = 2 ^ 53

-- After a write hold, writers wait for the readers that waited, but not for longer than that, ms.
local TURN = 500

-- More than what passes within a script, ms: two times that differ by less are the same.
local PASSES = 20

-- So many of the queue are looked at for readers that stand before the first writer.
local WINDOW = 32

local function is_writer(entry)
  return string.sub(entry, -6) == ':write'
end

local function lease_key(k, entry, count)
  return k.prefix .. ':' .. entry .. ':rwlock_timeout:' .. count
end

-- What is left of a key, ms; negative when it is not there.
local function left_of(key)
  local left = redis.call('PTTL', key)
  return left == -1 and FOREVER or left
end

-- A time after which it makes sense to ask again, as scripts answer it.
local function ask_after(left)
  return left >= FOREVER and -1 or math.max(left, 1)
end

local function reader_left(k, reader, count)
  local left = -2
  for n = 1, count do
    left = math.max(left, left_of(lease_key(k, reader, n)))
  end
  return left
end

-- Fails when one of the keys is in use as something else. Called before anything is written: what a
-- script has written stays when it fails later.
local function check(k)
  redis.call('HLEN', k.lock)
  if redis.call('EXISTS', k.intent, k.waiters, k.turn, k.queue, k.deadlines) > 0 then
    redis.call('GET', k.intent)
    redis.call('ZCARD', k.waiters)
    redis.call('ZCARD', k.turn)
    redis.call('LLEN', k.queue)
    redis.call('ZCARD', k.deadlines)
  end
end

-- Who holds the lock. Whoever `leaves` is said of does not count any more. Writes nothing.
local function look(k, leaves)
  local s = {mode = false, readers = {}, over = {}, read_left = -2, write_left = -2}
  local all = redis.call('HGETALL', k.lock)
  for i = 1, #all, 2 do
    local entry, value = all[i], all[i + 1]
    if entry == 'mode' then
      s.mode = value
    elseif is_writer(entry) then
      s.writer = entry
    else
      local count = tonumber(value) or 1
      local left = leaves and leaves(entry) and -2 or reader_left(k, entry, count)
      if left < 0 then
        s.over[#s.over + 1] = {entry, count}
      else
        s.readers[#s.readers + 1] = entry
        s.read_left = math.max(s.read_left, left)
      end
    end
  end
  s.other_type = #all > 0 and not s.mode
  if s.mode == 'write' and s.writer and not (leaves and leaves(s.writer)) then
    local alone = #s.readers + #s.over == 0
    local own = not alone and is_ours(s.writer)
    s.write_left = left_of(own and lease_key(k, s.writer, 1) or k.lock)
  end
  return s
end

-- Takes out who is over, or leaves, and lets the lock last as long as the longest that stays.
local function settle(k, leaves)
  local s = look(k, leaves)
  if not s.mode then
    return s
  end
  for _, reader in ipairs(s.over) do
    redis.call('HDEL', k.lock, reader[1])
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
    s.mode = false
    return s
  end
  if s.write_ended then
    redis.call('HDEL', k.lock, s.writer or '')
    redis.call('HSET', k.lock, 'mode', 'read')
    s.mode = 'read'
  end
  local left = math.max(s.read_left, s.write_left)
  local change = #s.over > 0 or s.write_ended or left > left_of(k.lock) + PASSES
  if change and left < FOREVER then
    redis.call('PEXPIRE', k.lock, math.max(left, 1))
  end
  return s
end

-- Writes a hold, the first one or one beside others.
local function come_in(k, mode, hold, lease)
  if redis.call('EXISTS', k.lock) == 0 then
    take(k.lock, lease, 'mode', mode, hold, 1)
  else
    lengthen(k.lock, lease)
    redis.call('HSET', k.lock, hold, 1)
  end
end

-- A reader comes in; `writer` is the write hold of its own thread that it stands beside, or false.
local function enter(k, reader, lease, writer)
  if writer and redis.call('HLEN', k.lock) == 2 then
    local left = left_of(k.lock)
    if left >= FOREVER then
      redis.call('SET', lease_key(k, writer, 1), 1)
    else
      redis.call('SET', lease_key(k, writer, 1), 1, 'PX', math.max(left, 1))
    end
  end
  -- Never shortened: an attempt that comes late may know of less than a re-entry has asked for since.
  local own = lease_key(k, reader, 1)
  if left_of(own) < tonumber(lease) then
    redis.call('SET', own, 1, 'PX', lease)
  end
  come_in(k, 'read', reader, lease)
end

-- ---- those who wait

-- A key that stands beside the lock ends, and lasts at least so long from now.
local function keep_for(key, life)
  if redis.call('PTTL', key) < tonumber(life) then
    redis.call('PEXPIRE', key, life)
  end
end

-- A reader waits, or waits on.
local function wait(waiters, reader, life)
  redis.call('ZADD', waiters, ms(now_ms() + life), reader)
  keep_for(waiters, life)
end

-- The readers that wait may come in, whatever a writer intends.
local function begin_turn(k)
  if redis.call('EXISTS', k.waiters) == 0 then
    return
  end
  redis.call('ZREMRANGEBYSCORE', k.waiters, '-inf', ms(now_ms()))
  if redis.call('EXISTS', k.waiters) == 1 then
    redis.call('ZUNIONSTORE', k.turn, 2, k.turn, k.waiters, 'AGGREGATE', 'MAX')
    redis.call('PEXPIRE', k.turn, TURN)
    redis.call('DEL', k.waiters)
  end
end

local function call_entry(k, entry)
  return publish(k.publish, k.channel .. ':' .. entry, '0')
end

-- Whether no writer stands before that reader in the queue, as far as is looked.
local function before_writers(k, reader)
  local first = redis.call('LRANGE', k.queue, 0, WINDOW - 1)
  for _, entry in ipairs(first) do
    if entry == reader then
      return true
    elseif is_writer(entry) then
      return false
    end
  end
  return #first < WINDOW
end

-- Takes a reader out of the queue that stands near its head.
local function step_ahead(k, reader)
  if redis.call('LREM', k.queue, 1, reader) == 1 then
    redis.call('ZREM', k.deadlines, reader)
  end
end

-- Those at the head of the queue who may come in now: one writer, or neighbouring readers.
local function first_in_queue(k, head, mode)
  if not head or mode == 'write' then
    return {}
  elseif is_writer(head) then
    return mode and {} or {head}
  end
  local readers = {}
  for _, entry in ipairs(redis.call('LRANGE', k.queue, 0, WINDOW - 1)) do
    if is_writer(entry) then
      break
    end
    readers[#readers + 1] = entry
  end
  return readers
end

-- Calls them; gives how many heard it.
local function call_queue(k, mode)
  if mode == 'write' or redis.call('EXISTS', k.queue) == 0 then
    return 0
  end
  local heard = 0
  for _, entry in ipairs(first_in_queue(k, prune(k.queue, k.deadlines, now_ms()), mode)) do
    heard = heard + call_entry(k, entry)
  end
  return heard
end

-- Tells everybody that a hold has ended: 1 after a write hold, which lets readers in, 0 after the last
-- read hold.
local function tell(k, s)
  if s.write_ended then
    begin_turn(k)
  end
  local heard = publish(k.publish, k.channel, s.write_ended and '1' or '0')
  return heard + call_queue(k, s.mode)
end

-- Whoever `leaves` is said of gives up; gives how many heard of it. Who waits is told, and asks again,
-- also when nobody is let in but the lock will end sooner than it looked: Redisson's wait for that time,
-- and show nowhere that they do.
local function give_up(k, leaves)
  local whole = left_of(k.lock)
  local s = settle(k, leaves)
  if s.write_ended or not s.mode then
    return tell(k, s)
  end
  if math.max(s.read_left, s.write_left) >= whole then
    return 0
  end
  local heard = publish(k.publish, k.channel, '0')
  local head = redis.call('LINDEX', k.queue, 0)
  return heard + (head and call_entry(k, head) or 0)
end

-- Whoever stands in a batch beside a lock whose key has become something else is not kept from its own
-- answer; the one concerned hears 0, asks again, and is told what is wrong.
local function answer_of(sign, ...)
  local done, answer = pcall(sign, ...)
  return done and answer or 0
end
