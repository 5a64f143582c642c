-- rw/release: gives up a read or a write hold, and wakes who may come in.
--
-- When the last reader goes, writers are told; so they are when the reader goes for which the lock lasted
-- longest. When the writer goes, those are told who wait, and the readers among them have their turn; also
-- when readers of its own thread stay.
--
-- @include common/rwkeys
-- KEYS[9] the holds that were taken by force, a set
-- ARGV[1] hold
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, subscribers that heard it, less 1 for each channel the user has no right to} when
-- released; {0, 0} when this hold is not there; {2, 0} when it was taken by force.
-- Cost: O(1) for a reader that others outlast, otherwise O(readers). Safe to repeat: only the
-- acquisition that it is meant for is released.
local hold = ARGV[1]
if redis.call('HEXISTS', k.lock, hold) == 0 then
  return {redis.call('SISMEMBER', KEYS[9], hold) == 1 and 2 or 0, 0}
end
-- @include common/publish
-- The only one, and nobody waits: none of what follows is needed, and reading it takes its time.
if redis.call('HLEN', k.lock) == 2 and redis.call('EXISTS', k.waiters, k.queue) == 0 then
  redis.call('DEL', k.lock, k.prefix .. ':' .. hold .. ':rwlock_timeout:1')
  return {1, publish(ARGV[2], k.channel, string.sub(hold, -6) == ':write' and '1' or '0')}
end
-- @include common/rw
k.publish = ARGV[2]
check(k)
-- Whether it is another reader for whom the hash lasts so long.
local own = left_of(lease_key(k, hold, 1))
if own + PASSES < left_of(k.lock) and redis.call('HGET', k.lock, 'mode') == 'read'
    and redis.call('HLEN', k.lock) > 2 then
  redis.call('HDEL', k.lock, hold)
  redis.call('DEL', lease_key(k, hold, 1))
  return {1, 0}
end
return {1, give_up(k, function(entry)
  return entry == hold
end)}
