/* LD_PRELOAD library: counts and times every call that makes data durable, and can slow each of them down, the same way for any server.
 *
 *   SYNC_SHIM_FILE        counters, shared with whoever maps the file (struct counters)
 *   SYNC_SHIM_DELAY_US    added to every sync
 *   SYNC_SHIM_PER_SECOND  a disk that completes at most so many syncs per second, one after the other
 *
 * A write to a file that was opened with O_SYNC or O_DSYNC is a sync as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS 256 /* eight per doubling of the nanoseconds */
#define MAX_FD 65536

struct counters {
  _Atomic uint64_t syncs, nanoseconds, buckets[BUCKETS];
};

static struct counters nowhere, *counters = &nowhere;
static uint64_t delay_ns, ns_per_sync;
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static uint64_t disk_free_at;
static _Atomic char synchronous[MAX_FD];

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t when) {
  struct timespec t = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
  }
}

static uint64_t number_from(const char *variable) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void start(void) {
  delay_ns = number_from("SYNC_SHIM_DELAY_US") * 1000;
  uint64_t per_second = number_from("SYNC_SHIM_PER_SECOND");
  if (per_second) ns_per_sync = 1000000000u / per_second;
  const char *path = getenv("SYNC_SHIM_FILE");
  int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd < 0 || ftruncate(fd, sizeof *counters) != 0) return;
  void *shared = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared != MAP_FAILED) counters = shared;
}

static unsigned bucket_of(uint64_t ns) {
  if (ns < 16) return 0;
  unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
  unsigned bucket = octave * 8 + (unsigned)((ns >> (octave - 3)) & 7);
  return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static void slow_down(void) {
  if (delay_ns) sleep_until(now() + delay_ns);
  if (!ns_per_sync) return;
  pthread_mutex_lock(&disk);
  uint64_t at = now();
  disk_free_at = (disk_free_at > at ? disk_free_at : at) + ns_per_sync;
  at = disk_free_at;
  pthread_mutex_unlock(&disk);
  sleep_until(at);
}

static void count(uint64_t began) {
  uint64_t took = now() - began;
  atomic_fetch_add_explicit(&counters->syncs, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counters->nanoseconds, took, memory_order_relaxed);
  atomic_fetch_add_explicit(&counters->buckets[bucket_of(took)], 1, memory_order_relaxed);
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

#define SYNC(name, parameters, arguments)                      \
  int name parameters {                                        \
    static __typeof__(&name) next;                             \
    if (!next) next = REAL(name);                              \
    uint64_t began = now();                                    \
    int result = next arguments;                               \
    slow_down();                                               \
    count(began);                                              \
    return result;                                             \
  }

SYNC(fsync, (int fd), (fd))
SYNC(fdatasync, (int fd), (fd))
SYNC(msync, (void *at, size_t size, int flags), (at, size, flags))
SYNC(sync_file_range, (int fd, off64_t at, off64_t size, unsigned flags), (fd, at, size, flags))

#define WRITE(name, parameters, arguments)                                             \
  ssize_t name parameters {                                                            \
    static __typeof__(&name) next;                                                     \
    if (!next) next = REAL(name);                                                      \
    if (fd < 0 || fd >= MAX_FD || !synchronous[fd]) return next arguments;             \
    uint64_t began = now();                                                            \
    ssize_t result = next arguments;                                                   \
    slow_down();                                                                       \
    count(began);                                                                      \
    return result;                                                                     \
  }

WRITE(write, (int fd, const void *data, size_t size), (fd, data, size))
WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRITE(pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
WRITE(writev, (int fd, const struct iovec *pieces, int n), (fd, pieces, n))
WRITE(pwritev, (int fd, const struct iovec *pieces, int n, off_t at), (fd, pieces, n, at))
WRITE(pwritev64, (int fd, const struct iovec *pieces, int n, off64_t at), (fd, pieces, n, at))

static int opened(int fd, int flags) {
  if (fd >= 0 && fd < MAX_FD) synchronous[fd] = (flags & (O_SYNC | O_DSYNC)) != 0;
  return fd;
}

#define MODE                                     \
  va_list rest;                                  \
  va_start(rest, flags);                         \
  mode_t mode = (mode_t)va_arg(rest, unsigned);  \
  va_end(rest);

int open(const char *path, int flags, ...) {
  MODE
  return opened(REAL(open)(path, flags, mode), flags);
}
int open64(const char *path, int flags, ...) {
  MODE
  return opened(REAL(open64)(path, flags, mode), flags);
}
int openat(int directory, const char *path, int flags, ...) {
  MODE
  return opened(REAL(openat)(directory, path, flags, mode), flags);
}
int openat64(int directory, const char *path, int flags, ...) {
  MODE
  return opened(REAL(openat64)(directory, path, flags, mode), flags);
}

int close(int fd) {
  static __typeof__(&close) next;
  if (!next) next = REAL(close);
  opened(fd, 0);
  return next(fd);
}
