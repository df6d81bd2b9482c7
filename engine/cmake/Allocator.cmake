# What the server's memory comes from. jemalloc gives back what is free within a second: of glibc's 1,026 MiB behind a million rows some 200 were in use.
# The sanitizers bring their own.
set(COMMITD_ALLOCATOR "")
if(NOT COMMITD_SANITIZE)
  find_library(JEMALLOC NAMES libjemalloc_pic.a REQUIRED)
  set(COMMITD_ALLOCATOR ${JEMALLOC} ${CMAKE_DL_LIBS})
endif()
