/*
 * Makes the look-ups of host names of one process wait for as long as the file named by NUMBER_FILE
 * has a 64-bit integer that is not 0, as if no name server answered.
 *
 *   cc -shared -fPIC -O2 -o lookup.so lookup.c -ldl
 *   NUMBER_FILE=silent LD_PRELOAD=./lookup.so java ...
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <time.h>

#include "number.h"

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict result) {
  int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
      dlsym(RTLD_NEXT, "getaddrinfo");
  while (number()) {
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, 0);
  }
  return next(node, service, hints, result);
}
