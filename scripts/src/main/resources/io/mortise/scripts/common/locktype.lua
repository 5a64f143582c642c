-- refuse(kind): the error reply when the name is in use as a lock of another kind.
local function refuse(kind)
  return redis.error_reply('LOCKTYPE the name is held as a ' .. kind)
end
