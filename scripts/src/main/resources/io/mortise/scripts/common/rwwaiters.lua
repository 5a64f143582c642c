-- Those that wait for a read-write lock: readers, whose turn it may be, and the queue of a fair lock.

-- How long after a write hold writers wait for the readers that waited, ms.
local TURN = 500

-- The length of the queue that is searched for readers ahead of the first writer.
local WINDOW = 32

-- A reader waits, or goes on waiting.
local function wait(waiters, reader, life)
  if redis.call('ZSCORE', waiters, reader) then
    begin_to_write(waiters)
  end
  redis.call('ZADD', waiters, ms(now_ms() + life), reader)
  keep_for(waiters, life)
end

-- The waiting readers may enter, whatever a writer intends.
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

-- The rest of the turn of the readers, ms; negative when there is none. One without an end, as PERSIST leaves it, gets
-- one.
local function turn_left(k)
  local left = left_of(k.turn)
  if left >= FOREVER then
    redis.call('PEXPIRE', k.turn, TURN)
    return TURN
  end
  return left
end

-- The rest of the intent of a writer, ms; negative when there is none. One without an end, as PERSIST leaves it, gets
-- that of a waiter; `life` is 0 for one that does not wait.
local function intent_left(k, life)
  local left = left_of(k.intent)
  if left >= FOREVER and life > 0 then
    redis.call('PEXPIRE', k.intent, life)
    return life
  end
  return left
end

-- Notifies all readers that wait, if any, on a channel that writers do not hear; returns how many were notified.
local function notify_readers(k)
  if redis.call('EXISTS', k.waiters, k.turn) == 0 then
    return 0
  end
  return publish(k.publish, k.channel .. ':readers', '1')
end

-- Joins the queue, or keeps its place in it. None of Redisson's waits here, so no deadline depends on another.
local function join(k, entry, now, life)
  local deadline = deadline_of(k.deadlines, entry)
  if not deadline then
    redis.call('RPUSH', k.queue, entry)
    redis.call('ZADD', k.deadlines, ms(now + life), entry)
    keep(k.queue, k.deadlines)
  elseif deadline < now + life then
    extend(k.queue, k.deadlines, entry, now + life)
  else
    keep(k.queue, k.deadlines)
  end
end

local function notify_entry(k, entry)
  return publish(k.publish, k.channel .. ':' .. entry, '0')
end

-- Whether no writer is ahead of that reader in the searched part of the queue.
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

-- Removes a reader near the head from the queue.
local function remove_reader(k, reader)
  if redis.call('LREM', k.queue, 1, reader) == 1 then
    redis.call('ZREM', k.deadlines, reader)
  end
end

-- The waiters at the head that may enter now: one writer, or adjacent readers.
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

-- Notifies them; returns how many were notified.
local function notify_queue(k, mode)
  if mode == 'write' or redis.call('EXISTS', k.queue) == 0 then
    return 0
  end
  local heard = 0
  for _, entry in ipairs(first_in_queue(k, prune(k.queue, k.deadlines, now_ms()), mode)) do
    heard = heard + notify_entry(k, entry)
  end
  return heard
end
