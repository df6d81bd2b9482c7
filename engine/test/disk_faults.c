/* LD_PRELOAD: makes system calls on the binary log fail on command. The file named by DISK_FAULTS says which and how,
 * as long as it exists: "fdatasync 5" (the call, the errno). Each failure is counted there by one more line. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_log(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  const char *name = strrchr(path, '/');
  return name != NULL && strncmp(name, "/binlog.", 8) == 0 && isdigit((unsigned char)name[8]);
}

/* 0, or the errno this call shall fail with. */
static int fault(const char *call, int fd) {
  const char *orders = getenv("DISK_FAULTS");
  if (orders == NULL) return 0;
  FILE *file = fopen(orders, "r+");
  if (file == NULL) return 0;
  char wanted[32] = "";
  int error = 0;
  const int read = fscanf(file, "%31s %d", wanted, &error);
  const int fails = read == 2 && strcmp(wanted, call) == 0 && is_log(fd);
  if (fails) {
    fseek(file, 0, SEEK_END);
    fprintf(file, "failed\n");
  }
  fclose(file);
  return fails ? error : 0;
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  const int error = fault("fdatasync", fd);
  if (error == 0) return real(fd);
  errno = error;
  return -1;
}

static ssize_t write_at(int fd, const struct iovec *pieces, int count, off_t offset) {
  static ssize_t (*real)(int, const struct iovec *, int, off_t);
  if (!real) real = (ssize_t(*)(int, const struct iovec *, int, off_t))dlsym(RTLD_NEXT, "pwritev");
  const int error = fault("pwritev", fd);
  if (error == 0) return real(fd, pieces, count, offset);
  errno = error;
  return -1;
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) { return write_at(fd, pieces, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off_t offset) { return write_at(fd, pieces, count, offset); }
