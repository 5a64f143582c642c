-- lock/force: releases the lock, whoever holds it, and wakes its waiters.
--
-- KEYS[1] the lock, a hash {holder -> count}
-- KEYS[2] the channel of the lock
-- KEYS[3] the mark that tells the holder of the forced release; it lives as long as the
--         lease would have
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[2] life of the mark in ms when the lock has no TTL
--
-- Answer: 1 when it was held, otherwise 0.
-- Cost: O(1) and the PUBLISH. Safe to repeat, but a repetition may hit the next holder.
-- @include common/locktype
-- @include common/publish
if redis.call('HEXISTS', KEYS[1], 'mode') == 1 then
  return refuse('read-write lock')
end
local holder = redis.call('HKEYS', KEYS[1])[1]
if not holder then
  return 0
end
local life = redis.call('PTTL', KEYS[1])
if life <= 0 then
  life = ARGV[2]
end
redis.call('GET', KEYS[3]) -- fails on another type, SET would not
redis.call('SET', KEYS[3], holder, 'PX', life)
redis.call('DEL', KEYS[1])
publish(ARGV[1], KEYS[2], '0')
return 1
