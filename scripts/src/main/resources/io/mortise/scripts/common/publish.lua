-- publish(command, channel, payload): tells who waits; gives how many heard it, or -1 when the user has
-- no right to the channel. What was done before stays done then, and those who wait find out by the
-- lease's time.
local function publish(command, channel, payload)
  local heard = redis.pcall(command, channel, payload)
  return type(heard) == 'number' and heard or -1
end
