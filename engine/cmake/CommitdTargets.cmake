# commitd_library(NAME SOURCES … DEPS …): the library of one component, seen by others as commitd::NAME. Shared where the preset says so:
# test programs that each hold the whole engine, with what a sanitizer adds to it, are more than many disks have free.
# commitd_uses_rapidjson(SOURCE …): these of this folder include RapidJSON.
# commitd_tests(COMPONENT DEPS …): one GoogleTest program, COMPONENT_test, of every *_test.cc below this folder; its cases are registered with ctest.

# Lines and functions are what profiles and sanitizer reports show; full debug information is a quarter of the compile time.
add_library(commitd_options INTERFACE)
target_compile_options(commitd_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror=return-type
                                                 -fno-omit-frame-pointer -g1)
target_include_directories(commitd_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(commitd_options INTERFACE SPDLOG_FMT_EXTERNAL)
if(COMMITD_WERROR)
  target_compile_options(commitd_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A precompiled header has no time in it: a compiler cache takes it by its content.
  target_compile_options(commitd_options INTERFACE -Wthread-safety "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(COMMITD_SANITIZE STREQUAL "address")
  # fuzzer-no-link: so that the fuzzers link what the tests link.
  target_compile_options(commitd_options INTERFACE -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined)
  target_link_options(commitd_options INTERFACE -fsanitize=address,undefined)
elseif(COMMITD_SANITIZE STREQUAL "thread")
  target_compile_options(commitd_options INTERFACE -fsanitize=thread)
  target_link_options(commitd_options INTERFACE -fsanitize=thread)
elseif(COMMITD_SANITIZE STREQUAL "coverage")
  target_compile_options(commitd_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(commitd_options INTERFACE --coverage)
endif()

# The libraries' headers that most files need, compiled once: half of the time of a file with few lines of its own is theirs.
file(WRITE ${CMAKE_BINARY_DIR}/common_headers.cc "")
foreach(of IN ITEMS "" _of_tests)
  add_library(commitd_headers${of} OBJECT ${CMAKE_BINARY_DIR}/common_headers.cc)
  target_link_libraries(commitd_headers${of} PRIVATE commitd_options fmt::fmt)
  target_precompile_headers(commitd_headers${of} PRIVATE
    <algorithm> <atomic> <charconv> <chrono> <condition_variable> <coroutine> <deque> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
endforeach()
set_target_properties(commitd_headers PROPERTIES POSITION_INDEPENDENT_CODE "${BUILD_SHARED_LIBS}")  # as those that use it
target_precompile_headers(commitd_headers_of_tests PRIVATE <gtest/gtest.h>)
target_link_libraries(commitd_headers_of_tests PRIVATE GTest::gtest)
target_compile_options(commitd_headers_of_tests PRIVATE -O1)
function(commitd_use_headers name headers)
  target_precompile_headers(${name} REUSE_FROM ${headers})
  target_link_libraries(${name} PRIVATE fmt::fmt)
endfunction()

function(commitd_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(commitd_${name} ${arg_SOURCES})
  add_library(commitd::${name} ALIAS commitd_${name})
  target_link_libraries(commitd_${name} PUBLIC commitd_options ${arg_DEPS})
  commitd_use_headers(commitd_${name} commitd_headers)
endfunction()

# RapidJSON 1.1 asks its stack, while that is empty, whether one more byte would fit: null + 1, which clang's check reports.
function(commitd_uses_rapidjson)
  if(COMMITD_SANITIZE STREQUAL "address")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fno-sanitize=pointer-overflow SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

function(commitd_tests component)
  cmake_parse_arguments(arg "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  set(name ${component}_test)
  add_executable(${name} ${sources})
  target_compile_options(${name} PRIVATE -O1)  # the tests' own code: compiling it costs more than it runs
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT COMMITD_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--strip-debug)  # most of its size; the debug preset is for debuggers
  endif()
  commitd_use_headers(${name} commitd_headers_of_tests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 900)
endfunction()
