-- rw/force: releases the holds of all readers, or of the writer, and wakes the waiters that may enter.
--
-- @include common/rwkeys
-- KEYS[10] the holds that were released by force, a set that tells their holders; it lives as long as
--         the longest would have lasted
-- ARGV[1] read or write: whose holds are released
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] life of the marks in ms when the lock has no TTL
--
-- Answer: 1 when there was such a hold, otherwise 0.
-- Cost: O(readers), of which each gets a mark. Safe to repeat, but a repetition may hit the next holders.
-- @include common/rw
local from_writer = ARGV[1] == 'write'
k.publish = ARGV[2]
check(k)
local s = look(k)
if s.other_type then
  return refuse('lock without readers')
end
local holds = from_writer and {s.write_left >= 0 and s.writer or nil} or s.readers
if #holds == 0 then
  return 0
end
redis.call('SISMEMBER', KEYS[10], '') -- fails on another type
local life = redis.call('PTTL', k.lock)
life = life > 0 and life or tonumber(ARGV[3])
-- A server without memory lets a script go on that has begun to write: so it does not refuse the marks.
redis.call('PEXPIRE', KEYS[10], ms(math.max(redis.call('PTTL', KEYS[10]), life)))
for _, hold in ipairs(holds) do
  redis.call('SADD', KEYS[10], hold)
end
keep_for(KEYS[10], ms(life))
remove_holds(k, function(entry)
  return is_writer(entry) == from_writer
end)
-- The turn of the readers may have been for the rest of a minimum that was forced.
if left_of(k.turn) > TURN then
  redis.call('PEXPIRE', k.turn, TURN)
end
return 1
