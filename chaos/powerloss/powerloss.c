/* LD_PRELOAD library: a disk that forgets, when its machine loses power, what nobody has synced.
 *
 *   POWERLOSS_DATA   files below it are on that disk
 *   POWERLOSS_DIR    where what is needed to forget is kept; not below POWERLOSS_DATA
 *   POWERLOSS_KEEP   of each file a random part of its unsynced writes survives, the first ones; left out, none does
 *   POWERLOSS_LYING  a file: while it exists, the disk answers every sync without doing it
 *   POWERLOSS_CACHE  milliseconds: the disk answers every sync at once, and has done it so much later, as one with a write cache that loses its
 *                    content and takes no flush. A process that ends or replaces itself leaves it the time; one that is killed does not
 *   POWERLOSS_PORT   where the process answers any HTTP request with what the disk has lost and holds, in Prometheus' text format, and is told
 *                    what is wrong with the machine for a while (trouble.h, requests.c): POST
 *                    /spoil?id=1&errno=28&percent=100&syncs=0&delay_ms=0&for_ms=20000 and the disk refuses writes, or syncs and cuts too, or does
 *                    them late; /network, /clock, /processors and /memory are the other paths
 *
 * Writes go to the file at once, so that reads see them; before each of them, what it overwrites and the file's size go into an undo log of
 * that file. A sync makes the log's records void. However a process ends, the next one that is started with the same POWERLOSS_DIR undoes
 * what is left in the logs before its main() runs: to it the machine has lost power. What was undone is in POWERLOSS_DIR/lost, one line each time.
 * Where POWERLOSS_DATA cannot be, as in a container without its volume, there is no such disk, and nothing answers.
 *
 * Names are not forgotten: files stay created, renamed and removed, as with a journaling file system that has just written its journal. A write
 * cache keeps the last removals and replacements to itself as well (names.h): what it has is older, but fits together.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"
#include "http.h"
#include "names.h"
#include "network.h"
#include "next.h"
#include "requests.h"
#include "spoil.h"
#include "thread.h"
#include "trouble.h"

#define TABLE 4096

NEXT(ssize_t, write, int, const void *, size_t)
NEXT(ssize_t, pwrite, int, const void *, size_t, off_t)
NEXT(ssize_t, writev, int, const struct iovec *, int)
NEXT(ssize_t, pwritev, int, const struct iovec *, int, off_t)
NEXT(ssize_t, pwritev2, int, const struct iovec *, int, off_t, int)
NEXT(int, ftruncate, int, off_t)
NEXT(int, fallocate, int, int, off_t, off_t)
NEXT(int, posix_fallocate, int, off_t, off_t)
NEXT(int, fsync, int)
NEXT(int, fdatasync, int)
NEXT(int, open, const char *, int, ...)
NEXT(int, unlink, const char *)
NEXT(int, unlinkat, int, const char *, int)
NEXT(int, remove, const char *)
NEXT(int, rename, const char *, const char *)
NEXT(int, execv, const char *, char *const[])

struct header {
  uint64_t from; /* records before it are void */
};
struct record {
  uint64_t offset, length; /* of the old bytes, which follow */
  uint64_t size;           /* of the file before the write */
};

/* A file, whatever its name. */
struct state {
  struct state *next;
  dev_t dev;
  ino_t ino;
  pthread_mutex_t mutex; /* held over each write, so that a sync knows which were complete when it began */
  int file, undo;        /* descriptors of our own */
  uint64_t from, end;
  uint64_t emptied; /* how often the log was cut: ends that were taken earlier mean nothing then */
  int users, dropped; /* under table_mutex */
};

static char data[PATH_MAX], directory[PATH_MAX];
static int active;
static const char *lying;
static long cache_ms;
static uint64_t watched_writes; /* atomic */
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct state *table[TABLE];

static void undo_name(char *name, dev_t dev, ino_t ino) {
  if (snprintf(name, PATH_MAX, "%s/%lx-%lx.undo", directory, (unsigned long)dev, (unsigned long)ino) >= PATH_MAX) fail("name");
}

