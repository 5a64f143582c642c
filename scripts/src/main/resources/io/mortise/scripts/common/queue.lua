-- The queue: a list of holders in order of arrival, and a sorted set with each one's deadline in ms
-- of the server's clock. Both always change together.

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

-- Who has only a place, or only a deadline, or a second place, loses it: an eviction, or another
-- client's slip. O(1) when list and set agree, as they do.
local function heal(queue, deadlines)
  if redis.call('LLEN', queue) == redis.call('ZCARD', deadlines) then
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

-- Removes who stands at the head without a deadline, or with one that is over; gives the head.
local function prune(queue, deadlines, now)
  while true do
    local head = redis.call('LINDEX', queue, 0)
    if not head then
      redis.call('DEL', deadlines)
      return nil
    end
    local deadline = deadline_of(deadlines, head)
    if deadline and deadline > now then
      heal(queue, deadlines)
      return head
    end
    redis.call('LPOP', queue)
    redis.call('ZREM', deadlines, head)
  end
end

-- A Mortise client's id is a UUID of version 8, Redisson's one of version 4.
local function is_ours(holder)
  return string.sub(holder, 15, 15) == '8'
end

--[[
Redisson's waiters. Each joins with the deadline of the last in the queue plus the time it is ready to
wait, 300 s in lock(), and when it acquires or leaves it takes that time off the deadline of everybody
behind it. So one of ours needs that much for each of Redisson's before it, besides its own life:

     R  ours  R  ours  ours              R: one of Redisson's
        300   .  600   600   s more

It is in the deadline when one joins, and each sign of life sets it anew: what is over is taken back,
and nothing is missing, however long they have waited.
]]
local REDISSON_WAIT = 300 * 1000

-- The deadline of one who joins. O(1): what those before the last need is in the deadline of the last.
local function first_deadline(queue, deadlines, now, life)
  local last = redis.call('LINDEX', queue, -1)
  if not last then
    return now + life
  end
  local deadline = deadline_of(deadlines, last) or now
  if is_ours(last) then
    return math.max(now + life, deadline)
  end
  return math.max(now, deadline) + REDISSON_WAIT + life
end

-- For each of ours, how many of Redisson's stand before it.
local function redissons_before(queue)
  local before, count = {}, 0
  for _, holder in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    if is_ours(holder) then
      before[holder] = count
    else
      count = count + 1
    end
  end
  return before
end

-- A queue of which nobody hears any more goes away by itself.
local QUEUE_LIFE = 24 * 60 * 60 * 1000

local function keep(queue, deadlines)
  redis.call('PEXPIRE', queue, QUEUE_LIFE)
  redis.call('PEXPIRE', deadlines, QUEUE_LIFE)
end

-- Joins the queue, or lengthens the deadline of one who stands in it. O(1).
local function stand(queue, deadlines, holder, now, life)
  local deadline = deadline_of(deadlines, holder)
  if not deadline then
    local first = first_deadline(queue, deadlines, now, life)
    redis.call('RPUSH', queue, holder)
    redis.call('ZADD', deadlines, ms(first), holder)
  elseif deadline < now + life then
    redis.call('ZADD', deadlines, ms(now + life), holder)
  end
  keep(queue, deadlines)
end

-- Takes one out, wherever it stands, and says whether it had a place. At the head that is O(1).
local function step_out(queue, deadlines, holder)
  local placed = redis.call('ZREM', deadlines, holder) == 1
  if redis.call('LINDEX', queue, 0) == holder then
    redis.call('LPOP', queue)
  elseif placed then
    redis.call('LREM', queue, 0, holder)
  end
  return placed
end
