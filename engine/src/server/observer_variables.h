// The variables of plugins and of how observers are called: plugin_dir, and the switches R1 to R4 and R14;
// and R8, whose legacy value blocks a thread like theirs.
#pragma once

#include <atomic>
#include <memory>

#include "commit/commit_settings.h"
#include "plugins/observer_settings.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

class ObserverVariables {
 public:
  ObserverVariables(sql::SystemVariables& variables, plugins::ObserverSettings& settings,
                    std::shared_ptr<binlog::CommitSettings> commit, std::atomic<bool>& closes_locked)
      : variables_(variables),
        settings_(settings),
        commit_(std::move(commit)),
        closes_locked_(closes_locked) {}

  void define();
  // Once all options are known: what a lock needs is there.
  Status check();

 private:
  void define_lock(const char* name, std::vector<std::string> choices,
                   std::function<void(const std::string&)> store);
  void define_locked_close();
  Status check_lock(const char* name, const Value& value) const;

  sql::SystemVariables& variables_;
  plugins::ObserverSettings& settings_;
  const std::shared_ptr<binlog::CommitSettings> commit_;
  std::atomic<bool>& closes_locked_;
  bool running_ = false;
};

}  // namespace commitd::server
