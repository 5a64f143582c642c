-- rw/renew: sees to it that each hold of a batch lasts for its lease from now, and nobody else's; never
-- shortens one. It mends what a peer has shortened: the hold's own key, and the hash.
--
-- EACH hold has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] what the keys of its holds begin with
-- KEYS[3] the holds that were taken by force, a set
-- ARGV[1] hold
-- ARGV[2] lease, ms: its whole lease, or what is left of one that is not renewed
--
-- Answer: for each hold 1 when renewed, 0 when it is not there or its lease is over, 2 when it was
-- taken by force, -1 when Redis refused to say.
-- Cost: O(holds). Safe to repeat, and never revives what was released or has run out. One hold whose
-- key has become something else does not spoil the others.
-- @include common/rw
local function renew(k, forced, hold, lease)
  if redis.call('HEXISTS', k.lock, hold) == 0 then
    return redis.call('SISMEMBER', forced, hold) == 1 and 2 or 0
  end
  local own = lease_key(k, hold, 1)
  if redis.call('EXISTS', own) == 1 then
    lengthen(own, lease)
  elseif not is_writer(hold) or redis.call('HLEN', k.lock) > 2 then
    return 0
  end
  lengthen(k.lock, lease)
  return 1
end

local answers = {}
for i = 1, #KEYS / 3 do
  local k = {lock = KEYS[3 * i - 2], prefix = KEYS[3 * i - 1]}
  local done, answer = pcall(renew, k, KEYS[3 * i], ARGV[2 * i - 1], ARGV[2 * i])
  if done then
    answers[i] = answer
  else
    local message = type(answer) == 'table' and answer.err or tostring(answer)
    answers[i] = string.find(message, 'WRONGTYPE', 1, true) and 0 or -1
  end
end
return answers
