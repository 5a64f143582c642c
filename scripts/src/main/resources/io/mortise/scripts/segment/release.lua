-- segment/release: releases a segment, and tells who may enter: the waiters of that segment, and the first of those
-- that would take any.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
-- KEYS[4] prefix of the channels of the waiters for any segment; no key has this name, so Redis Cluster refuses the
--         script while the slot moves: the segments, whose keys are derived, may be on two servers then
-- ARGV[1] the name of the group with its hash tag
-- ARGV[2] the number of segments
-- ARGV[3] the segment; -1 for the one that the holder has, and for a place in the queue that a late attempt may
--         have left
-- ARGV[4] holder
-- ARGV[5] the rest of a minimum, for which the segment stays busy under a holder that no client has, ms; 0 for
--         none
-- ARGV[6] the channel of plain locks
-- ARGV[7] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, notified subscribers, 1 if one of those that wait for the segment was notified} when released; {2, 0}
-- when it was released by force; {3, 0} when this holder only waited for the segment; otherwise {0, 0}.
-- Cost: O(1) for a given segment while nobody waits for any; otherwise O(segments), and for dead waiters as
-- segment/acquire_any. Safe to repeat: it releases only the given acquisition.
-- @include common/lease
-- @include common/segments
local k = {
  queue = KEYS[1], deadlines = KEYS[2], exhausted = KEYS[3], group = ARGV[1], count = tonumber(ARGV[2]),
  plain = ARGV[6], channel = KEYS[4], command = ARGV[7]
}
local given, holder = tonumber(ARGV[3]), ARGV[4]
local first, last, find = given, given, held_segment
if given < 0 then
  first, last, find = 0, k.count - 1, segment_to_release
end
check_group(k.queue, k.deadlines, k.exhausted)
local held = find(k.group, first, last, holder)
if held then
  local rest = tonumber(ARGV[5])
  local heard, notified = release_segment(k, held, holder, rest)
  tell_waiters(k, rest)
  return {1, heard, notified}
end
-- @include common/forced
local outcome = 0
for i = first, last do
  if was_forced('mortise_forced:' .. segment_key(k.group, i), holder) then
    outcome = 2
  end
end
if given >= 0 and leave_segment(k, given, holder) then
  outcome = outcome == 2 and 2 or 3
elseif given < 0 and remove_waiter(k.queue, k.deadlines, holder) then
  tell_waiters(k)
end
return {outcome, 0}
