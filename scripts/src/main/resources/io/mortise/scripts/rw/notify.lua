-- rw/notify: notifies the next writer, a while after the one that was notified at the end of a hold.
--
-- @include common/rwkeys
-- ARGV[1] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: 1 when the lock is free and the next writer was notified, which may not come either, or when it is the turn
-- of the readers. Otherwise 0: when the end of a hold will notify the next writer; when there is none; and when one of
-- Redisson's holds the lock, and the next writer was notified, so that it listens to the channel of the lock.
-- Cost: O(log writers). Safe to repeat: one that is notified too early asks in vain.
-- @include common/rw
k.publish = ARGV[1]
check(k)
local held = redis.call('EXISTS', k.lock) == 1
local turn = not held and turn_left(k) >= 0
if not turn and (not held or held_by_redisson(k)) then
  notify_writer(k)
end
return not held and (k.notified or turn and first_waiter(k.writers) and 1) or 0
