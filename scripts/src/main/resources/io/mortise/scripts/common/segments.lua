-- The segments of a segmented lock. Segment i of the group `{N}` is the plain lock `{N}:i`; its other keys are
-- derived from that name, as for every plain lock. The hash tag determines the slot of all. A waiter for any segment
-- has a place in the queue of the group.
-- @include common/waiters
-- @include common/queue

-- Each is searched for in the queue. Those that are left have their turn in a later script, or become the head.
local MAX_REMOVED = 100

-- Removes waiters whose places are over, wherever they are; returns the head. O(1) while there is none.
local function remove_dead(queue, deadlines, now)
  local head = prune(queue, deadlines, now)
  for _ = 1, head and MAX_REMOVED or 0 do
    local first = redis.call('ZRANGE', deadlines, 0, 0, 'WITHSCORES')
    if not first[1] or tonumber(first[2]) > now then
      break
    end
    remove_waiter(queue, deadlines, first[1])
  end
  return head and redis.call('LINDEX', queue, 0)
end

local function segment_key(group, i)
  return group .. ':' .. i
end

-- Those that wait for this segment, as for a plain lock.
local function waiters_key(lock)
  return 'mortise_waiters:' .. lock
end

-- Fails when a key of the group has another type, so it is called before anything is written.
local function check_group(queue, deadlines, exhausted)
  sizes_match(queue, deadlines)
  redis.call('SCARD', exhausted)
end

-- Looks at the segments that are not exhausted, from `start` on and around. Returns the free ones; the remaining
-- leases of the held ones in ms, the shortest first; and the number of both.
local function open_segments(group, count, exhausted, start)
  local skipped = {}
  for _, i in ipairs(redis.call('SMEMBERS', exhausted)) do
    skipped[i] = true
  end
  local free, ends, open = {}, {}, 0
  for step = 0, count - 1 do
    local i = (start + step) % count
    if not skipped[tostring(i)] then
      open = open + 1
      local left = redis.call('PTTL', segment_key(group, i))
      if left == -2 then
        free[#free + 1] = i
      elseif left >= 0 then
        ends[#ends + 1] = left
      end
    end
  end
  table.sort(ends)
  return free, ends, open
end

-- Tells the waiters who may enter now: with f free segments the first f of the queue. So one that does
-- not come keeps one segment from the others, and not all.
local function tell_next(k, free)
  if free > 0 then
    for _, waiter in ipairs(redis.call('LRANGE', k.queue, 0, free - 1)) do
      publish(k.command, k.channel .. ':' .. waiter, '0')
    end
  end
end

-- The same after segments were released; O(1) while nobody waits. After one that stays busy for a rest of a
-- minimum, all waiters that a lease may let in ask again, because it now ends earlier.
local function tell_waiters(k, rest)
  if remove_dead(k.queue, k.deadlines, now_ms()) then
    local free, _, open = open_segments(k.group, k.count, k.exhausted, 0)
    tell_next(k, rest and rest > 0 and open or #free)
  end
end

-- The segment of a holder from first to last, or nil. A holder has one at most.
local function held_segment(group, first, last, holder)
  local held
  for i = first, last do -- all of them: a key of another type fails here, before anything is written
    if redis.call('HEXISTS', segment_key(group, i), holder) == 1 then
      held = i
    end
  end
  return held
end

-- The same for its release: a key of another type at one segment keeps none of the others held.
local function segment_to_release(group, first, last, holder)
  for i = first, last do
    if redis.pcall('HEXISTS', segment_key(group, i), holder) == 1 then
      return i
    end
  end
end

-- Releases a segment, and notifies those that wait for this one. With a rest of a minimum it stays busy for
-- that, under a holder that no client has. Returns the number of subscribers, or -1, and 1 if one of the waiters was
-- notified.
local function release_segment(k, i, holder, rest)
  local lock = segment_key(k.group, i)
  local waiters = waiters_key(lock)
  local first = first_waiter(waiters)
  redis.call('DEL', lock)
  if rest > 0 then
    take(lock, ms(rest), holder .. ':kept', '1')
  end
  return notify_waiters(k.command, k.plain .. ':' .. lock, waiters, first), first and 1
end

-- Removes one that waits for this segment; returns whether it did.
local function leave_segment(k, i, holder)
  local lock = segment_key(k.group, i)
  return leave_waiters(lock, k.command, k.plain .. ':' .. lock, waiters_key(lock), holder)
end
