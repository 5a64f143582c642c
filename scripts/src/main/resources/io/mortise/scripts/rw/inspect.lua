-- rw/inspect: returns whether the lock is held for reading, or writing, and for how long.
--
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- KEYS[3] the readers that hold it, a sorted set with the ends of their leases, epoch ms
-- ARGV[1] read or write: which holds
--
-- Answer: the remaining lease in ms, of readers the longest; -1 when it has no end, -2 when there is no such
-- hold.
-- Cost: O(log readers); O(readers) beside a peer's, and when many are over. Writes nothing.
-- @include common/rw
local k = {lock = KEYS[1], prefix = KEYS[2], readers = KEYS[3]}
local longest_read = ARGV[1] == 'read' and longest_of_many(k)
if longest_read then
  return longest_read >= FOREVER and -1 or longest_read
end
local s = look(k)
if s.other_type then
  return refuse('lock without readers')
end
local left = ARGV[1] == 'write' and s.write_left or s.read_left
return left >= FOREVER and -1 or left
