#include <fmt/chrono.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "base/error_codes.h"
#include "server/allocator.h"
#include "server/logging.h"
#include "server/options.h"
#include "server/room_wait.h"
#include "server/server.h"

namespace {

using namespace commitd;
using namespace commitd::server;

int fail(const Error& error) {
  spdlog::error("{}", error.message);
  std::fprintf(stderr, "commitd: %s\n", error.message.c_str());
  return 1;
}

// As mysqld says it in its error log.
int refuse(const Error& error) {
  const auto now = std::chrono::system_clock::now();
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
  const std::string line =
      fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z 0 [ERROR] [MY-{:06}] [Server] {}\n", fmt::gmtime(now),
                  microseconds.count() % 1'000'000, error.code, error.message);
  std::fputs(line.c_str(), stderr);
  return 1;
}

int validate(Options options) {
  Server server(std::move(options));
  auto status = server.check_configuration();
  return status.ok() ? 0 : refuse(status.error());
}

// SIGTERM and SIGINT are waited for here; every other thread is started with them blocked.
sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Each connection takes a descriptor (three with a thread of its own).
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The same program once more, in this process: whoever watches it sees it go on.
int start_again(char** argv) {
  execv("/proc/self/exe", argv);
  return fail(make_error(er::kRestartServerFailed, "Restart server failed (errno {}).", errno));
}

}  // namespace

int main(int argc, char** argv) {
  auto options = parse_options({argv + 1, static_cast<size_t>(argc - 1)});
  if (!options.ok()) return refuse(options.error());
  if (options->help || options->version) {
    std::printf("%s", options->help ? usage().c_str() : fmt::format("commitd {}\n", kVersion).c_str());
    return 0;
  }
  if (auto status = set_up_logging(options->log_level); !status.ok()) return refuse(status.error());
  if (options->validate_config) return validate(std::move(*options));
  raise_descriptor_limit();
  watch_allocator();
  sigset_t signals = block_stop_signals();
  bool only_initialize = options->initialize_insecure;
  Environment environment;
  environment.wait_for_room = [&signals, directory = options->datadir](const Error& why) {
    return wait_for_room(directory, signals, why);
  };
  std::atomic<bool> restarts{false};
  environment.restart = [&restarts] {
    restarts = true;
    kill(getpid(), SIGTERM);
  };
  {
    Server server(std::move(*options), std::move(environment));
    if (auto status = server.start(); !status.ok()) return fail(status.error());
    if (only_initialize) return 0;

    int signal_number = 0;
    sigwait(&signals, &signal_number);
    spdlog::info("{} signal={}", restarts ? "restarting" : "shutting down", signal_number);
    server.stop();
    spdlog::info("shut down");
  }
  return restarts ? start_again(argv) : 0;
}
