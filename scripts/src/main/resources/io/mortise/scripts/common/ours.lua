-- A Mortise client's id is a UUID of version 8, Redisson's one of version 4.
local function is_ours(holder)
  return string.sub(holder, 15, 15) == '8'
end
