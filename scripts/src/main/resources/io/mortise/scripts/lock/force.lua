-- lock/force: releases the lock, whoever holds it, and notifies those that wait for it.
--
-- KEYS[1] the lock, a hash {holder -> count}
-- KEYS[2] the channel of the lock, and the prefix of the channels of clients
-- KEYS[3] the mark that tells a holder of its forced release, with earlier holders; it lives as long as the
--         longest of their leases would have
-- KEYS[4] its waiters, a sorted set of holders
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[2] life of the mark in ms when the lock has no TTL
--
-- Answer: 1 when it was held, otherwise 0.
-- Cost: O(log waiters), and the PUBLISH. Safe to repeat, but a repetition may hit the next holder.
-- @include common/waiters
-- @include common/holder
local first = first_waiter(KEYS[4])
redis.call('SET', KEYS[3], table.concat(forced, ' '), 'PX', life)
redis.call('DEL', KEYS[1])
notify_waiters(ARGV[1], KEYS[2], KEYS[4], first)
return 1
