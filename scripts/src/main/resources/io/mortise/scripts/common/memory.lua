-- begin_to_write(set): a write to a sorted set that changes nothing, for two purposes.
-- A server without memory refuses the first write of a script when it may take memory, also a ZADD of a member that is
-- there; after another write it refuses none. So a script that only changes what is there calls this before, and one
-- that adds something does not.
-- A replica refuses each write. So a script that may write nothing else calls this: a master that has become a replica
-- would answer from old data, and its READONLY tells the client that there is a new one.
local function begin_to_write(set)
  redis.call('ZREM', set, '')
end
