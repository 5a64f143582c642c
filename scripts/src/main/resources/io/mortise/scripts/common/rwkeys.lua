-- @include common/rwheader
local k = {
  lock = KEYS[1],
  prefix = KEYS[2],
  channel = KEYS[3],
  intent = KEYS[4],
  waiters = KEYS[5],
  turn = KEYS[6],
  queue = KEYS[7],
  deadlines = KEYS[8],
  readers = KEYS[9],
  writers = 'mortise_write_waiters:' .. KEYS[2],
}
