-- fair/force: releases the lock, whoever holds it, and wakes the head of the queue; when it is empty, the
-- waiters for a plain lock of that name. The head may be a waiter of the holder's run that has been served: then its
-- client has to notice the loss.
--
-- KEYS[1] the lock, a hash {holder -> count}
-- KEYS[2] the channel of plain locks, and the prefix of the channels of its waiters
-- KEYS[3] the mark that tells a holder of its forced release, with earlier holders; it lives as long as the
--         longest of their leases would have
-- KEYS[4] the queue, a list of holders
-- KEYS[5] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[6] the waiters for a plain lock of that name, a sorted set of holders
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[2] life of the mark in ms when the lock has no TTL
--
-- Answer: 1 when it was held, otherwise 0.
-- Cost: O(1), and O(1) for each dead waiter at the head. Safe to repeat, but a repetition may hit the
-- next holder.
-- @include common/waiters
-- @include common/queue
-- @include common/holder
local first = first_waiter(KEYS[6])
local head = prune(KEYS[4], KEYS[5], now_ms())
redis.call('SET', KEYS[3], table.concat(forced, ' '), 'PX', life)
redis.call('DEL', KEYS[1])
notify_next(ARGV[1], KEYS[2], head, KEYS[6], first)
return 1
