-- rw/renew: gives each hold of a batch its whole lease again, and nobody else's.
--
-- EACH hold has
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] what the keys of its holds begin with
-- KEYS[3] the holds that were taken by force, a set
-- ARGV[1] hold
-- ARGV[2] lease, ms
--
-- Answer: for each hold 1 when renewed, 0 when it is not there or its lease is over, 2 when it was
-- taken by force.
-- Cost: O(holds). Safe to repeat, and never revives what was released or has run out.
-- @include common/rw
local answers = {}
for i = 1, #KEYS / 3 do
  local k = {lock = KEYS[3 * i - 2], prefix = KEYS[3 * i - 1]}
  local hold, lease = ARGV[2 * i - 1], ARGV[2 * i]
  if redis.call('HEXISTS', k.lock, hold) == 0 then
    answers[i] = redis.call('SISMEMBER', KEYS[3 * i], hold) == 1 and 2 or 0
  elseif redis.call('PEXPIRE', lease_key(k, hold, 1), lease) == 1
      or (is_writer(hold) and redis.call('HLEN', k.lock) == 2) then
    if redis.call('PTTL', k.lock) < tonumber(lease) then
      redis.call('PEXPIRE', k.lock, lease)
    end
    answers[i] = 1
  else
    answers[i] = 0
  end
end
return answers
