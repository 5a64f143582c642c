-- The readers of ours, in a sorted set with the ends of their leases in epoch ms, so that a script need
-- not look at each of them.
--
-- The set only says where to look. Hash and lease keys decide: a reader holds while it has both, a writer enters
-- when no reader is left in the hash, and each that is removed from it has been looked at. A set that is
-- old, lost or wrong therefore admits nobody and keeps nobody out. Only the life of the hash, when the
-- longest reader leaves, follows the ends in the set.
--
-- A peer removes no reader of ours but with the whole hash. So all members of the set are in the hash, or
-- none is and the set is that of an earlier hash: one of them tells.

-- How many readers one script looks at.
local STEP = 100

-- The fields of a small hash.
local FEW = 10

local function end_of(now, left)
  return left >= FOREVER and FOREVER or now + left
end

-- Corrects the end that the set has for a reader; returns whether that was possible. A server without memory refuses
-- it, unless the script has begun to write, and it is not begun here: that would let a newcomer in.
local function correct_end(k, reader, ends)
  return (pcall(redis.call, 'ZADD', k.readers, ms(ends), reader))
end

-- Whether that member tells that the set is of an earlier hash.
local function is_stale(k, member)
  return member and redis.call('HEXISTS', k.lock, member) == 0
end

-- Removes readers without a lease key from hash and set.
local function remove_readers(k, readers)
  if #readers > 0 then
    redis.call('HDEL', k.lock, unpack(readers))
    redis.call('ZREM', k.readers, unpack(readers))
  end
end

-- How many holds of a hash of readers are not in the set; not 0 if that is of an earlier hash.
local function unknown(k)
  if is_stale(k, redis.call('ZRANGE', k.readers, -1, -1)[1]) then
    redis.call('UNLINK', k.readers)
  end
  return redis.call('HLEN', k.lock) - 1 - redis.call('ZCARD', k.readers)
end

-- Whether a reader in the set holds for longer than that.
local function is_outlasted(k, left)
  local last = redis.call('ZRANGE', k.readers, -1, -1)[1]
  return last and not is_stale(k, last) and left_of(lease_key(k, last, 1)) > left
end

-- Removes the readers whose leases are over, of those that end first; returns whether there were any.
local function sweep(k)
  local now, keys, over = now_ms(), {}, {}
  local first = redis.call('ZRANGE', k.readers, 0, 0, 'WITHSCORES')[2]
  if not first or tonumber(first) > now then
    return false
  end
  local scored = redis.call('ZRANGE', k.readers, 0, STEP - 1, 'WITHSCORES')
  for i = 1, #scored, 2 do
    if tonumber(scored[i + 1]) <= now then
      over[#over + 1] = scored[i]
      keys[#keys + 1] = lease_key(k, scored[i], 1)
    end
  end
  if redis.call('EXISTS', unpack(keys)) > 0 then
    local ended = {}
    for i, reader in ipairs(over) do
      local left = left_of(keys[i])
      if left < 0 then
        ended[#ended + 1] = reader
      else
        correct_end(k, reader, end_of(now, left))
      end
    end
    over = ended
  end
  remove_readers(k, over)
  return #over > 0
end

-- Notes a reader that enters, before the hash has it, or one that holds and goes on; returns whether the set has one
-- whose lease is over.
local function note(k, reader, left)
  local now, life = now_ms(), left
  local first_end = redis.call('ZRANGE', k.readers, 0, 0, 'WITHSCORES')
  local known = first_end[1]
  if is_stale(k, known) then
    redis.call('UNLINK', k.readers)
    known = nil
  end
  if not known and redis.call('HLEN', k.lock) == 2 then
    -- One that was alone until now: its script has not noted it.
    for _, first in ipairs(redis.call('HKEYS', k.lock)) do
      local its = is_ours(first) and not is_writer(first) and left_of(lease_key(k, first, 1)) or -2
      if its >= 0 then
        redis.call('ZADD', k.readers, ms(end_of(now, its)), first)
        life = math.max(life, its)
      end
    end
  end
  redis.call('ZADD', k.readers, ms(end_of(now, left)), reader)
  keep_for(k.readers, ms(math.min(life, QUEUE_LIFE)))
  return known and tonumber(first_end[2]) <= now
end

-- The longest lease in the set, nil when none was found; whether no other in the set can be longer; and whether
-- it has removed readers on the way. Its lease key corrects the end that the set has for a reader.
local function longest(k)
  local now, seen, removed = now_ms(), nil, false
  for _ = 1, STEP do
    local last = redis.call('ZRANGE', k.readers, -1, -1, 'WITHSCORES')
    if not last[1] then
      return nil, true, removed
    end
    local left = left_of(lease_key(k, last[1], 1))
    if left < 0 or is_stale(k, last[1]) then
      remove_readers(k, {last[1]})
      removed = true
    elseif math.abs(end_of(now, left) - tonumber(last[2])) <= PASSES then
      return left, true, removed
    else
      seen = math.max(seen or left, left)
      if not correct_end(k, last[1], end_of(now, left)) then
        break
      end
    end
  end
  return seen, false, removed
end

-- Whether a hash with few fields is somebody else's. One with many is not looked at: a reader that enters changes
-- nothing that is there, and the end of its hold looks.
local function is_foreign(k)
  if redis.call('HLEN', k.lock) > FEW then
    return false
  end
  local all = redis.call('HGETALL', k.lock)
  for i = 1, #all, 2 do
    if all[i] ~= 'mode' and not count_of(all[i + 1]) then
      return true
    end
  end
  return false
end

-- Looks at some readers of the hash, whoever they are, and removes those whose leases are over; returns
-- the longest lease of the others, -2 when there are none. When one of them is no hold, the hash is
-- somebody else's: then it removes nothing, and returns nil.
local function sample(k)
  local left, over = -2, {}
  local some = redis.call('HRANDFIELD', k.lock, STEP, 'WITHVALUES')
  for i = 1, #some, 2 do
    if some[i] ~= 'mode' then
      local count = count_of(some[i + 1])
      if not count then
        return nil
      end
      local its = is_writer(some[i]) and -2 or reader_left(k, some[i], count)
      if its < 0 then
        over[#over + 1] = some[i]
      end
      left = math.max(left, its)
    end
  end
  remove_readers(k, over)
  return left
end

-- The longest lease in a hash of readers that are too many to look at each; nil when the set does not
-- tell. Writes nothing.
local function longest_of_many(k)
  local count = redis.call('HLEN', k.lock) - 1
  local last = redis.call('ZRANGE', k.readers, -STEP, -1)
  if count <= STEP or redis.call('HGET', k.lock, 'mode') ~= 'read'
      or count ~= redis.call('ZCARD', k.readers) or is_stale(k, last[#last]) then
    return nil
  end
  local left = -2
  for _, reader in ipairs(last) do
    left = math.max(left, left_of(lease_key(k, reader, 1)))
  end
  return left >= 0 and left or nil
end
