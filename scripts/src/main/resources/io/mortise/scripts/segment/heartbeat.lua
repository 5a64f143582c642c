-- segment/heartbeat: the heartbeat of those that wait for any segment; it also advances the queue when a waiter
-- before them died.
--
-- EACH waiter has
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
-- ARGV[1] the name of the group with its hash tag
-- ARGV[2] the number of segments
-- ARGV[3] holder
-- ARGV[4] how long a place is kept without a heartbeat, ms
--
-- Answer: for each waiter 1 to go on waiting; 0 when it has lost its place, 2 when it may enter, or all
-- segments are exhausted: then it should ask again.
-- Cost: O(waiters + segments) while no segment is free, O(waiters * segments) otherwise; O(queue) for each of at most
-- 100 dead waiters behind the head. Safe to repeat. A queue whose key has another type does not affect the others.
-- @include common/segments
local now = now_ms()

-- The free segments of each group, and the number of those that are not exhausted: read once for all its waiters.
local known = {}
local function segments_of(group, count, exhausted)
  local of = exhausted .. ' ' .. count
  if not known[of] then
    local free, _, open = open_segments(group, count, exhausted, 0)
    known[of] = {free = #free, open = open}
  end
  return known[of].free, known[of].open
end

local function heartbeat(queue, deadlines, exhausted, holder, life)
  check_group(queue, deadlines, exhausted)
  if not deadline_of(deadlines, holder) then
    return 0
  end
  extend(queue, deadlines, holder, now + life)
  return 1
end

-- What a waiter with a place does next.
local function next_step(queue, deadlines, exhausted, group, count, holder)
  remove_dead(queue, deadlines, now)
  local free, open = segments_of(group, count, exhausted)
  if open == 0 then
    return 2
  elseif free > 0 then
    for _, waiter in ipairs(redis.call('LRANGE', queue, 0, free - 1)) do
      if waiter == holder then
        return 2
      end
    end
  end
  return 1
end

-- All heartbeats come before any removal: others of this batch may be over as well.
local answers = {}
for i = 1, #KEYS / 3 do
  local k, a = 3 * (i - 1), 4 * (i - 1)
  local done, answer = pcall(heartbeat, KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], ARGV[a + 3], tonumber(ARGV[a + 4]))
  answers[i] = done and answer or 0
end
for i = 1, #KEYS / 3 do
  local k, a = 3 * (i - 1), 4 * (i - 1)
  if answers[i] == 1 then
    local done, answer = pcall(
      next_step, KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], ARGV[a + 1], tonumber(ARGV[a + 2]), ARGV[a + 3]
    )
    answers[i] = done and answer or 0
  end
end
return answers
