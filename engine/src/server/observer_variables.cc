#include "server/observer_variables.h"

#include <filesystem>

#include "server/thread_handling.h"
#include "server/variable_definitions.h"

namespace commitd::server {
namespace {

using plugins::ObserverLocking;
using sql::VariableDefinition;
using sql::VariableType;

constexpr const char* kLocking = "commitd_observer_locking";
constexpr const char* kDumpLock = "commitd_dump_lock";
constexpr const char* kLockedClose = "commitd_close_connection_locked";

// Beside the program, as an installation has it: bin/commitd, lib/commitd/plugin.
std::string plugin_directory() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return (program.parent_path().parent_path() / "lib/commitd/plugin").string();
}

ObserverLocking locking_of(const std::string& text) {
  if (text == "mutex") return ObserverLocking::Mutex;
  return text == "rwlock" ? ObserverLocking::RwLock : ObserverLocking::LockFree;
}

VariableDefinition off_by_default(const char* name, std::atomic<bool>& place) {
  auto definition = variable(name, VariableType::Boolean, Value::integer(0));
  definition.on_update = [&place](const Value& value) -> Status {
    place = value.as_int() != 0;
    return {};
  };
  return definition;
}

}  // namespace

Status ObserverVariables::check_lock(const char* name, const Value& value) const {
  const size_t ordinal = variables_.find(name);
  const std::string text = variables_.to_text(ordinal, value);
  if (text == variables_.to_text(ordinal, variables_.definition(ordinal).initial)) return {};
  return require_thread_per_connection(variables_, name, text, "it takes a lock for which a thread waits");
}

// While options are read, how threads are handled may still be to come.
void ObserverVariables::define_lock(const char* name, std::vector<std::string> choices,
                                    std::function<void(const std::string&)> store) {
  auto definition = choice(name, std::move(choices));
  definition.on_update = [this, name, store = std::move(store)](const Value& value) -> Status {
    if (running_) COMMITD_RETURN_IF_ERROR(check_lock(name, value));
    store(value.to_text());
    return {};
  };
  variables_.define(std::move(definition));
}

void ObserverVariables::define_locked_close() {
  auto definition = off_by_default(kLockedClose, closes_locked_);
  definition.on_update = [this, store = std::move(definition.on_update)](const Value& value) -> Status {
    if (running_) COMMITD_RETURN_IF_ERROR(check_lock(kLockedClose, value));
    return store(value);
  };
  variables_.define(std::move(definition));
}

void ObserverVariables::define() {
  auto directory = variable("plugin_dir", VariableType::String, Value::string(plugin_directory()));
  directory.dynamic = false;
  variables_.define(std::move(directory));

  define_lock(kLocking, {"lockfree", "mutex", "rwlock"},
              [this](const std::string& text) { settings_.locking = locking_of(text); });
  define_lock(kDumpLock, {"none", "log_lock"},
              [this](const std::string& text) { commit_->readers_take_log_lock = text == "log_lock"; });
  variables_.define(off_by_default("commitd_observe_every_dump", settings_.every_dump));
  variables_.define(off_by_default("commitd_plugin_unload", settings_.unload));
  define_locked_close();

  auto after_commit = choice("commitd_after_commit_hook", {"commits", "statements"});
  after_commit.on_update = [this](const Value& value) -> Status {
    settings_.after_statements = value.to_text() == "statements";
    return {};
  };
  variables_.define(std::move(after_commit));
}

Status ObserverVariables::check() {
  for (const char* name : {kLocking, kDumpLock, kLockedClose})
    COMMITD_RETURN_IF_ERROR(check_lock(name, variables_.global(name)));
  running_ = true;
  return {};
}

}  // namespace commitd::server