static void put(int fd, const void *bytes, size_t length, uint64_t at) {
  for (const char *from = bytes; length > 0;) {
    const ssize_t written = next_pwrite(fd, from, length, (off_t)at);
    if (written < 0 && errno != EINTR) fail("write");
    if (written > 0) from += written, at += (uint64_t)written, length -= (size_t)written;
  }
}

/* Fewer bytes than were asked for where the file ends. */
static size_t get(int fd, void *bytes, size_t length, uint64_t at) {
  size_t had = 0;
  while (had < length) {
    const ssize_t count = pread(fd, (char *)bytes + had, length - had, (off_t)(at + had));
    if (count < 0 && errno != EINTR) fail("read");
    if (count == 0) break;
    if (count > 0) had += (size_t)count;
  }
  return had;
}

static void put_header(struct state *s) {
  const struct header header = {s->from};
  put(s->undo, &header, sizeof header, 0);
}

static int watched(int fd, struct stat *status) {
  char link[64], path[PATH_MAX];
  if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode) || status->st_nlink == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, data, strlen(data)) == 0 && path[strlen(data)] == '/';
}

static struct state *new_state(int fd, const struct stat *status) {
  struct state *s = calloc(1, sizeof *s);
  if (s == NULL) fail("memory");
  char name[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  s->dev = status->st_dev, s->ino = status->st_ino;
  pthread_mutex_init(&s->mutex, NULL);
  s->file = next_open(name, O_RDONLY | O_CLOEXEC);
  undo_name(name, s->dev, s->ino);
  s->undo = next_open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (s->file < 0 || s->undo < 0) fail(name);
  s->from = s->end = sizeof(struct header);
  put_header(s);
  return s;
}

static struct state **slot(dev_t dev, ino_t ino) {
  struct state **s = &table[(dev * 31 + ino) % TABLE];
  while (*s != NULL && ((*s)->dev != dev || (*s)->ino != ino)) s = &(*s)->next;
  return s;
}

/* The state of a file on the disk that forgets, locked; NULL for any other. Descriptors of files that were unlinked are of no account. */
static struct state *lock_state(int fd) {
  struct stat status;
  if (!active) return NULL;
  const int error = errno;
  struct state *found = NULL;
  if (watched(fd, &status)) {
    pthread_mutex_lock(&table_mutex);
    struct state **s = slot(status.st_dev, status.st_ino);
    if (*s == NULL) *s = new_state(fd, &status);
    found = *s;
    found->users++;
    pthread_mutex_unlock(&table_mutex);
    pthread_mutex_lock(&found->mutex);
  }
  errno = error;
  return found;
}

static void release_if_unused(struct state *s) {
  if (!s->dropped || s->users > 0) return;
  close(s->file);
  close(s->undo);
  pthread_mutex_destroy(&s->mutex);
  free(s);
}

static void unlock_state(struct state *s) {
  const int error = errno;
  pthread_mutex_unlock(&s->mutex);
  pthread_mutex_lock(&table_mutex);
  s->users--;
  release_if_unused(s);
  pthread_mutex_unlock(&table_mutex);
  errno = error;
}

static void drop(dev_t dev, ino_t ino) {
  char name[PATH_MAX];
  pthread_mutex_lock(&table_mutex);
  struct state **s = slot(dev, ino);
  if (*s != NULL) {
    struct state *dropped = *s;
    *s = dropped->next;
    dropped->dropped = 1;
    release_if_unused(dropped);
  }
  undo_name(name, dev, ino);
  next_unlink(name);
  pthread_mutex_unlock(&table_mutex);
}

static void remember(struct state *s, uint64_t offset, uint64_t length) {
  struct stat status;
  __atomic_add_fetch(&watched_writes, 1, __ATOMIC_RELAXED);
  if (fstat(s->file, &status) != 0) fail("fstat");
  const uint64_t size = (uint64_t)status.st_size;
  if (offset >= size) length = 0;
  else if (length > size - offset) length = size - offset;
  const size_t bytes = sizeof(struct record) + length;
  char *record = malloc(bytes);
  if (record == NULL) fail("memory");
  const struct record head = {offset, length, size};
  memcpy(record, &head, sizeof head);
  if (get(s->file, record + sizeof head, length, offset) != length) fail("read what is overwritten");
  put(s->undo, record, bytes, s->end); /* before the write itself: one that is cut short has had no effect */
  s->end += bytes;
  free(record);
}

static uint64_t position(int fd) {
  if (fcntl(fd, F_GETFL) & O_APPEND) {
    struct stat status;
    return fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
  }
  const off_t at = lseek(fd, 0, SEEK_CUR);
  return at < 0 ? 0 : (uint64_t)at;
}

static size_t total(const struct iovec *pieces, int count) {
  size_t all = 0;
  for (int i = 0; i < count; i++) all += pieces[i].iov_len;
  return all;
}

/* `call` with what it may overwrite remembered. Refused as what it is, it has had no effect, and tells by `refuse(errno)`. */
#define REMEMBERED_AS(is, refuse, fd, offset, length, call) \
  struct state *s = lock_state(fd);                      \
  if (s == NULL) return call;                            \
  const int refused = spoil_meet(is);                    \
  if (refused != 0) {                                    \
    unlock_state(s);                                     \
    return refuse(refused);                              \
  }                                                      \
  remember(s, (uint64_t)(offset), (uint64_t)(length));   \
  const __typeof__(call) result = call;                  \
  unlock_state(s);                                       \
  return result
#define REMEMBERED(fd, offset, length, call) REMEMBERED_AS(SPOILED_WRITE, by_errno, fd, offset, length, call)

static int by_errno(int error) {
  errno = error;
  return -1;
}
static int by_result(int error) { return error; }

ssize_t write(int fd, const void *bytes, size_t length) {
  if (next_write == NULL) find_write(); /* other constructors may print before ours runs */
  REMEMBERED(fd, position(fd), length, next_write(fd, bytes, length));
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  if (next_pwrite == NULL) find_pwrite();
  REMEMBERED(fd, at, length, next_pwrite(fd, bytes, length, at));
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  if (next_writev == NULL) find_writev();
  REMEMBERED(fd, position(fd), total(pieces, count), next_writev(fd, pieces, count));
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) {
  if (next_pwritev == NULL) find_pwritev();
  REMEMBERED(fd, at, total(pieces, count), next_pwritev(fd, pieces, count, at));
}
ssize_t pwritev2(int fd, const struct iovec *pieces, int count, off_t at, int flags) {
  if (next_pwritev2 == NULL) find_pwritev2();
  REMEMBERED(fd, at < 0 ? (off_t)position(fd) : at, total(pieces, count), next_pwritev2(fd, pieces, count, at, flags));
}
int ftruncate(int fd, off_t size) {
  if (next_ftruncate == NULL) find_ftruncate();
  REMEMBERED_AS(SPOILED_CUT, by_errno, fd, size, INT64_MAX, next_ftruncate(fd, size));
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
  if (next_fallocate == NULL) find_fallocate();
  if (mode == FALLOC_FL_KEEP_SIZE) return next_fallocate(fd, mode, offset, length);
  REMEMBERED(fd, offset, mode == 0 ? 0 : length, next_fallocate(fd, mode, offset, length));
}
int posix_fallocate(int fd, off_t offset, off_t length) {
  if (next_posix_fallocate == NULL) find_posix_fallocate();
  REMEMBERED_AS(SPOILED_WRITE, by_result, fd, offset, 0, next_posix_fallocate(fd, offset, length));
}

static void make_void(struct state *s, uint64_t end, uint64_t emptied) {
  if (s->emptied != emptied) return; /* another sync has done it */
  if (end > s->from) s->from = end;
  put_header(s);
  if (s->end != s->from) return;
  if (next_ftruncate(s->undo, sizeof(struct header)) != 0) fail("ftruncate");
  s->from = s->end = sizeof(struct header);
  s->emptied++;
  put_header(s);
}

/* --- a write cache: what was answered, and is not on the disk yet, in the order in which it comes there --- */

struct cached {
  struct cached *next;
  int64_t due; /* ns */
  struct state *state; /* that was synced, counted among its users */
  uint64_t end, emptied;
  char *kept; /* or a name that has gone */
};

static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct cached *first_cached, **last_cached = &first_cached;

static int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void put_into_cache(struct cached given) {
  struct cached *c = malloc(sizeof *c);
  if (c == NULL) fail("memory");
  pthread_mutex_lock(&cache_mutex);
  *c = given;
  c->due = monotonic_ns() + cache_ms * 1000000;
  *last_cached = c;
  last_cached = &c->next;
  pthread_mutex_unlock(&cache_mutex);
}

static void write_from_cache(const struct cached *c) {
  dev_t dev;
  ino_t ino;
  if (c->kept != NULL) {
    if (names_let_go(c->kept, &dev, &ino)) drop(dev, ino);
    free(c->kept);
    return;
  }
  pthread_mutex_lock(&c->state->mutex);
  make_void(c->state, c->end, c->emptied);
  unlock_state(c->state);
}

/* Puts on the disk what is due by then. One at a time does it, so that none overtakes another. */
static void drain_cache(int64_t by) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  for (;;) {
    pthread_mutex_lock(&cache_mutex);
    struct cached *c = first_cached != NULL && first_cached->due <= by ? first_cached : NULL;
    if (c != NULL && (first_cached = c->next) == NULL) last_cached = &first_cached;
    pthread_mutex_unlock(&cache_mutex);
    if (c == NULL) break;
    write_from_cache(c);
    free(c);
  }
  pthread_mutex_unlock(&one);
}

