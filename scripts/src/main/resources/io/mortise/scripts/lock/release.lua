-- lock/release: gives the lock up and wakes who waits for it.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of the lock
-- KEYS[3] the mark that a forced release leaves
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, subscribers that heard it, or -1} when released; {0, 0} when this holder does not hold it;
-- {2, 0} when it was taken from this holder by force.
-- Cost: O(1) and the PUBLISH. Safe to repeat: only the acquisition that it is meant for is released.
-- @include common/publish
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  if redis.call('GET', KEYS[3]) == ARGV[1] then
    return {2, 0}
  end
  return {0, 0}
end
redis.call('DEL', KEYS[1])
return {1, publish(ARGV[2], KEYS[2], '0')}
