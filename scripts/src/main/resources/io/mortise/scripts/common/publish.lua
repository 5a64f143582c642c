-- publish(command, channel, payload): notifies waiters; returns how many were notified, or -1 when the user
-- has no right to the channel. Earlier writes stay then, and waiters ask again when the lease ends.
local function publish(command, channel, payload)
  local heard = redis.pcall(command, channel, payload)
  return type(heard) == 'number' and heard or -1
end