static void *drain_for_ever(void *ignored) {
  for (;; usleep(5000)) drain_cache(monotonic_ns());
  return ignored;
}

__attribute__((destructor)) static void leave_it_the_time(void) { drain_cache(INT64_MAX); }

int execv(const char *path, char *const arguments[]) {
  if (next_execv == NULL) find_execv();
  drain_cache(INT64_MAX);
  return next_execv(path, arguments);
}

/* What was written before the sync began is on the disk once it has ended. */
static int sync_file(int fd, int (*real)(int)) {
  struct state *s = lock_state(fd);
  if (s == NULL) return real(fd);
  const uint64_t end = s->end, emptied = s->emptied;
  pthread_mutex_unlock(&s->mutex); /* others write meanwhile */
  const int refused = spoil_meet(SPOILED_SYNC);
  if (refused != 0) {
    pthread_mutex_lock(&s->mutex);
    unlock_state(s);
    return by_errno(refused);
  }
  if (cache_ms > 0) {
    put_into_cache((struct cached){.state = s, .end = end, .emptied = emptied});
    return 0;
  }
  const int lies = lying != NULL && access(lying, F_OK) == 0;
  const int result = lies ? 0 : real(fd);
  const int error = errno;
  pthread_mutex_lock(&s->mutex);
  if (result == 0 && !lies) make_void(s, end, emptied);
  unlock_state(s);
  errno = error;
  return result;
}
int fsync(int fd) {
  if (next_fsync == NULL) find_fsync();
  return sync_file(fd, next_fsync);
}
int fdatasync(int fd) {
  if (next_fdatasync == NULL) find_fdatasync();
  return sync_file(fd, next_fdatasync);
}

