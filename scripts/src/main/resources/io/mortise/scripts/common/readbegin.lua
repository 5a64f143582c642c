-- Acquires a lock for reading that is `free`; otherwise reads its state, and ends what is over. `admitted`
-- are a reader below the write hold of its own thread, and one that holds the lock already.
local reader, writer, life = ARGV[1], ARGV[4], tonumber(ARGV[5])
-- No holder and no waiters: the functions below are not needed, and making them takes time.
if free then
  -- The lease key comes before the token: a server without memory refuses it, and alone it is no hold.
  local last = known_token(KEYS[10])
  redis.call('SET', k.prefix .. ':' .. reader .. ':rwlock_timeout:1', '1', 'PX', ARGV[2])
  local token = shared_token(KEYS[10], last, ARGV[6])
  take(k.lock, ARGV[2], 'mode', 'read', reader, '1')
  return {1, token, last or 0}
end
-- @include common/rw
k.publish = ARGV[3]
check(k)
local last = known_token(KEYS[10]) -- An error of its type comes before anything is written.
local mode = redis.call('HGET', k.lock, 'mode')
local other_type = mode ~= 'read' and mode ~= 'write' and redis.call('EXISTS', k.lock) == 1
if other_type or mode == 'read' and is_foreign(k) then
  return refuse('lock without readers')
end
local nested = writer ~= '' and mode == 'write' and redis.call('HEXISTS', k.lock, writer) == 1
local again = redis.call('HEXISTS', k.lock, reader) == 1
local admitted = nested or again
local left = 1
if not admitted and mode == 'write' then
  local s = settle(k)
  if s.other_type then
    return refuse('lock without readers')
  end
  if s.write_ended then
    notify_end(k, s)
  end
  mode, left = s.mode, s.write_left
end

-- The token of the reader. One below its own write hold has that hold's token. Nobody gets those that were reserved for
-- hand-offs of that hold any more, so they are given back: the readers that come beside this one have no larger token.
-- When none is known any more, nobody has had one since.
local function reader_token()
  if not nested then
    return shared_token(KEYS[10], last, ARGV[6])
  end
  local token = tonumber(ARGV[7])
  if not last or last == tonumber(ARGV[8]) then
    store_token(KEYS[10], token, ARGV[6], clock_micros())
  else
    lengthen(KEYS[10], ARGV[6])
  end
  return token
end

-- Enters, and returns the token. The lease key comes first, as above. One that holds the lock already takes no memory.
local function enter_with_token()
  if again then
    begin_to_write(k.readers)
  end
  local its = keep_lease(k, reader, ARGV[2])
  local token = reader_token()
  enter(k, reader, ARGV[2], its, nested and writer)
  return token
end
