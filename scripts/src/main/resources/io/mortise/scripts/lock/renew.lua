-- lock/renew: gives each hold of a batch its whole lease again.
--
-- EACH hold has
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the mark that a forced release leaves
-- ARGV[1] holder
-- ARGV[2] lease, ms
--
-- Answer: for each hold 1 when renewed, 0 when this holder does not hold it (a key of another type
-- holds nothing, and spoils nothing for the others), 2 when it was taken from this holder by force.
-- Cost: O(holds). Safe to repeat, and never revives what was released.
local answers = {}
for i = 1, #KEYS / 2 do
  local lock, holder = KEYS[2 * i - 1], ARGV[2 * i - 1]
  if redis.pcall('HEXISTS', lock, holder) == 1 then
    redis.call('PEXPIRE', lock, ARGV[2 * i])
    answers[i] = 1
  elseif redis.pcall('GET', KEYS[2 * i]) == holder then
    answers[i] = 2
  else
    answers[i] = 0
  end
end
return answers
