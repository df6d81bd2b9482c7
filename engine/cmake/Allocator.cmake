# What the server's memory comes from. jemalloc gives back what is free within seconds, and wastes little between what is not: glibc's kept 1,026 MiB
# resident of which 200 were in use (README, "Memory"). The sanitizers bring their own.
set(COMMITD_ALLOCATOR "")
if(NOT COMMITD_SANITIZE)
  find_library(JEMALLOC NAMES libjemalloc_pic.a REQUIRED)
  set(COMMITD_ALLOCATOR ${JEMALLOC} ${CMAKE_DL_LIBS})
endif()
