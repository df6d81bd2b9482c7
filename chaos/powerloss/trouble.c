#define _GNU_SOURCE
#include "trouble.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

/* In a file that the processes on the machine map one after the other. */
struct kept {
  struct trouble trouble;
  int64_t until_ms; /* of the wall's clock, which goes on between two processes; 0 when nothing is wrong */
  uint64_t count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept;

/* The kernel's, whatever the process is told of it. */
static int64_t now_ms(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

void trouble_open(const char *directory) {
  char name[PATH_MAX];
  if (snprintf(name, sizeof name, "%s/troubles", directory) >= (int)sizeof name) fail("name");
  const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, TROUBLES * sizeof *kept) != 0) fail(name);
  struct kept *mapped = mmap(NULL, TROUBLES * sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) fail(name);
  close(fd);
  kept = mapped;
}

int trouble_begin(enum trouble_kind kind, const struct trouble *trouble) {
  struct kept *k = &kept[kind];
  pthread_mutex_lock(&mutex);
  const int begins = trouble->for_ms > 0 && trouble->id != k->trouble.id;
  if (begins) *k = (struct kept){*trouble, now_ms() + trouble->for_ms, 0};
  else if (trouble->for_ms <= 0) *k = (struct kept){0};
  pthread_mutex_unlock(&mutex);
  return begins;
}

int trouble_now(enum trouble_kind kind, struct trouble *trouble) {
  if (kept == NULL || __atomic_load_n(&kept[kind].until_ms, __ATOMIC_RELAXED) == 0) return 0;
  struct kept *k = &kept[kind];
  pthread_mutex_lock(&mutex);
  if (now_ms() >= k->until_ms) k->until_ms = 0; /* what it was and has done stays there to be asked for */
  const int is_wrong = k->until_ms != 0;
  *trouble = k->trouble;
  pthread_mutex_unlock(&mutex);
  return is_wrong;
}

void trouble_add(enum trouble_kind kind, uint64_t more) { __atomic_add_fetch(&kept[kind].count, more, __ATOMIC_RELAXED); }

uint64_t trouble_count(enum trouble_kind kind, uint32_t *id) {
  pthread_mutex_lock(&mutex);
  const uint64_t count = __atomic_load_n(&kept[kind].count, __ATOMIC_RELAXED);
  *id = kept[kind].trouble.id;
  pthread_mutex_unlock(&mutex);
  return count;
}
