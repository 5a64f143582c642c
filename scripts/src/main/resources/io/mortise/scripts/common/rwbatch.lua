-- @include common/rwheader
-- keys_of(i): the keys of item i of a batch, counted from 1, and the command with which it publishes.
local function keys_of(i)
  local at = 9 * (i - 1)
  return {
    lock = KEYS[at + 1],
    prefix = KEYS[at + 2],
    channel = KEYS[at + 3],
    intent = KEYS[at + 4],
    waiters = KEYS[at + 5],
    turn = KEYS[at + 6],
    queue = KEYS[at + 7],
    deadlines = KEYS[at + 8],
    readers = KEYS[at + 9],
    writers = 'mortise_write_waiters:' .. KEYS[at + 2],
    publish = ARGV[3 * i],
  }
end
