#include "observe/process_metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string>

#include "observe/metrics.h"

namespace commitd::observe {

uint64_t resident_bytes() {
  static const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[64];
  const ssize_t length = pread(statm, text, sizeof(text), 0);
  const char* const end = text + std::max<ssize_t>(length, 0);
  const char* const second = std::find<const char*>(text, end, ' ');
  uint64_t pages = 0;
  if (second != end) std::from_chars(second + 1, end, pages);
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

namespace {

rusage usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double cpu_seconds() {
  rusage used = usage();
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double open_descriptors() {
  DIR* directory = opendir("/proc/self/fd");
  if (!directory) return 0;
  double count = 0;
  while (readdir(directory)) ++count;
  closedir(directory);
  return count - 3;  // ".", ".." and the directory being read
}

// The 22nd field of /proc/self/stat, in clock ticks since the boot; the second may hold blanks and ends with
// the last ')'.
double start_ticks() {
  std::ifstream stat("/proc/self/stat");
  std::string line;
  std::getline(stat, line);
  size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  size_t at = end_of_name + 1;
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtod(line.c_str() + at, nullptr);
}

double boot_time() {
  std::ifstream stat("/proc/stat");
  std::string word;
  while (stat >> word) {
    double value = 0;
    if (word == "btime" && stat >> value) return value;
  }
  return 0;
}

double start_time() {
  return boot_time() + start_ticks() / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

void register_process_metrics() {
  callback("counter", "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", {},
           cpu_seconds);
  callback("gauge", "process_resident_memory_bytes", "Resident memory size in bytes.", {},
           [] { return static_cast<double>(resident_bytes()); });
  callback("gauge", "process_open_fds", "Number of open file descriptors.", {}, open_descriptors);
  double started = start_time();
  callback("gauge", "process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
           {}, [started] { return started; });
  callback("counter", "commitd_voluntary_context_switches_total",
           "Times a thread of the server gave up the processor to wait.", {},
           [] { return static_cast<double>(usage().ru_nvcsw); });
  callback("counter", "commitd_involuntary_context_switches_total",
           "Times a thread of the server was preempted.", {},
           [] { return static_cast<double>(usage().ru_nivcsw); });
}

}  // namespace commitd::observe
