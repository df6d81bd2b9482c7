#include "server/allocator.h"

#ifdef COMMITD_JEMALLOC
#include <jemalloc/jemalloc.h>

#include "server/memory.h"

// What is free goes back to the kernel within a second, also when nobody allocates.
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";

namespace {

void give_back() {
  constexpr const char* kPurgeAllArenas = "arena.4096.purge";  // MALLCTL_ARENAS_ALL
  static_assert(MALLCTL_ARENAS_ALL == 4096);
  mallctl(kPurgeAllArenas, nullptr, nullptr, nullptr, 0);
}

}  // namespace

void commitd::server::watch_allocator() {
  watch_resident_memory(give_back);
}
#else
void commitd::server::watch_allocator() {}
#endif
