-- client/probe: tries, on keys of its own, the commands that a plain lock needs, and removes what it has written.
--
-- KEYS[1] a key named like a lock
-- KEYS[2] a key named like its fencing token
-- KEYS[3] a channel named like its channel
-- KEYS[4] a key named like its waiters
-- KEYS[5] a key named like the mark of a forced release
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[2] life of the keys in ms, in case that they cannot be removed
--
-- Answer: the commands that failed, each followed by the error; empty when all is well.
-- Cost: O(1). Safe to repeat.
local failed = {}
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    failed[#failed + 1] = (select(1, ...))
    failed[#failed + 1] = answer.err
    return false
  end
  return true
end

try('TIME')
try('GET', KEYS[2])
redis.pcall('GET', KEYS[5]) -- GET was tried; the key is declared, and Redis refuses the script without a right to it
try('SET', KEYS[2], '1', 'PX', ARGV[2])
try('HLEN', KEYS[1])
if try('PEXPIRE', KEYS[1], ARGV[2]) then -- otherwise a hash could stay
  try('HSET', KEYS[1], 'probe', '1')
  redis.pcall('PEXPIRE', KEYS[1], ARGV[2])
  try('ZADD', KEYS[4], '0', 'probe')
  redis.pcall('PEXPIRE', KEYS[4], ARGV[2])
end
try('HEXISTS', KEYS[1], 'probe')
try('HKEYS', KEYS[1])
try('PTTL', KEYS[1])
try('ZSCORE', KEYS[4], 'probe')
try('ZRANGE', KEYS[4], '0', '0')
try('ZCOUNT', KEYS[4], '0', '0')
try('ZREMRANGEBYSCORE', KEYS[4], '1', '1')
try('ZREM', KEYS[4], 'probe')
try('DEL', KEYS[1], KEYS[2], KEYS[4])
try(ARGV[1], KEYS[3], '0')
return failed
