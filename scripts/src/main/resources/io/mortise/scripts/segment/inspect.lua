-- segment/inspect: returns whether all segments are held, and until when.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
-- ARGV[1] the name of the group with its hash tag
-- ARGV[2] the number of segments
--
-- Answer: the shortest remaining lease in ms, of the segments that are not exhausted; -1 when they are held for
-- ever, -2 when one is not held.
-- Cost: O(segments). Writes nothing.
-- @include common/segments
check_group(KEYS[1], KEYS[2], KEYS[3])
local free, ends = open_segments(ARGV[1], tonumber(ARGV[2]), KEYS[3], 0)
return #free > 0 and -2 or ends[1] or -1
