// jemalloc's settings (cmake/Allocator.cmake): what is free goes back to the kernel within a second, also
// when nobody allocates.
extern "C" const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
