-- The places of the waiters that a hold has served, which are separated by spaces.

-- Removes them; returns whether one of them was there. Fails on another type before it writes.
local function remove_served(queue, deadlines, served)
  if served == '' then
    return false
  end
  sizes_match(queue, deadlines)
  local placed = false
  for waiter in string.gmatch(served, '%S+') do
    placed = remove_waiter(queue, deadlines, waiter) or placed
  end
  return placed
end

-- Removes those of a hold that is lost; when the lock is free, the waiter behind them is notified.
local function leave_served(lock, command, channels, queue, deadlines, waiters, served)
  local first = first_waiter(waiters)
  if remove_served(queue, deadlines, served) and redis.call('EXISTS', lock) == 0 then
    notify_next(command, channels, prune(queue, deadlines, now_ms()), waiters, first)
  end
end
