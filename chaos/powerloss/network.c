/* What is late is kept back here, and sent by a thread when it is due: nobody who sends waits for it. Connections of which nothing is kept back
 * cost a look at a number. Until then closing, the end of a stream, a full buffer and its end are told to the process, or to the kernel, as if the
 * bytes were where the process believes that they are. */
#define _GNU_SOURCE
#include "network.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fail.h"
#include "late.h"
#include "next.h"
#include "thread.h"

NEXT(ssize_t, send, int, const void *, size_t, int)
NEXT(ssize_t, sendmsg, int, const struct msghdr *, int)
NEXT(int, shutdown, int, int)
NEXT(int, close, int)
NEXT(int, epoll_ctl, int, int, int, struct epoll_event *)

/* As much as the kernel's buffer may have. */
#define ROOM (4L << 20)
#define EPOLLS 64

struct piece {
  struct piece *next;
  int64_t due; /* ns */
  size_t length, sent;
  char bytes[];
};

/* A connection of which something is kept back. */
struct line {
  struct line *next;
  int fd;       /* the process's, or one of our own once it has closed its own */
  int closed;   /* by the process */
  int shut;     /* by the process, for sending */
  struct piece *first, **last;
  size_t held;
  int epoll;                 /* that wants to know when there is room again, or -1 */
  struct epoll_event awaits; /* what for */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_lines = PTHREAD_COND_INITIALIZER, has_room = PTHREAD_COND_INITIALIZER;
static struct line *lines;
static int line_count;        /* atomic, to look at without the mutex */
static int epolls[EPOLLS];    /* those of the process */
static int epoll_count;

static int is_quiet(void) {
  struct trouble trouble;
  return library_thread_runs || (__atomic_load_n(&line_count, __ATOMIC_ACQUIRE) == 0 && !trouble_now(TROUBLE_NETWORK, &trouble));
}

static struct line *find(int fd) {
  struct line *line = lines;
  while (line != NULL && (line->closed || line->fd != fd)) line = line->next;
  return line;
}

static int is_tcp(int fd) {
  int protocol = 0;
  socklen_t size = sizeof protocol;
  return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == IPPROTO_TCP;
}

static struct line *new_line(int fd) {
  struct line *line = calloc(1, sizeof *line);
  if (line == NULL) fail("memory");
  *line = (struct line){.next = lines, .fd = fd, .last = &line->first, .epoll = -1};
  lines = line;
  __atomic_add_fetch(&line_count, 1, __ATOMIC_RELEASE);
  pthread_cond_signal(&has_lines);
  return line;
}

static size_t total(const struct iovec *from, size_t count) {
  size_t all = 0;
  for (size_t i = 0; i < count; i++) all += from[i].iov_len;
  return all;
}

static void keep_back(struct line *line, const struct iovec *from, size_t count, size_t length, int64_t due) {
  struct piece *piece = malloc(sizeof *piece + length);
  if (piece == NULL) fail("memory");
  *piece = (struct piece){.due = due, .length = length};
  for (size_t i = 0, at = 0; i < count; at += from[i++].iov_len) memcpy(piece->bytes + at, from[i].iov_base, from[i].iov_len);
  *line->last = piece;
  line->last = &piece->next;
  line->held += length;
}

/* --- what the process calls --- */

static int waits(int fd, int flags) { return !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK); }

/* 0 when there is room, or an errno. */
static int await_room(int fd, int flags) {
  struct line *line;
  while ((line = find(fd)) != NULL) {
    if (line->shut) return EPIPE;
    if (line->held < ROOM) return 0;
    if (!waits(fd, flags)) return EAGAIN;
    pthread_cond_wait(&has_room, &mutex);
  }
  return 0;
}

/* 0 when the kernel can have it now; otherwise `result` is the call's. */
static int is_late(int fd, const struct iovec *from, size_t count, int flags, ssize_t *result) {
  pthread_mutex_lock(&mutex);
  const int error = await_room(fd, flags);
  struct line *line = find(fd);
  const int64_t now = late_clock(), due = error != 0 ? now : late_arrival(now);
  const int late = error != 0 || line != NULL || (due > now && is_tcp(fd));
  if (error != 0) {
    *result = -1, errno = error;
  } else if (late) {
    if (due > now) trouble_add(TROUBLE_NETWORK, 1);
    *result = (ssize_t)total(from, count);
    keep_back(line != NULL ? line : new_line(fd), from, count, (size_t)*result, due);
  }
  pthread_mutex_unlock(&mutex);
  return late;
}

#define UNLESS_LATE(fd, from, count, flags, call)                       \
  ssize_t result;                                                       \
  if (is_quiet() || !is_late(fd, from, count, flags, &result)) return call; \
  return result

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  if (next_send == NULL) find_send();
  const struct iovec piece = {(void *)(uintptr_t)bytes, length};
  UNLESS_LATE(fd, &piece, 1, flags, next_send(fd, bytes, length, flags));
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  if (next_sendmsg == NULL) find_sendmsg();
  UNLESS_LATE(fd, message->msg_iov, message->msg_iovlen, flags, next_sendmsg(fd, message, flags));
}

