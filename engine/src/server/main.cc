#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <cstdio>

#include "server/logging.h"
#include "server/options.h"
#include "server/server.h"

namespace {

using namespace commitd;
using namespace commitd::server;

int fail(const Error& error) {
  spdlog::error("{}", error.message);
  std::fprintf(stderr, "commitd: %s\n", error.message.c_str());
  return 1;
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

}  // namespace

int main(int argc, char** argv) {
  auto options = parse_options({argv + 1, static_cast<size_t>(argc - 1)});
  if (!options.ok()) {
    std::fprintf(stderr, "commitd: %s\n", options.error().message.c_str());
    return 2;
  }
  if (options->help || options->version) {
    std::printf("%s", options->help ? usage().c_str() : fmt::format("commitd {}\n", kVersion).c_str());
    return 0;
  }
  if (auto status = set_up_logging(options->log_level); !status.ok()) return fail(status.error());
  raise_descriptor_limit();
  sigset_t signals = block_stop_signals();
  bool only_initialize = options->initialize_insecure;
  Server server(std::move(*options));
  if (auto status = server.start(); !status.ok()) return fail(status.error());
  if (only_initialize) return 0;

  int signal_number = 0;
  sigwait(&signals, &signal_number);
  spdlog::info("shutting down signal={}", signal_number);
  server.stop();
  spdlog::info("shut down");
  return 0;
}