static void remember_all(const char *path) {
  const int fd = next_open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct state *s = lock_state(fd);
  if (s != NULL) {
    remember(s, 0, INT64_MAX);
    unlock_state(s);
  }
  close(fd);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (next_open == NULL) find_open();
  if (active && (flags & O_TRUNC) && !(flags & O_EXCL)) remember_all(path);
  return next_open(path, flags, mode);
}
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* A file whose last name goes is no concern of a later power loss: at once, or once the write cache knows of it. */
#define DROPPED(at, path, call)                                                                      \
  struct stat before;                                                                                \
  char kept[PATH_MAX];                                                                               \
  const int last = active && fstatat(at, path, &before, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(before.st_mode) && before.st_nlink == 1; \
  const int is_kept = active && cache_ms > 0 && names_keep(at, path, data, kept);                    \
  const int result = call;                                                                           \
  const int error = errno;                                                                           \
  if (is_kept) put_into_cache((struct cached){.kept = copy_of(kept)});                               \
  else if (result == 0 && last) drop(before.st_dev, before.st_ino);                                  \
  errno = error;                                                                                     \
  return result

static char *copy_of(const char *text) {
  char *copy = strdup(text);
  if (copy == NULL) fail("memory");
  return copy;
}

int unlink(const char *path) {
  if (next_unlink == NULL) find_unlink();
  DROPPED(AT_FDCWD, path, next_unlink(path));
}
int unlinkat(int at, const char *path, int flags) {
  if (next_unlinkat == NULL) find_unlinkat();
  DROPPED(at, path, next_unlinkat(at, path, flags));
}
int remove(const char *path) {
  if (next_remove == NULL) find_remove();
  DROPPED(AT_FDCWD, path, next_remove(path));
}
int rename(const char *from, const char *to) {
  if (next_rename == NULL) find_rename();
  DROPPED(AT_FDCWD, to, next_rename(from, to));
}

/* --- at the start: forget --- */

static uint64_t lost_writes, lost_bytes, lost_files, starts;
static unsigned short random_state[3];
static int keeps_some;

struct position {
  uint64_t at;
  struct record record;
};

static void forget(int file, int undo) {
  struct header header = {0};
  struct stat status;
  if (get(undo, &header, sizeof header, 0) != sizeof header || fstat(undo, &status) != 0) return;
  struct position *all = NULL;
  size_t count = 0;
  for (uint64_t at = header.from; at < (uint64_t)status.st_size; count++) {
    if ((count & (count + 1)) == 0) all = realloc(all, 2 * (count + 1) * sizeof *all);
    if (all == NULL) fail("memory");
    struct position *p = &all[count];
    if (get(undo, &p->record, sizeof p->record, at) != sizeof p->record) break;
    p->at = at + sizeof p->record;
    at = p->at + p->record.length;
    if (at > (uint64_t)status.st_size) break; /* killed while it was written: the write had not begun */
  }
  const size_t kept = keeps_some && count > 0 ? (size_t)nrand48(random_state) % (count + 1) : 0;
  if (count > kept) lost_files++;
  for (size_t i = count; i-- > kept;) {
    const struct record *r = &all[i].record;
    char *old = malloc(r->length + 1);
    if (old == NULL || get(undo, old, r->length, all[i].at) != r->length) fail("read an undo log");
    if (fstat(file, &status) != 0) fail("fstat");
    lost_bytes += (uint64_t)status.st_size > r->size ? (uint64_t)status.st_size - r->size + r->length : r->length;
    if (next_ftruncate(file, (off_t)r->size) != 0) fail("ftruncate");
    put(file, old, r->length, r->offset);
    free(old);
    lost_writes++;
  }
  free(all);
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)where;
  if (kind != FTW_F || !S_ISREG(status->st_mode)) return 0;
  char name[PATH_MAX];
  undo_name(name, status->st_dev, status->st_ino);
  const int undo = next_open(name, O_RDONLY | O_CLOEXEC);
  if (undo < 0) return 0;
  const int file = next_open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) fail(path);
  forget(file, undo);
  close(file);
  close(undo);
  next_unlink(name);
  return 0;
}

