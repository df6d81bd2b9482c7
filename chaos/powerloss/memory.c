#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load.h"
#include "thread.h"

#define STEP (1L << 20)

static int goes_on(uint32_t id) {
  struct trouble trouble;
  return trouble_now(TROUBLE_MEMORY, &trouble) && trouble.id == id;
}

static void *hold(void *ignored) {
  struct trouble trouble;
  if (!trouble_now(TROUBLE_MEMORY, &trouble)) return ignored;
  const long all = trouble.memory.bytes;
  char *memory = mmap(NULL, (size_t)all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return ignored; /* nothing is counted */
  for (long at = 0, more; at < all && goes_on(trouble.id); at += more) {
    more = all - at < STEP ? all - at : STEP;
    memset(memory + at, 1, (size_t)more);
    trouble_add(TROUBLE_MEMORY, (uint64_t)more);
  }
  while (goes_on(trouble.id)) usleep(10000);
  munmap(memory, (size_t)all);
  return ignored;
}

void memory_begin(const struct trouble *trouble) {
  if (trouble->memory.bytes > 0) library_thread(hold, NULL);
}
