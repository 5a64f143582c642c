-- lock/raise: raises the last fencing token of a held lock to at least the given one.
--
-- KEYS[1] the lock, a hash in which every hold has a field
-- KEYS[2] its fencing token
-- ARGV[1] the field of the hold
-- ARGV[2] token
-- ARGV[3] retention of the token, ms
--
-- Answer: 1 when the hold exists and its token is raised; 0 when it does not exist.
-- Cost: O(1). Safe to repeat: a token is never lowered.
-- @include common/token
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local last = known_token(KEYS[2]) or 0
store_token(KEYS[2], math.max(last, tonumber(ARGV[2])), ARGV[3], clock_micros())
return 1
