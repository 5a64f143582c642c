-- The queue: a list of holders in order of arrival, and a sorted set with each one's deadline in ms
-- of the server's clock. Both always change together.

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Removes who stands at the head without a deadline, or with one that is over; gives the head.
local function prune(queue, deadlines, now)
  while true do
    local head = redis.call('LINDEX', queue, 0)
    if not head then
      redis.call('DEL', deadlines)
      return nil
    end
    local deadline = redis.call('ZSCORE', deadlines, head)
    if deadline and tonumber(deadline) > now then
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

-- The deadline of one who joins: its own life, and the time by which Redisson's waiters before it will
-- shorten everybody behind them when they acquire or leave.
local function first_deadline(queue, deadlines, now, life)
  local last = redis.call('LINDEX', queue, -1)
  local debt = 0
  if last then
    local score = tonumber(redis.call('ZSCORE', deadlines, last) or '0')
    debt = math.max(0, score - now - (is_ours(last) and life or 0))
  end
  return now + life + debt
end

local function ms(number)
  return string.format('%.0f', number)
end

-- A queue of which nobody hears any more goes away by itself.
local QUEUE_LIFE = 24 * 60 * 60 * 1000

-- Joins the queue, or renews the deadline of one who stands in it; never shortens it.
local function stand(queue, deadlines, holder, now, life)
  local deadline = redis.call('ZSCORE', deadlines, holder)
  if not deadline then
    redis.call('LREM', queue, 0, holder)
    local first = first_deadline(queue, deadlines, now, life)
    redis.call('RPUSH', queue, holder)
    redis.call('ZADD', deadlines, ms(first), holder)
  elseif tonumber(deadline) < now + life then
    redis.call('ZADD', deadlines, ms(now + life), holder)
  end
  redis.call('PEXPIRE', queue, QUEUE_LIFE)
  redis.call('PEXPIRE', deadlines, QUEUE_LIFE)
end

-- Takes one out, wherever it stands. At the head that is O(1).
local function step_out(queue, deadlines, holder)
  if redis.call('LINDEX', queue, 0) == holder then
    redis.call('LPOP', queue)
  else
    redis.call('LREM', queue, 0, holder)
  end
  redis.call('ZREM', deadlines, holder)
end
