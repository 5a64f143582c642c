-- fence/command: runs one command, unless a holder with a larger token has been here.
--
-- KEYS[1] the largest token that the resource has seen; behind it the keys of the command
-- ARGV[1] the token
-- ARGV[2] idle life of the largest token, ms; 0 for ever. Behind it the words of the command
--
-- Answer: {1, the answer of the command}; {0, the larger token}.
-- Cost: that of the command. Safe to repeat as far as the command is.
-- @include common/fence
local larger = stale(KEYS[1], ARGV[1], ARGV[2])
if larger then
  return {0, larger}
end
return {1, redis.call(unpack(ARGV, 3))}
