#include "server/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error_codes.h"

namespace commitd::server {

Status set_up_logging(const std::string& level) {
  auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    return make_error(er::kWrongValueForVar, "--log-level: '{}' is not debug, info, warn or error", level);
  }
  auto logger =
      std::make_shared<spdlog::logger>("commitd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(parsed);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l thread=%t %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

uint64_t log_verbosity() {
  const auto level = spdlog::default_logger()->level();
  if (level >= spdlog::level::err) return 1;
  return level == spdlog::level::warn ? 2 : 3;
}

void set_log_verbosity(uint64_t verbosity) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::err, spdlog::level::warn,
                                                   spdlog::level::info};
  spdlog::default_logger()->set_level(kLevels[std::clamp<uint64_t>(verbosity, 1, 3) - 1]);
}

}  // namespace commitd::server
