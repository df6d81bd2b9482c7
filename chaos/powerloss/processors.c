#include <stdint.h>
#include <time.h>

#include "load.h"
#include "thread.h"

static int64_t used_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * INT64_C(1000) + used.tv_nsec / 1000000;
}

static void *spin(void *id) {
  struct trouble trouble;
  for (int64_t counted = 0; trouble_now(TROUBLE_PROCESSORS, &trouble) && trouble.id == (uint32_t)(uintptr_t)id;) {
    for (volatile int n = 0; n < 1000000; n++) continue;
    const int64_t used = used_ms();
    trouble_add(TROUBLE_PROCESSORS, (uint64_t)(used - counted));
    counted = used;
  }
  return NULL;
}

void processors_begin(const struct trouble *trouble) {
  for (int n = 0; n < trouble->processors.threads; n++) library_thread(spin, (void *)(uintptr_t)trouble->id);
}
