-- segment/acquire_any: acquires a free segment, or joins the queue of those that would take any.
--
-- KEYS[1] the queue, a list of holders
-- KEYS[2] the deadlines of queued waiters, a sorted set, epoch ms
-- KEYS[3] the exhausted segments, a set of indices
-- KEYS[4] prefix of the channels of the waiters for any segment; no key has this name, so Redis Cluster refuses the
--         script while the slot moves: the segments, whose keys are derived, may be on two servers then
-- ARGV[1] the name of the group with its hash tag
-- ARGV[2] the number of segments
-- ARGV[3] the segment with which the search begins
-- ARGV[4] holder, unique for each acquisition
-- ARGV[5] lease, ms
-- ARGV[6] retention of the token, ms
-- ARGV[7] how long a place is kept without a heartbeat, ms; 0: do not join the queue
-- ARGV[8] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, token, last one before or 0, segment} when acquired; {0, ms} when all are busy; {2, ms} when in the
-- queue, where ms is the time until another attempt is useful without a message, or -1; {3} when all are
-- exhausted, and nothing is left in the queue.
-- Cost: O(segments) with any number of waiters, because the holder is looked for among as many places as there are
-- segments; in addition O(1) for each dead waiter at the head, and O(queue) for each of at most 100 behind it, and for
-- one that leaves the queue because all segments are exhausted.
-- Safe to repeat: a holder that has a segment gets the same one.
-- @include common/token
-- @include common/locktype
-- @include common/segments
local k = {queue = KEYS[1], deadlines = KEYS[2], channel = KEYS[4], command = ARGV[8]}
local group, count, holder, life = ARGV[1], tonumber(ARGV[2]), ARGV[4], tonumber(ARGV[7])
local now = now_ms()

-- What can fail comes first, before anything is written.
check_group(k.queue, k.deadlines, KEYS[3])
if held_segment(group, 0, count - 1, 'mode') then
  return refuse('read-write lock')
end
local own = held_segment(group, 0, count - 1, holder)
local free, ends, open = open_segments(group, count, KEYS[3], tonumber(ARGV[3]))
local chosen = own or free[1]
local lock = chosen and segment_key(group, chosen)
local token_key = chosen and 'redisson_lock_token:' .. lock
local token, last, clock
if chosen then
  token, last, clock = peek_token(token_key)
end
if life > 0 and deadline_of(k.deadlines, holder) then
  extend(k.queue, k.deadlines, holder, now + life) -- it lives, and asks before its place is looked for
end
local head = remove_dead(k.queue, k.deadlines, now)

-- A waiter may enter when there are more free segments than waiters before it. With as many before it as there are
-- segments the number does not matter: neither free segments nor ends of leases suffice.
local ahead = 0
if head and head ~= holder then
  ahead = redis.call('LPOS', k.queue, holder, 'MAXLEN', count) or redis.call('LLEN', k.queue)
end
if own or #free > ahead then
  store_token(token_key, token, ARGV[6], clock)
  if own then
    lengthen(lock, ARGV[5])
  else
    take(lock, ARGV[5], holder, '1')
  end
  if head then
    remove_waiter(k.queue, k.deadlines, holder, 1) -- its place is one of the first: the search ends there
    tell_next(k, own and #free or #free - 1) -- leases may have ended without a message
  end
  return {1, token, last, chosen}
end

if open == 0 then
  begin_to_write(k.deadlines) -- marks from before the failover may be reset meanwhile
  if head then
    remove_waiter(k.queue, k.deadlines, holder)
  end
  return {3}
end
-- With `ahead` waiters before it, this one needs `ahead + 1` free segments: so many more leases have to end.
local retry = ends[ahead + 1 - #free] or -1
if life == 0 then
  begin_to_write(k.deadlines)
  return {0, retry}
end
join_or_extend(k.queue, k.deadlines, holder, now, life)
head = redis.call('LINDEX', k.queue, 0)
local behind = head ~= holder and ask_behind(k.queue, k.deadlines, head, holder, now) or -1
if behind >= 0 and (retry < 0 or behind < retry) then
  retry = behind
end
return {2, retry}
