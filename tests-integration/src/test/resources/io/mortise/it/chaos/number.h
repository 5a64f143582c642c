/* The 64-bit integer in the file named by NUMBER_FILE, which may change at any time; or 0. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int64_t *shared;
static volatile int opened;

static int64_t number(void) {
  if (!opened) {
    const char *name = getenv("NUMBER_FILE");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
      void *page = mmap(0, sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
      if (page != MAP_FAILED) shared = page;
      close(file);
    }
    opened = 1;
  }
  return shared ? *shared : 0;
}
