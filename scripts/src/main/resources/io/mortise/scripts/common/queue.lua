-- The queue: a list of holders in order of arrival, and a sorted set with each one's deadline in ms
-- of the server's clock. Both always change together.
-- @include common/memory
-- @include common/ours

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function ms(number)
  return string.format('%.0f', number)
end

local function deadline_of(deadlines, holder)
  return tonumber(redis.call('ZSCORE', deadlines, holder))
end

-- Whether there are as many places as deadlines. Fails when one of the keys has another type, so it is
-- called before anything is written.
local function sizes_match(queue, deadlines)
  return redis.call('LLEN', queue) == redis.call('ZCARD', deadlines)
end

-- Removes a place without a deadline, a deadline without a place, and a second place: the results of an
-- eviction or of an error in another client. O(1) when list and set agree, as usual.
local function repair(queue, deadlines)
  if sizes_match(queue, deadlines) then
    return
  end
  local placed = {}
  for _, holder in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if placed[holder] then
      redis.call('LREM', queue, -1, holder)
    elseif redis.call('ZSCORE', deadlines, holder) then
      placed[holder] = true
    else
      redis.call('LREM', queue, 1, holder)
    end
  end
  for _, holder in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
    if not placed[holder] then
      redis.call('ZREM', deadlines, holder)
    end
  end
end

-- Removes waiters at the head without a deadline, or with one that is over; returns the head.
local function prune(queue, deadlines, now)
  repair(queue, deadlines)
  while true do
    local head = redis.call('LINDEX', queue, 0)
    if not head then
      return nil
    end
    local deadline = deadline_of(deadlines, head)
    if deadline and deadline > now then
      return head
    end
    redis.call('LPOP', queue)
    redis.call('ZREM', deadlines, head)
    if not deadline then
      repair(queue, deadlines) -- as many places as deadlines, but not the same ones
    end
  end
end

--[[
Redisson's waiters. Each joins with the deadline of the last in the queue plus the time it may wait,
300 s in lock(), and when it acquires or leaves it subtracts that time from all deadlines behind it. So
one of ours needs that much for each of Redisson's ahead of it, plus its own validity:

     R  ours  R  ours  ours              R: one of Redisson's
        300   .  600   600   s more

The deadline includes it on joining, and each heartbeat sets it again: neither too much nor
too little remains, however long they have waited.
]]
local REDISSON_WAIT = 300 * 1000

-- The latest deadline of all; 0 when there is none. If Redisson's are behind ours, or ours behind
-- Redisson's, it is later than that of one of ours with a heartbeat now. O(log queue).
local function latest_deadline(deadlines)
  return tonumber(redis.call('ZRANGE', deadlines, -1, -1, 'WITHSCORES')[2] or 0)
end

-- For each of ours, the number of Redisson's ahead of it; and their total.
local function redissons_before(queue)
  local before, count = {}, 0
  for _, holder in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if is_ours(holder) then
      before[holder] = count
    else
      count = count + 1
    end
  end
  return before, count
end

--[[
One of Redisson's joins with the deadline of its predecessor, plus the time it may wait. Before 3.32.0
it parks until that deadline of the predecessor and asks again; if the predecessor is still there, it
parks until a message arrives. If the predecessor is one of ours and dies later, no message is sent. So
when ours have moved, from the deadlines that they had, Redisson's move along with the latest of ours
ahead of them: then they ask again whenever its place may be over.
]]
local function move_redissons(queue, deadlines, had)
  local has, all = {}, redis.call('ZRANGE', deadlines, 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do
    has[all[i]] = tonumber(all[i + 1])
  end
  local from, to = 0, 0
  for _, holder in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    local deadline = has[holder]
    if deadline and is_ours(holder) then
      from, to = math.max(from, had[holder] or deadline), math.max(to, deadline)
    elseif deadline and from ~= to then
      redis.call('ZADD', deadlines, ms(deadline + to - from), holder)
    end
  end
end

-- The deadline of a joining waiter. O(1) when only ours wait, and none of them has a longer validity.
local function first_deadline(queue, deadlines, now, life)
  local last = redis.call('LINDEX', queue, -1)
  if not last or (is_ours(last) and latest_deadline(deadlines) <= now + life) then
    return now + life
  end
  local _, count = redissons_before(queue)
  return now + life + REDISSON_WAIT * count
end

-- An abandoned queue expires.
local QUEUE_LIFE = 24 * 60 * 60 * 1000

local function keep(queue, deadlines)
  redis.call('PEXPIRE', queue, QUEUE_LIFE)
  redis.call('PEXPIRE', deadlines, QUEUE_LIFE)
end

-- Sets a later deadline of a waiter that has a place. A server without memory refuses the ZADD, unless the script has
-- begun to write: so the keys come first.
local function extend(queue, deadlines, holder, deadline)
  keep(queue, deadlines)
  redis.call('ZADD', deadlines, ms(deadline), holder)
end

-- Joins the queue, or extends the deadline of a waiter in it. O(1) when only ours wait, and none of them
-- has a longer validity.
local function join_or_extend(queue, deadlines, holder, now, life)
  local deadline = deadline_of(deadlines, holder)
  if not deadline then
    local first = first_deadline(queue, deadlines, now, life)
    redis.call('RPUSH', queue, holder)
    redis.call('ZADD', deadlines, ms(first), holder)
    keep(queue, deadlines)
    return
  end
  if deadline < now + life then
    extend(queue, deadlines, holder, now + life)
    if latest_deadline(deadlines) > now + life then
      move_redissons(queue, deadlines, {[holder] = deadline})
    end
  else
    keep(queue, deadlines)
  end
end

-- Removes a waiter from any position; returns whether it had a place. O(1) at the head, O(queue) behind it. With
-- `places` the search ends after so many; another one, which is an error, is left to the next repair.
local function remove_waiter(queue, deadlines, holder, places)
  local placed = redis.call('ZREM', deadlines, holder) == 1
  if redis.call('LINDEX', queue, 0) == holder then
    redis.call('LPOP', queue)
  elseif placed then
    redis.call('LREM', queue, places or 0, holder)
  end
  return placed
end

-- The time until another attempt of a waiter behind the head is useful without a message: the second one asks
-- when the head's place may be over, and the others need not, so -1.
local function ask_behind(queue, deadlines, head, holder, now)
  if redis.call('LINDEX', queue, 1) ~= holder then
    return -1
  end
  return tonumber(redis.call('ZSCORE', deadlines, head)) - now + 1
end
