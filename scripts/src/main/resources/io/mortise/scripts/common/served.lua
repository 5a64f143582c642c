-- remove_served(queue, deadlines, served): removes the places of the waiters that a hold has served, separated by
-- spaces. Returns whether one of them had a place. Fails on another type before it writes.
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
