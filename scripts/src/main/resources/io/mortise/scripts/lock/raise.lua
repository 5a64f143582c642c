-- lock/raise: makes the last fencing token of a lock that is held at least as large as the one given.
--
-- KEYS[1] the lock, a hash in which every hold has a field
-- KEYS[2] its fencing token
-- ARGV[1] the field of the hold
-- ARGV[2] token
-- ARGV[3] idle life of the token, ms
--
-- Answer: 1 when the hold is there and its token raised; 0 when it is not there.
-- Cost: O(1). Safe to repeat: a token is never lowered.
-- @include common/token
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local last = known_token(KEYS[2]) or 0
store_token(KEYS[2], math.max(last, tonumber(ARGV[2])), ARGV[3], clock_micros())
return 1
