-- fence/script: runs a script of the user, unless the resource has seen a larger token. The
-- script replaces the placeholder line, and sees its own KEYS and ARGV.
--
-- KEYS[1] the largest token that the resource has seen, then the keys of the script
-- ARGV[1] the token
-- ARGV[2] retention of the largest token, ms; 0 for ever. Then the arguments of the script
--
-- Answer: {1, the reply of the script}; {0, the larger token}; or the error FENCETYPE, or that of the script.
-- Cost: that of the script. Safe to repeat as far as the script is.
-- @include common/fence
local refused = refusal(KEYS[1], ARGV[1], ARGV[2])
if refused then
  return refused
end
local function guarded(KEYS, ARGV)
do local the_script end
end
-- A loop, because unpack has a limit.
local function from(list, first)
  local rest = {}
  for i = first, #list do
    rest[#rest + 1] = list[i]
  end
  return rest
end
local answer = guarded(from(KEYS, 2), from(ARGV, 3))
if type(answer) == 'table' and answer.err then
  return answer
end
if answer == nil then
  return {1, false}
end
return {1, answer}
