#include "plugins/shared_library.h"

#include <dlfcn.h>

#include <cerrno>

#include "plugins/plugin_errors.h"

namespace commitd::plugins {

Result<SharedLibrary> SharedLibrary::open(const std::string& path, bool unloads) {
  errno = 0;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (unloads ? 0 : RTLD_NODELETE));
  if (handle != nullptr) return SharedLibrary(handle);
  const int number = errno;
  const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own
  return cannot_open(path, number, why == nullptr ? "" : why);
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::symbol(const char* name) const {
  return dlsym(handle_, name);
}

}  // namespace commitd::plugins
