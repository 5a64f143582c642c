-- KEYS[1] the lock, a hash {mode -> read or write; holds -> count}
-- KEYS[2] the prefix of the keys of its holds
-- KEYS[3] its channel, and the prefix of the channels of queued waiters
-- KEYS[4] the intent of a waiting writer
-- KEYS[5] the waiting readers, a sorted set with their deadlines, epoch ms
-- KEYS[6] the readers whose turn it is, a sorted set of the same form
-- KEYS[7] the queue of a fair lock, a list
-- KEYS[8] the deadlines of queued waiters, a sorted set, epoch ms
local k = {
  lock = KEYS[1],
  prefix = KEYS[2],
  channel = KEYS[3],
  intent = KEYS[4],
  waiters = KEYS[5],
  turn = KEYS[6],
  queue = KEYS[7],
  deadlines = KEYS[8],
}
