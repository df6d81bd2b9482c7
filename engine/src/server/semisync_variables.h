// The variables of semisync, under their present and their former names: both are seen by SHOW VARIABLES,
// which MariaDB's replicas ask whether their source knows semisync.
#pragma once

#include <functional>
#include <memory>

#include "replication/semisync_settings.h"
#include "sql/server_context.h"
#include "sql/variables/system_variables.h"

namespace commitd::server {

class SemisyncVariables {
 public:
  SemisyncVariables(sql::SystemVariables& variables, const sql::ServerContext& server)
      : variables_(variables), server_(server) {}

  void define();
  std::shared_ptr<replication::SemisyncSettings> settings() const { return settings_; }
  // Once there are roles: what is in force, and whom to tell of a change.
  void connect(std::function<replication::SemisyncPolicy()> in_force, std::function<void()> changed);

 private:
  using Policy = replication::SemisyncPolicy;
  struct Names;

  void define_under(const Names& names);
  void define_one(sql::VariableDefinition definition, std::function<void(Policy&, const Value&)> store,
                  std::function<Value(const Policy&)> read);
  Status set(const std::string& name, const std::function<void(Policy&)>& store);

  sql::SystemVariables& variables_;
  const sql::ServerContext& server_;
  const std::shared_ptr<replication::SemisyncSettings> settings_ =
      std::make_shared<replication::SemisyncSettings>();
  std::function<Policy()> in_force_ = [this] { return settings_->get(); };
  std::function<void()> changed_ = [] {};
};

}  // namespace commitd::server
