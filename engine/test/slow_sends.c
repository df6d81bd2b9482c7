// Loaded in front of the C library: every answer takes its time on the way into the socket, so that what happens
// meanwhile is seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  static ssize_t (*next)(int, const struct msghdr*, int);
  if (!next) next = (ssize_t(*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg");
  usleep(50000);
  return next(fd, message, flags);
}
