-- fence/command: runs one command, unless the resource has seen a larger token.
--
-- KEYS[1] the largest token that the resource has seen, then the keys of the command
-- ARGV[1] the token
-- ARGV[2] retention of the largest token, ms; 0 for ever. Then the words of the command
--
-- Answer: {1, the reply of the command}; {0, the larger token}; or the error FENCETYPE.
-- Cost: that of the command. Safe to repeat as far as the command is.
-- @include common/fence
local refused = refusal(KEYS[1], ARGV[1], ARGV[2])
if refused then
  return refused
end
return {1, redis.call(unpack(ARGV, 3))}
