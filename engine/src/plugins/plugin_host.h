// What a plugin may ask of commitd: the functions of plugin_api.h, for one plugin.
#pragma once

#include <atomic>
#include <string>

#include "plugins/observers.h"

namespace commitd::plugins {

class PluginHost {
 public:
  PluginHost(Observers& observers, Owner& owner, std::string name);
  PluginHost(const PluginHost&) = delete;

  const commitd_host& functions() const { return functions_; }
  // Observers are registered from init() only.
  void end_of_initialization() { initializing_ = false; }

 private:
  static PluginHost& of(const commitd_host* host) { return *static_cast<PluginHost*>(host->context); }
  template <auto kind, class Observer>
  static int observe(const commitd_host* host, const Observer* observer);
  static void* counter(const commitd_host* host, const char* name, const char* help);
  static void count(void* counter, uint64_t by);
  static void log(const commitd_host* host, int level, const char* text);

  Observers& observers_;
  Owner& owner_;
  const std::string name_;
  std::atomic<bool> initializing_{true};
  const commitd_host functions_;
};

}  // namespace commitd::plugins
