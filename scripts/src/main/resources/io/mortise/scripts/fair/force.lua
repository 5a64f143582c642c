-- fair/force: releases the lock, whoever holds it, and wakes the head of the queue; when it is empty, the
-- waiters for a plain lock of that name.
--
-- KEYS[1] the lock, a hash {holder -> count}
-- KEYS[2] the channel of plain locks, and the prefix of the channels of its waiters
-- KEYS[3] the mark that tells the holder of the forced release; it lives as long as the
--         lease would have
-- KEYS[4] the queue, a list of holders
-- KEYS[5] the deadlines of queued waiters, a sorted set, epoch ms
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[2] life of the mark in ms when the lock has no TTL
--
-- Answer: 1 when it was held, otherwise 0.
-- Cost: O(1), and O(1) for each dead waiter at the head. Safe to repeat, but a repetition may hit the
-- next holder.
-- @include common/publish
-- @include common/queue
-- @include common/holder
local head = prune(KEYS[4], KEYS[5], now_ms())
redis.call('SET', KEYS[3], holder, 'PX', life)
redis.call('DEL', KEYS[1])
publish(ARGV[1], channel_of_next(KEYS[2], head), '0')
return 1
