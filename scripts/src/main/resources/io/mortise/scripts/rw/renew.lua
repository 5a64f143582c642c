-- rw/renew: extends each hold of a batch, and no other, to its lease from now; never shortens one. It
-- repairs what a peer has shortened: the hold's own key, and the hash.
--
-- EACH hold has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- KEYS[3] the holds that were released by force, a set
-- ARGV[1] hold
-- ARGV[2] lease, ms: its whole lease, or the rest of one that is not renewed
--
-- Answer: for each hold 1 when renewed, 0 when it does not exist or its lease is over, 2 when it
-- was released by force, -1 when Redis refused to answer.
-- Cost: O(holds). Safe to repeat, and never revives a released or expired hold. A hold whose key has
-- another type does not affect the others.
-- @include common/rw
-- @include common/renewal
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
  answers[i] = renewal_of(renew, k, KEYS[3 * i], ARGV[2 * i - 1], ARGV[2 * i])
end
return answers
