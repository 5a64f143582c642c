-- segment/mark: marks a segment as exhausted, so that nobody who would take any asks for it; or removes marks.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
-- KEYS[4] prefix of the channels of the waiters for any segment; no key has this name, so Redis Cluster refuses the
--         script while the slot moves: the segments, whose keys are derived, may be on two servers then
-- ARGV[1] the name of the group with its hash tag
-- ARGV[2] the number of segments
-- ARGV[3] the segment; -1 for all, which only reset may name
-- ARGV[4] exhausted, or reset
-- ARGV[5] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: the number of exhausted segments now.
-- Cost: O(segments); O(queue) when the last one is exhausted, because all waiters are told. Safe to repeat.
-- @include common/segments
local k = {
  queue = KEYS[1], deadlines = KEYS[2], exhausted = KEYS[3], group = ARGV[1], count = tonumber(ARGV[2]),
  channel = KEYS[4], command = ARGV[5]
}
check_group(k.queue, k.deadlines, k.exhausted)
if ARGV[4] == 'exhausted' then
  redis.call('SADD', k.exhausted, ARGV[3])
elseif ARGV[3] == '-1' then
  redis.call('DEL', k.exhausted)
else
  redis.call('SREM', k.exhausted, ARGV[3])
end
local _, _, open = open_segments(k.group, k.count, k.exhausted, 0)
if open == 0 then
  tell_next(k, redis.call('LLEN', k.queue))
elseif ARGV[4] == 'reset' then
  tell_waiters(k)
end
return k.count - open
