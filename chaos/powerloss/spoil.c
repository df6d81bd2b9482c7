#define _GNU_SOURCE
#include "spoil.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

/* In a file that the processes on the disk map one after the other. */
struct kept {
  struct spoil spoil;
  int64_t until_ms; /* of the wall's clock, which goes on between two processes */
  uint64_t asked, met;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

void spoil_open(const char *directory) {
  char name[PATH_MAX];
  if (snprintf(name, sizeof name, "%s/spoiled", directory) >= (int)sizeof name) fail("name");
  const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof *kept) != 0) fail(name);
  kept = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (kept == MAP_FAILED) fail(name);
  close(fd);
}

void spoil_begin(const struct spoil *spoil) {
  pthread_mutex_lock(&mutex);
  if (spoil->for_ms <= 0) *kept = (struct kept){0};
  else if (spoil->id != kept->spoil.id) *kept = (struct kept){*spoil, now_ms() + spoil->for_ms, 0, 0};
  pthread_mutex_unlock(&mutex);
}

int spoil_meet(enum spoiled_call call) {
  if (kept == NULL || __atomic_load_n(&kept->until_ms, __ATOMIC_RELAXED) == 0) return 0;
  pthread_mutex_lock(&mutex);
  const struct spoil spoil = kept->spoil;
  int meets = now_ms() < kept->until_ms && (call == SPOILED_WRITE || spoil.syncs);
  /* Spread evenly, and the same for the same calls. */
  if (meets) meets = (int)(kept->asked++ * UINT64_C(2654435761) % 4294967296 / 42949673) < spoil.percent;
  kept->met += (uint64_t)meets;
  pthread_mutex_unlock(&mutex);
  if (!meets) return 0;
  if (spoil.delay_ms > 0) usleep((useconds_t)spoil.delay_ms * 1000);
  return spoil.error;
}

uint64_t spoil_count(uint32_t *id) {
  pthread_mutex_lock(&mutex);
  const uint64_t met = kept->met;
  *id = kept->spoil.id;
  pthread_mutex_unlock(&mutex);
  return met;
}
