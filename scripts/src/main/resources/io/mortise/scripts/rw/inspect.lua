-- rw/inspect: returns whether the lock is held for reading, or writing, and for how long.
--
-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- ARGV[1] read or write: which holds
--
-- Answer: the remaining lease in ms, of readers the longest; -1 when it has no end, -2 when there is no such
-- hold.
-- Cost: O(readers). Writes nothing.
-- @include common/rw
local s = look({lock = KEYS[1], prefix = KEYS[2]})
if s.other_type then
  return refuse('lock without readers')
end
local left = ARGV[1] == 'write' and s.write_left or s.read_left
return left >= FOREVER and -1 or left
