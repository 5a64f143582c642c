-- lock/keep: ends a hold before its minimum is over. The lock stays busy for the rest of the minimum, under a
-- holder that no client has, and its waiters ask again.
--
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of the lock
-- KEYS[3] the mark that a forced release leaves
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
-- ARGV[3] the rest of the minimum, ms
--
-- Answer: as lock/release. A late attempt or renewal of this holder finds the lock busy.
-- Cost: O(1) and the PUBLISH. Safe to repeat: a repetition does not find the holder.
-- @include common/publish
-- @include common/lease
-- @include common/ownhold
redis.call('DEL', KEYS[1])
take(KEYS[1], ARGV[3], ARGV[1] .. ':kept', '1')
return {1, publish(ARGV[2], KEYS[2], '0')}
