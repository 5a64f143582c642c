-- segment/leave: removes whatever an acquisition of any segment has: its place in the queue, or a segment.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
-- KEYS[4] prefix of the channels of the waiters for any segment; no key has this name, so Redis Cluster refuses the
--         script while the slot moves: the segments, whose keys are derived, may be on two servers then
-- ARGV[1] the name of the group with its hash tag
-- ARGV[2] the number of segments
-- ARGV[3] holder
-- ARGV[4] the channel of plain locks
-- ARGV[5] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, notified subscribers} when it had one of them; otherwise {0, 0}.
-- Cost: O(segments), and O(queue) for a waiter behind the head. Safe to repeat: it names one acquisition.
-- @include common/lease
-- @include common/segments
local k = {
  queue = KEYS[1], deadlines = KEYS[2], exhausted = KEYS[3], group = ARGV[1], count = tonumber(ARGV[2]),
  plain = ARGV[4], channel = KEYS[4], command = ARGV[5]
}
check_group(k.queue, k.deadlines, k.exhausted)
local held = segment_to_release(k.group, 0, k.count - 1, ARGV[3])
local heard = held and release_segment(k, held, ARGV[3], 0) or 0
local queued = remove_waiter(k.queue, k.deadlines, ARGV[3])
if not held and not queued then
  return {0, 0}
end
tell_waiters(k)
return {1, heard}
