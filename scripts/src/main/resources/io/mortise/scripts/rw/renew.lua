-- rw/renew: extends each hold of a batch, and no other, to its lease from now; never shortens one. It
-- repairs what a peer has shortened: the hold's own key, and the hash.
--
-- EACH hold has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- KEYS[3] the holds that were released by force, a set
-- KEYS[4] the readers that hold it, a sorted set with the ends of their leases, epoch ms
-- ARGV[1] hold
-- ARGV[2] lease, ms: its whole lease, or the rest of one that is not renewed
--
-- Answer: for each hold 1 when renewed, 0 when it does not exist or its lease is over, 2 when it
-- was released by force, -1 when Redis refused to answer. A replica refuses a batch that lengthens a lease.
-- Cost: O(holds x log readers). Safe to repeat, and never revives a released or expired hold. A hold whose key has
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
  if not is_writer(hold) then
    -- The hold does not depend on it: the server may have no memory for a note, or the key another type.
    pcall(note, k, hold, left_of(own))
  end
  lengthen(k.lock, lease)
  return 1
end

local answers = {}
for i = 1, #KEYS / 4 do
  local at = 4 * (i - 1)
  local k = {lock = KEYS[at + 1], prefix = KEYS[at + 2], readers = KEYS[at + 4]}
  answers[i] = renewal_of(renew, k, KEYS[at + 3], ARGV[2 * i - 1], ARGV[2 * i])
  if type(answers[i]) == 'table' then
    return answers[i]
  end
end
return answers
