-- segment/force: releases a segment, whoever holds it, and tells who may enter.
--
-- KEYS[1] the segment, a hash {holder -> count}
-- KEYS[2] its channel
-- KEYS[3] the mark that tells a holder of its forced release, with earlier holders; it lives as long as the
--         longest of their leases would have
-- KEYS[4] the queue, a list of holders
-- KEYS[5] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[6] the exhausted segments, a set of indices
-- KEYS[7] prefix of the channels of the waiters for any segment; no key has this name, so Redis Cluster refuses the
--         script while the slot moves: the segments, whose keys are derived, may be on two servers then
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[2] life of the mark in ms when the segment has no TTL
-- ARGV[3] the name of the group with its hash tag
-- ARGV[4] the number of segments
--
-- Answer: 1 when it was held, otherwise 0.
-- Cost: O(1) while nobody waits for any segment; otherwise O(segments). Safe to repeat, but a repetition may hit the
-- next holder.
-- @include common/segments
-- @include common/holder
local k = {
  queue = KEYS[4], deadlines = KEYS[5], exhausted = KEYS[6], group = ARGV[3], count = tonumber(ARGV[4]),
  channel = KEYS[7], command = ARGV[1]
}
check_group(k.queue, k.deadlines, k.exhausted)
local first = first_waiter(waiters_key(KEYS[1]))
redis.call('SET', KEYS[3], table.concat(forced, ' '), 'PX', life)
redis.call('DEL', KEYS[1])
notify_waiters(k.command, KEYS[2], waiters_key(KEYS[1]), first)
tell_waiters(k)
return 1
