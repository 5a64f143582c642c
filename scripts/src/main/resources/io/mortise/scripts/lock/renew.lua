-- lock/renew: extends each hold of a batch to its lease from now; never shortens one.
--
-- EACH hold has
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the mark that a forced release leaves
-- ARGV[1] holder
-- ARGV[2] lease, ms: its whole lease, or the rest of one that is not renewed
--
-- Answer: for each hold 1 when renewed, 0 when this holder does not hold it, 2 when it was released
-- by force, -1 when Redis refused to answer. A replica refuses a batch that lengthens a lease.
-- Cost: O(holds). Safe to repeat, and never revives a released hold. A hold whose key has another
-- type does not affect the others.
-- @include common/lease
-- @include common/renewal
-- @include common/forced
local function renew(lock, mark, holder, lease)
  if redis.call('HEXISTS', lock, holder) == 1 then
    lengthen(lock, lease)
    return 1
  end
  return was_forced(mark, holder) and 2 or 0
end

local answers = {}
for i = 1, #KEYS / 2 do
  answers[i] = renewal_of(renew, KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i - 1], ARGV[2 * i])
  if type(answers[i]) == 'table' then
    return answers[i]
  end
end
return answers
