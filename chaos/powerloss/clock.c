/* The wall's clock as the process is told it (TROUBLE_CLOCK). Clocks that only go forward are right, and so are the times of files. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "next.h"
#include "trouble.h"

#define SECOND INT64_C(1000000000)

typedef int (*timed_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static int (*next_clock_gettime)(clockid_t, struct timespec *);
static timed_wait next_timed_wait;

/* dlsym() may itself ask for the time, so it is not for the first question to find what answers it. */
__attribute__((constructor)) static void find(void) {
  *(void **)&next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  /* An older function of that name knows nothing of present conditions. */
  *(void **)&next_timed_wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (next_timed_wait == NULL) *(void **)&next_timed_wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

static void move(struct timespec *time, int64_t ms) {
  const int64_t ns = time->tv_nsec + ms % 1000 * 1000000;
  const int64_t carried = ns < 0 ? -1 : ns / SECOND;
  time->tv_sec += ms / 1000 + carried;
  time->tv_nsec = ns - carried * SECOND;
}

int clock_gettime(clockid_t which, struct timespec *time) {
  const int result = next_clock_gettime != NULL ? next_clock_gettime(which, time) : (int)syscall(SYS_clock_gettime, which, time);
  struct trouble trouble;
  if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) && trouble_now(TROUBLE_CLOCK, &trouble)) {
    move(time, trouble.clock.offset_ms);
    trouble_add(TROUBLE_CLOCK, 1);
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  if (result == 0) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  if (zone != NULL) memset(zone, 0, sizeof(struct timezone));
  return result;
}

time_t time(time_t *time) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return (time_t)-1;
  if (time != NULL) *time = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec *time, int base) { return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0; }

/* Who waits until a time of that clock has computed it from what it was told. A condition of another clock would be taken for one of this;
 * commitd's wait by pthread_cond_clockwait. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  struct trouble trouble;
  if (next_timed_wait == NULL) find();
  if (!trouble_now(TROUBLE_CLOCK, &trouble)) return next_timed_wait(condition, mutex, until);
  struct timespec moved = *until;
  move(&moved, -trouble.clock.offset_ms);
  return next_timed_wait(condition, mutex, &moved);
}
