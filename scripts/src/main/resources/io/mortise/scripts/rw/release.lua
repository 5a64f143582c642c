-- rw/release: releases a read or a write hold, and wakes the waiters that may enter.
--
-- When the last reader leaves, the first writer is notified; also when the reader with the longest lease leaves.
-- When the writer leaves, the waiting readers are notified and have their turn, also when readers of its own
-- thread stay; and the first writer, which may enter after them.
--
-- @include common/rwkeys
-- KEYS[10] the holds that were released by force, a set
-- ARGV[1] hold
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, notified subscribers, less 1 for each channel without permission, 1 if one writer was notified}
-- when released; {0, 0} when this hold does not exist; {2, 0} when it was released by force.
-- Cost: O(log readers); O(waiting readers x log) when a write hold ends. Safe to repeat: it releases only the given
-- acquisition.
local hold = ARGV[1]
if redis.call('HEXISTS', k.lock, hold) == 0 then
  return {redis.call('SISMEMBER', KEYS[10], hold) == 1 and 2 or 0, 0}
end
-- @include common/publish
-- The only hold, and no waiters: the functions below are not needed, and making them takes time.
if redis.call('HLEN', k.lock) == 2 and redis.call('EXISTS', k.waiters, k.turn, k.queue, k.writers) == 0 then
  redis.call('ZREM', k.readers, hold)
  redis.call('DEL', k.lock, k.prefix .. ':' .. hold .. ':rwlock_timeout:1')
  return {1, publish(ARGV[2], k.channel, string.sub(hold, -6) == ':write' and '1' or '0')}
end
-- @include common/rw
k.publish = ARGV[2]
check(k)
-- Whether the lock lasts that long for another reader. The life of the hash alone does not tell: a peer
-- may have set it for one that has died since.
local own = left_of(lease_key(k, hold, 1))
if own + PASSES < left_of(k.lock) and redis.call('HGET', k.lock, 'mode') == 'read'
    and is_outlasted(k, own) and not (first_waiter(k.writers) and held_by_redisson(k)) then
  redis.call('DEL', lease_key(k, hold, 1))
  remove_readers(k, {hold})
  return {1, 0}
end
return {1, remove_hold(k, hold), k.notified}
