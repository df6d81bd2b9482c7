#define _GNU_SOURCE
#include "names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

/* A file that is kept is linked as PREFIX and a number; its name is in a symbolic link of the same name and SUFFIX. */
#define PREFIX "gone-"
#define SUFFIX ".name"

static char directory[PATH_MAX];
static uint64_t last; /* atomic */

void names_open(const char *where) { snprintf(directory, sizeof directory, "%s", where); }

static void place(char name[PATH_MAX], uint64_t number, const char *suffix) {
  if (snprintf(name, PATH_MAX, "%s/" PREFIX "%lu%s", directory, (unsigned long)number, suffix) >= PATH_MAX) fail("name");
}

int names_keep(int at, const char *path, const char *data, char kept[PATH_MAX]) {
  char link[64], whole[PATH_MAX], name[PATH_MAX];
  const int fd = openat(at, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, whole, sizeof whole - 1);
  const size_t below = strlen(data);
  struct stat status;
  int is_kept = length > 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (is_kept) {
    whole[length] = 0;
    is_kept = strncmp(whole, data, below) == 0 && whole[below] == '/';
  }
  if (is_kept) {
    const uint64_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    place(kept, number, ""), place(name, number, SUFFIX);
    if (symlink(whole, name) != 0 || linkat(AT_FDCWD, link, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) != 0) fail(whole);
  }
  close(fd);
  return is_kept;
}

int names_let_go(const char *kept, dev_t *dev, ino_t *ino) {
  char name[PATH_MAX];
  struct stat status;
  if (snprintf(name, sizeof name, "%s" SUFFIX, kept) >= (int)sizeof name || stat(kept, &status) != 0) fail(kept);
  *dev = status.st_dev, *ino = status.st_ino;
  if (unlink(kept) != 0 || unlink(name) != 0) fail(kept);
  return status.st_nlink == 1;
}

static uint64_t newest(void) {
  uint64_t found = 0;
  DIR *all = opendir(directory);
  for (const struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
    unsigned long number;
    if (sscanf(entry->d_name, PREFIX "%lu" SUFFIX, &number) == 1 && number > found) found = number;
  }
  if (all != NULL) closedir(all);
  return found;
}

void names_give_back(void) {
  char kept[PATH_MAX], name[PATH_MAX], whole[PATH_MAX];
  for (uint64_t number = newest(); number > 0; number--) {
    place(kept, number, ""), place(name, number, SUFFIX);
    const ssize_t length = readlink(name, whole, sizeof whole - 1);
    if (length <= 0) continue;
    whole[length] = 0;
    if (access(kept, F_OK) == 0 && rename(kept, whole) != 0) fail(whole);
    unlink(kept), unlink(name); /* the file is still there where both were one: nothing was removed yet */
  }
}
