/* The C library's own function of a name that this library has as well. */
#pragma once
#include <dlfcn.h>

#define NEXT(result, name, ...)                     \
  static result (*next_##name)(__VA_ARGS__);        \
  static void find_##name(void) {                   \
    *(void **)&next_##name = dlsym(RTLD_NEXT, #name); \
  }
