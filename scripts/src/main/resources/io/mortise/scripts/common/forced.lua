-- Whether a forced release has ended the hold of that holder: the mark has the holders, separated by spaces.
local function was_forced(mark, holder)
  return string.find(' ' .. (redis.call('GET', mark) or '') .. ' ', ' ' .. holder .. ' ', 1, true) ~= nil
end
