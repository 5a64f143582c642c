-- begin_to_write(set): a write to a sorted set that changes nothing. A server without memory refuses the first write of
-- a script when it may take memory, also a ZADD of a member that is there; after another write it refuses none. So a
-- script that only changes what is there calls this before, and one that adds something does not.
local function begin_to_write(set)
  redis.call('ZREM', set, '')
end
