#include "plugins/plugin_host.h"

#include <spdlog/spdlog.h>

#include "observe/metrics.h"

namespace commitd::plugins {

template <auto kind, class Observer>
int PluginHost::observe(const commitd_host* host, const Observer* observer) {
  PluginHost& self = of(host);
  if (!self.initializing_) return 1;
  (self.observers_.*kind).add(self.owner_, *observer);
  return 0;
}

void* PluginHost::counter(const commitd_host*, const char* name, const char* help) {
  return &observe::counter(fmt::format("commitd_plugin_{}_total", name), help);
}

void PluginHost::count(void* counter, uint64_t by) {
  static_cast<observe::Counter*>(counter)->add(by);
}

void PluginHost::log(const commitd_host* host, int level, const char* text) {
  const auto severity = level == COMMITD_LOG_INFO      ? spdlog::level::info
                        : level == COMMITD_LOG_WARNING ? spdlog::level::warn
                                                       : spdlog::level::err;
  spdlog::log(severity, "plugin {}: {}", of(host).name_, text);
}

PluginHost::PluginHost(Observers& observers, Owner& owner, std::string name)
    : observers_(observers),
      owner_(owner),
      name_(std::move(name)),
      functions_{this,
                 observe<&Observers::transactions, commitd_transaction_observer>,
                 observe<&Observers::storage, commitd_storage_observer>,
                 observe<&Observers::transmit, commitd_transmit_observer>,
                 observe<&Observers::relay, commitd_relay_observer>,
                 counter,
                 count,
                 log} {}

}  // namespace commitd::plugins
