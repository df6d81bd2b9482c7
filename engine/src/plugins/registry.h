// The plugins that are installed: INSTALL PLUGIN and UNINSTALL PLUGIN, what a start finds again, and what is
// shown.
//
// Invariants: a plugin's deinit() runs, and its library goes, when nobody is in any of its observers any
// more; what is installed by a statement is in the list on disk before the statement has answered, and what
// is uninstalled is not in it any more before its observers are taken away.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "plugins/observers.h"
#include "plugins/plugin_host.h"
#include "plugins/shared_library.h"
#include "runtime/worker_thread.h"

namespace commitd::plugins {

struct PluginName {
  std::string name, library;
  bool operator==(const PluginName&) const = default;
};

// A row of information_schema.plugins.
struct PluginInfo {
  PluginName named;
  std::string author, description, license;
  uint16_t version = 0;
  bool stays = false;  // over a restart: in the list on disk
};

// A plugin that is part of the program, and is installed under a library's name all the same.
struct LinkedIn {
  std::string library;
  commitd_plugin plugin{};  // its functions are those below
  std::function<int(const commitd_host*)> init;
  std::function<const char*()> why_in_use;  // may be empty
  std::string excludes;                     // the same plugin's other name: not both are installed (4045)
};

class Registry {
 public:
  explicit Registry(Observers& observers);
  ~Registry();  // deinitialises what is installed, the last one first

  void set_directory(std::string plugin_dir);
  // Before anything is loaded.
  void link_in(LinkedIn plugin);
  // The list on disk: one line each, "NAME<tab>LIBRARY".
  void save_with(std::function<Status(const std::string&)> save);

  // At start: those of the list, then those of --plugin-load-add ("NAME=LIBRARY" or "LIBRARY", with ; between
  // them), which are not in it. One that cannot be installed is logged and left out, as by MySQL.
  void load_list(std::string_view content);
  void load_option(std::string_view value);

  // From any reactor: the work is done on a thread of its own, one after the other.
  Task<Status> install(std::string name, std::string library);
  Task<Status> uninstall(std::string name);

  std::vector<PluginInfo> list() const;
  bool is_installed(std::string_view name) const;

 private:
  struct Installed;
  enum class By : uint8_t { Statement, List, Option };

  Status install_now(const PluginName& wanted, By by) ABSL_LOCKS_EXCLUDED(change_);
  Status uninstall_now(const std::string& name) ABSL_LOCKS_EXCLUDED(change_);
  Result<std::unique_ptr<Installed>> open(const PluginName& wanted, By by) const;
  Result<SharedLibrary> open_library(const std::string& library) const;
  Status initialize(Installed& installed);
  static Status check_may_leave(const Installed& installed);
  const Installed* find(std::string_view name) const;
  std::unique_ptr<Installed> remove(std::string_view name);
  void take_down(std::unique_ptr<Installed> installed);
  void load_all_of(const std::string& library);
  void load_one(const PluginName& wanted, By by);
  Status save(const Installed* without = nullptr) const;
  WorkerThread& worker();

  Observers& observers_;
  std::string directory_;
  std::vector<LinkedIn> linked_in_;
  std::function<Status(const std::string&)> save_;

  // One change at a time: held while a library is opened and while its plugin starts or ends. Those who only
  // look take mutex_.
  Mutex change_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Installed>> installed_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<WorkerThread> worker_ ABSL_GUARDED_BY(mutex_);  // from the first statement on
};

}  // namespace commitd::plugins
