-- lock/describe: who holds a lock of any family, and who waits for it.
--
-- KEYS[1] the lock, a hash
-- ARGV[1] its name with a hash tag. The other keys are derived from it, and are in the same slot: a user
--         who may not use one of them would otherwise be refused the whole
-- ARGV[2] the largest number of holds, and of waiters of each kind
--
-- Answer: {server time in us, mode or '', token or '', 1 when all was read, {hold, count, ms, ...},
-- length of the queue, {waiter, ms, ...} in the queue, then those that wait for a plain lock, {reader, ms, ...}
-- whose turn it is, {writer, ms, ...} that wait, {reader, ms, ...} that wait}: a hold has its count, -1 when its
-- value is none, and its remaining lease, -1 without an end; a waiter has the time for which it keeps its place,
-- below 0 when that is over.
-- Cost: O(holders + waiters), of each at most the largest number. Writes nothing.
-- @include common/rw
local lock, limit = KEYS[1], tonumber(ARGV[2])
local k = {lock = lock, prefix = ARGV[1]}
local readable = 1

-- The result of f, or nil when the user may not read what it needs.
local function attempt(f, ...)
  local done, answer = pcall(f, ...)
  if not done then
    readable = 0
    return nil
  end
  return answer
end

local function key(prefix)
  return prefix .. ':' .. ARGV[1]
end

-- The hash may be somebody else's, with any number of fields: of a large one only a part is read.
local fields = redis.call('HLEN', lock)
local large = fields > limit + 1
local all
if large then
  readable = 0
  all = redis.call('HSCAN', lock, '0', 'COUNT', limit)[2]
else
  all = redis.call('HGETALL', lock)
end
local whole = left_of(lock)
local time = redis.call('TIME')
local now = now_ms()

local mode = large and attempt(redis.call, 'HGET', lock, 'mode') or ''
for i = 1, #all, 2 do
  if all[i] == 'mode' then
    mode = all[i + 1]
  end
end
local count = mode == '' and fields or fields - 1

-- As common/rw reads them; in a plain or fair lock, and in a hash of somebody else, every hold lasts as long
-- as the hash.
local function lease_of(entry, levels)
  if levels < 0 or mode ~= 'read' and mode ~= 'write' then
    return whole
  elseif not is_writer(entry) then
    return attempt(reader_left, k, entry, math.min(levels, limit)) or whole
  elseif mode == 'read' then
    return -2
  elseif count > 1 and is_ours(entry) then
    return attempt(left_of, lease_key(k, entry, 1)) or whole
  end
  return whole
end

local holds = {}
for i = 1, #all, 2 do
  if #holds >= 3 * limit then
    readable = 0
    break
  elseif all[i] ~= 'mode' then
    local levels = count_of(all[i + 1]) and tonumber(all[i + 1]) or -1
    local left = lease_of(all[i], levels)
    if left >= 0 then
      holds[#holds + 1] = all[i]
      holds[#holds + 1] = levels
      holds[#holds + 1] = left >= FOREVER and -1 or left
    end
  end
end

local function place(waiters, entry, deadline)
  waiters[#waiters + 1] = entry
  waiters[#waiters + 1] = math.floor((tonumber(deadline or '') or 0) - now)
end

local queue, deadlines = key('redisson_lock_queue'), key('redisson_lock_timeout')
local queued = {}
for _, entry in ipairs(attempt(redis.call, 'LRANGE', queue, 0, limit - 1) or {}) do
  place(queued, entry, attempt(redis.call, 'ZSCORE', deadlines, entry))
end

local function readers(set)
  local waiters = {}
  local scored = attempt(redis.call, 'ZRANGE', set, 0, limit - 1, 'WITHSCORES') or {}
  for i = 1, #scored, 2 do
    place(waiters, scored[i], scored[i + 1])
  end
  return waiters
end

-- Adds those that are registered, in the order in which they joined.
local function registered(set, waiters)
  local scored, joined = attempt(redis.call, 'ZRANGE', set, 0, limit - 1, 'WITHSCORES') or {}, {}
  for i = 1, #scored, 2 do
    joined[#joined + 1] = {scored[i], tonumber(scored[i + 1]) % NOTIFIED}
  end
  table.sort(joined, function(one, other)
    return one[2] < other[2]
  end)
  local left = #joined > 0 and redis.call('PTTL', set)
  for _, waiter in ipairs(joined) do
    waiters[#waiters + 1] = waiter[1]
    waiters[#waiters + 1] = left
  end
  return waiters
end

-- Of writers of an earlier version only the one with the intent is known.
local writers = registered(key('mortise_write_waiters'), {})
local intent = attempt(redis.call, 'GET', key('mortise_write_intent'))
if intent and #writers == 0 then
  writers = {intent, attempt(redis.call, 'PTTL', key('mortise_write_intent')) or 0}
end

local token = attempt(redis.call, 'GET', key('redisson_lock_token')) or ''
local length = attempt(redis.call, 'LLEN', queue) or 0
local turn, waiting = readers(key('mortise_read_turn')), readers(key('mortise_read_waiters'))
registered(key('mortise_waiters'), queued)
return {time[1] * 1000000 + time[2], mode, token, readable, holds, length, queued, turn, writers, waiting}