/* Whoever waits for room is told that there is some. */
static void tell_of_room(struct line *line) {
  if (line->epoll >= 0) next_epoll_ctl(line->epoll, EPOLL_CTL_MOD, line->fd, &line->awaits);
  line->epoll = -1;
  pthread_cond_broadcast(&has_room);
}

/* The end of the stream comes behind what is kept back. */
int shutdown(int fd, int how) {
  if (next_shutdown == NULL) find_shutdown();
  if (is_quiet()) return next_shutdown(fd, how);
  pthread_mutex_lock(&mutex);
  struct line *line = find(fd);
  int result = 0;
  if (line != NULL && how != SHUT_RD) {
    line->shut = 1;
    tell_of_room(line); /* it learns then that it may not send */
  }
  if (line == NULL || how != SHUT_WR) result = next_shutdown(fd, line == NULL ? how : SHUT_RD);
  pthread_mutex_unlock(&mutex);
  return result;
}

/* The connection lives on under another descriptor, of which no epoll of the process may know. */
int close(int fd) {
  if (next_close == NULL) find_close();
  if (is_quiet()) return next_close(fd);
  pthread_mutex_lock(&mutex);
  struct line *line = find(fd);
  if (line != NULL) {
    line->closed = 1, line->epoll = -1;
    for (int i = 0; i < epoll_count; i++) next_epoll_ctl(epolls[i], EPOLL_CTL_DEL, fd, NULL);
    if ((line->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0) fail("descriptor");
  }
  const int result = next_close(fd);
  pthread_mutex_unlock(&mutex);
  return result;
}

static void remember_epoll(int epoll) {
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < epoll_count && epolls[i] != epoll) i++;
  if (i == EPOLLS) fail("more epolls than there is place for");
  epolls[i] = epoll;
  if (i == epoll_count) epoll_count++;
  pthread_mutex_unlock(&mutex);
}

/* The kernel has room where the process was told that there is none. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
  if (next_epoll_ctl == NULL) find_epoll_ctl();
  if (operation == EPOLL_CTL_ADD) remember_epoll(epoll);
  if (is_quiet()) return next_epoll_ctl(epoll, operation, fd, event);
  pthread_mutex_lock(&mutex);
  struct line *line = find(fd);
  struct epoll_event without;
  if (line != NULL) {
    line->epoll = -1;
    if (event != NULL && (event->events & EPOLLOUT) && line->held >= ROOM && !line->shut) {
      line->epoll = epoll, line->awaits = *event;
      without = *event, without.events &= ~(uint32_t)EPOLLOUT;
      event = &without;
    }
  }
  const int result = next_epoll_ctl(epoll, operation, fd, event);
  pthread_mutex_unlock(&mutex);
  return result;
}

/* --- the thread that sends --- */

static void drop_first(struct line *line) {
  struct piece *piece = line->first;
  line->held -= piece->length;
  if ((line->first = piece->next) == NULL) line->last = &line->first;
  free(piece);
}

static void send_what_is_due(struct line *line, int64_t now) {
  while (line->first != NULL && line->first->due <= now) {
    struct piece *piece = line->first;
    const ssize_t sent = next_send(line->fd, piece->bytes + piece->sent, piece->length - piece->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (sent < 0) {
      while (line->first != NULL) drop_first(line); /* the kernel tells the process */
    } else if ((piece->sent += (size_t)sent) == piece->length) {
      drop_first(line);
    }
  }
  if (line->held < ROOM / 2) tell_of_room(line);
}

/* Nothing of it is kept back any more. */
static void end_line(struct line *line) {
  if (line->shut) next_shutdown(line->fd, SHUT_WR);
  if (line->closed) next_close(line->fd);
  free(line);
  __atomic_sub_fetch(&line_count, 1, __ATOMIC_RELEASE);
}

static void *send_late(void *ignored) {
  for (;; usleep(1000)) {
    pthread_mutex_lock(&mutex);
    while (lines == NULL) pthread_cond_wait(&has_lines, &mutex);
    struct trouble trouble;
    const int64_t now = trouble_now(TROUBLE_NETWORK, &trouble) ? late_clock() : INT64_MAX; /* the network is whole again */
    for (struct line **at = &lines; *at != NULL;) {
      struct line *line = *at;
      send_what_is_due(line, now);
      if (line->first != NULL) {
        at = &line->next;
      } else {
        *at = line->next;
        end_line(line);
      }
    }
    pthread_mutex_unlock(&mutex);
  }
  return ignored;
}

void network_open(void) {
  find_send(), find_sendmsg(), find_shutdown(), find_close(), find_epoll_ctl();
  library_thread(send_late, NULL);
}
