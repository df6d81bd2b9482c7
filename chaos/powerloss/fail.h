/* A disk that cannot do its part is worse than none: the process ends. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail(const char *what) {
  fprintf(stderr, "powerloss: %s: %s\n", what, strerror(errno));
  abort();
}
