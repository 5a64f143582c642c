/*
 * Shifts the wall clock of one process, and no other clock, by the microseconds that the file named
 * by NUMBER_FILE has as a 64-bit integer. The file may change at any time.
 *
 *   cc -shared -fPIC -O2 -o clock.so clock.c
 *   NUMBER_FILE=shift LD_PRELOAD=./clock.so redis-server
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "number.h"

static int wall(struct timespec *t) {
  int result = syscall(SYS_clock_gettime, CLOCK_REALTIME, t);
  int64_t by = number();
  long nanos = t->tv_nsec + (by % 1000000) * 1000;
  t->tv_sec += by / 1000000 + (nanos < 0 ? -1 : nanos >= 1000000000);
  t->tv_nsec = nanos < 0 ? nanos + 1000000000 : nanos >= 1000000000 ? nanos - 1000000000 : nanos;
  return result;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
  int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  return is_wall ? wall(t) : syscall(SYS_clock_gettime, clock, t);
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  struct timespec now;
  int result = wall(&now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  (void)zone;
  return result;
}

time_t time(time_t *t) {
  struct timespec now;
  wall(&now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
