// The process's allocator (cmake/Allocator.cmake).
#pragma once

namespace commitd::server {

// Lets the memory budget look at what the process has, where its allocator can give back what is free.
void watch_allocator();

}  // namespace commitd::server
