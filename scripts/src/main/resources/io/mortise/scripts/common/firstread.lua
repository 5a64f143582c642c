-- read_first(k, reader, lease_ms): writes the hold of a reader into a free lock.
-- @include common/lease
local function read_first(k, reader, lease_ms)
  redis.call('SET', k.prefix .. ':' .. reader .. ':rwlock_timeout:1', '1', 'PX', lease_ms)
  take(k.lock, lease_ms, 'mode', 'read', reader, '1')
end
