# commitd::rocksdb: Debian's headers, and the library that build-rocksdb made of the same source.
set(library ${CMAKE_SOURCE_DIR}/../build/engine/rocksdb/librocksdb.a)
if(NOT EXISTS ${library})
  message(FATAL_ERROR "${library} is not there: make -C engine deps builds it")
endif()
add_library(commitd::rocksdb STATIC IMPORTED GLOBAL)
set_target_properties(commitd::rocksdb PROPERTIES IMPORTED_LOCATION ${library} INTERFACE_LINK_LIBRARIES "lz4;Threads::Threads;dl")
