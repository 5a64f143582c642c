-- lock/release: releases the lock and wakes its waiters.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of the lock
-- KEYS[3] the mark that a forced release leaves
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: {1, notified subscribers, or -1} when released; {0, 0} when this holder does not hold it;
-- {2, 0} when it was released by force.
-- Cost: O(1) and the PUBLISH. Safe to repeat: it releases only the given acquisition.
-- @include common/publish
-- @include common/ownhold
redis.call('DEL', KEYS[1])
return {1, publish(ARGV[2], KEYS[2], '0')}
