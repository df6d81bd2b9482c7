#define _GNU_SOURCE
#include "spoil.h"

#include <stdint.h>
#include <unistd.h>

#include "trouble.h"

int spoil_meet(enum spoiled_call call) {
  static uint64_t asked; /* atomic */
  struct trouble trouble;
  if (!trouble_now(TROUBLE_DISK, &trouble) || (call != SPOILED_WRITE && !trouble.disk.syncs)) return 0;
  /* Spread evenly, and the same for the same calls. */
  const uint64_t turn = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) * UINT64_C(2654435761) % 4294967296 / 42949673;
  if ((int)turn >= trouble.disk.percent) return 0;
  trouble_add(TROUBLE_DISK, 1);
  if (trouble.disk.delay_ms > 0) usleep((useconds_t)trouble.disk.delay_ms * 1000);
  return trouble.disk.error;
}
