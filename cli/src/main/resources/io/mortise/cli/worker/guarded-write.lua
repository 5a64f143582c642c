-- guarded-write: what a resource does with fencing tokens. It remembers the largest that it has
-- seen, and refuses a write that comes with a smaller one.
--
-- KEYS[1] the value
-- KEYS[2] the largest token so far
-- ARGV[1] the new value
-- ARGV[2] the writer's token
-- ARGV[3] life of both keys, s
--
-- Answer: 1 when written, 0 when refused.
-- Cost: O(1). Safe to repeat: the same token may write again.
if tonumber(redis.call('GET', KEYS[2]) or '0') > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
return 1
