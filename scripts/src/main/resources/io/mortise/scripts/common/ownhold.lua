-- Goes on only for the holder: otherwise answers 2 when its hold was released by force, 0 when there is none.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return {redis.call('GET', KEYS[3]) == ARGV[1] and 2 or 0, 0}
end
