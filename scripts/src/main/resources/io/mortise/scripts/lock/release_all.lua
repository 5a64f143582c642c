-- lock/release_all: releases several locks, each as lock/release does.
--
-- EACH lock has
-- KEYS[1] the lock, a hash {holder -> 1}
-- KEYS[2] the channel of the lock, and the prefix of the channels of clients
-- KEYS[3] the mark that a forced release leaves
-- KEYS[4] its waiters, a sorted set of holders
-- ARGV[1] holder
-- ARGV[2] PUBLISH, or SPUBLISH on a cluster that has it
--
-- Answer: for each lock what lock/release answers. When a key has another type, all fail and none is released: then
-- each is released alone.
-- Cost: O(locks * log waiters), and the messages. Safe to repeat: each names one acquisition.
-- @include common/waiters
local holds = {}
-- What can fail comes first, while nothing is written.
for i = 1, #KEYS / 4 do
  local holder = ARGV[2 * i - 1]
  holds[i] = {
    held = redis.call('HEXISTS', KEYS[4 * i - 3], holder) == 1,
    forced = redis.call('GET', KEYS[4 * i - 1]) == holder,
    first = first_waiter(KEYS[4 * i])
  }
end
local answers = {}
for i, hold in ipairs(holds) do
  local lock, channels, waiters = KEYS[4 * i - 3], KEYS[4 * i - 2], KEYS[4 * i]
  local holder, command = ARGV[2 * i - 1], ARGV[2 * i]
  if hold.held then
    redis.call('DEL', lock)
    answers[i] = {1, notify_waiters(command, channels, waiters, hold.first), hold.first and 1}
  else
    local waited = leave_waiters(lock, command, channels, waiters, holder)
    answers[i] = {hold.forced and 2 or waited and 3 or 0, 0}
  end
end
return answers