static int remove_log(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)status, (void)where;
  const size_t length = strlen(path);
  if (kind == FTW_F && length > 5 && strcmp(path + length - 5, ".undo") == 0) next_unlink(path);
  return 0;
}

static void tell(void) {
  char text[PATH_MAX];
  if (snprintf(text, sizeof text, "%s/lost", directory) >= (int)sizeof text) fail("name");
  const int fd = next_open(text, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  char line;
  for (starts = 1; fd >= 0 && read(fd, &line, 1) == 1;) starts += line == '\n';
  const int length = snprintf(text, sizeof text, "%lu unsynced writes lost, %lu bytes in %lu files\n", (unsigned long)lost_writes,
                              (unsigned long)lost_bytes, (unsigned long)lost_files);
  if (fd < 0 || next_write(fd, text, (size_t)length) != length) fail("lost");
  close(fd);
  fprintf(stderr, "powerloss: %s", text);
}

/* --- what the disk says of itself, and is told --- */

static const char figures[] =
    "# HELP powerloss_starts Processes that have begun on this disk: each but the first after a loss of power.\n# TYPE powerloss_starts gauge\n"
    "powerloss_starts %lu\n"
    "# HELP powerloss_lost_writes Unsynced writes that were undone before this process began.\n# TYPE powerloss_lost_writes gauge\n"
    "powerloss_lost_writes %lu\n"
    "# HELP powerloss_lost_bytes Bytes of these.\n# TYPE powerloss_lost_bytes gauge\n"
    "powerloss_lost_bytes %lu\n"
    "# HELP powerloss_lost_files Files of these.\n# TYPE powerloss_lost_files gauge\n"
    "powerloss_lost_files %lu\n"
    "# HELP powerloss_watched_writes_total Writes of this process to the disk.\n# TYPE powerloss_watched_writes_total counter\n"
    "powerloss_watched_writes_total %lu\n"
    "# HELP powerloss_write_cache_seconds How much later than it says the disk has what was synced.\n# TYPE powerloss_write_cache_seconds gauge\n"
    "powerloss_write_cache_seconds %.3f\n";

static int answer(const char *request, char *body, int size) {
  requests_obey(request);
  const int length = snprintf(body, (size_t)size, figures, (unsigned long)starts, (unsigned long)lost_writes, (unsigned long)lost_bytes,
                              (unsigned long)lost_files, (unsigned long)__atomic_load_n(&watched_writes, __ATOMIC_RELAXED), (double)cache_ms / 1000);
  return length + requests_tell(body + length, size - length);
}

/* One process at a time has the disk: a child that inherits the environment leaves it alone. */
static int take_disk(void) {
  char name[PATH_MAX];
  if (snprintf(name, sizeof name, "%s/lock", directory) >= (int)sizeof name) fail("name");
  mkdir(directory, 0700);
  const int fd = next_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) fail(name);
  return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

__attribute__((constructor)) static void start(void) {
  find_write(), find_pwrite(), find_writev(), find_pwritev(), find_pwritev2(), find_ftruncate(), find_fallocate(), find_posix_fallocate(), find_fsync();
  find_fdatasync(), find_open(), find_unlink(), find_unlinkat(), find_remove(), find_rename(), find_execv();
  const char *where = getenv("POWERLOSS_DATA"), *logs = getenv("POWERLOSS_DIR"), *cache = getenv("POWERLOSS_CACHE"), *port = getenv("POWERLOSS_PORT");
  if (where == NULL || logs == NULL) return;
  snprintf(directory, sizeof directory, "%s", logs);
  if (mkdir(where, 0755) != 0 && (errno == ENOENT || errno == EROFS)) return;
  if (realpath(where, data) == NULL) fail(where);
  if (!take_disk()) return;
  lying = getenv("POWERLOSS_LYING");
  keeps_some = getenv("POWERLOSS_KEEP") != NULL;
  cache_ms = cache != NULL ? atol(cache) : 0;
  const int64_t now = monotonic_ns();
  memcpy(random_state, &now, sizeof random_state);
  names_open(directory);
  names_give_back();
  nftw(data, visit, 16, FTW_PHYS);
  nftw(directory, remove_log, 16, FTW_PHYS);
  tell();
  trouble_open(directory);
  network_open();
  active = 1;
  if (cache_ms > 0) library_thread(drain_for_ever, NULL);
  if (port != NULL) http_serve(atoi(port), answer);
}

__typeof__(pwrite) pwrite64 __attribute__((alias("pwrite")));
__typeof__(pwritev) pwritev64 __attribute__((alias("pwritev")));
__typeof__(pwritev2) pwritev64v2 __attribute__((alias("pwritev2")));
__typeof__(ftruncate) ftruncate64 __attribute__((alias("ftruncate")));
__typeof__(fallocate) fallocate64 __attribute__((alias("fallocate")));
__typeof__(posix_fallocate) posix_fallocate64 __attribute__((alias("posix_fallocate")));
__typeof__(open) open64 __attribute__((alias("open")));
__typeof__(creat) creat64 __attribute__((alias("creat")));
