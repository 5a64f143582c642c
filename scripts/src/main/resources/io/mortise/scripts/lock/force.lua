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
-- @include common/publish
-- @include common/holder
redis.call('SET', KEYS[3], holder, 'PX', life)
redis.call('DEL', KEYS[1])
publish(ARGV[1], KEYS[2], '0')
return 1
