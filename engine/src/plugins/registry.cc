#include "plugins/registry.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "base/check.h"
#include "base/text_case.h"
#include "plugins/plugin_errors.h"

namespace commitd::plugins {
namespace {

constexpr size_t kLongestName = 64;

bool is_plain_name(std::string_view name) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), plain);
}

// Calls `take` with each part of a text.
template <class Take>
void split(std::string_view text, char separator, Take take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end != 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

const commitd_plugin* declarations_of(const SharedLibrary& library) {
  return static_cast<const commitd_plugin*>(library.symbol(COMMITD_PLUGIN_DECLARATIONS));
}

const commitd_plugin* find_declared(const commitd_plugin* declared, std::string_view name) {
  for (; declared->name != nullptr; ++declared) {
    if (equal_words(declared->name, name)) return declared;
  }
  return nullptr;
}

Status check_interface(const commitd_plugin& plugin, const std::string& library) {
  if (plugin.interface_version != COMMITD_PLUGIN_INTERFACE)
    return cannot_open(library, 0, "plugin interface version mismatch");
  if (!is_plain_name(plugin.name) || plugin.init == nullptr)
    return cannot_open(library, 0, "a plugin without a plain name or without init()");
  return {};
}

// The interface is C, but what is behind it may have been written in C++: one that throws has failed.
template <class Init>
bool is_initialized(std::string_view name, Init init) {
  try {
    return init() == 0;
  } catch (const std::exception& thrown) {
    spdlog::error("plugin {}: init() threw: {}", name, thrown.what());
  } catch (...) {
    spdlog::error("plugin {}: init() threw", name);
  }
  return false;
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

struct Registry::Installed {
  Installed(Observers& observers, const commitd_plugin& of, std::string from, By installed_by)
      : library_name(std::move(from)), by(installed_by), plugin(of), host(observers, owner, of.name) {}
  Installed(Observers& observers, const LinkedIn& linked, By installed_by)
      : Installed(observers, linked.plugin, linked.library, installed_by) {
    linked_in = &linked;
  }

  int init() {
    return linked_in == nullptr ? plugin.init(&host.functions()) : linked_in->init(&host.functions());
  }
  const char* why_in_use() const {
    if (linked_in != nullptr) return linked_in->why_in_use ? linked_in->why_in_use() : nullptr;
    return plugin.why_in_use == nullptr ? nullptr : plugin.why_in_use();
  }

  SharedLibrary library;  // outlives the rest
  const LinkedIn* linked_in = nullptr;
  const std::string library_name;
  const By by;
  const commitd_plugin& plugin;
  Owner owner;
  PluginHost host;
};

Registry::Registry(Observers& observers) : observers_(observers) {}

Registry::~Registry() {
  for (;;) {
    std::unique_ptr<Installed> last;
    {
      MutexLock lock(mutex_);
      if (installed_.empty()) return;
      last = std::move(installed_.back());
      installed_.pop_back();
    }
    take_down(std::move(last));
  }
}

void Registry::set_directory(std::string plugin_dir) {
  directory_ = std::move(plugin_dir);
}

void Registry::link_in(LinkedIn plugin) {
  linked_in_.push_back(std::move(plugin));
}

void Registry::save_with(std::function<Status(const std::string&)> save) {
  save_ = std::move(save);
}

void Registry::load_list(std::string_view content) {
  split(content, '\n', [this](std::string_view line) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return;
    load_one({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))}, By::List);
  });
}

void Registry::load_option(std::string_view value) {
  split(value, ';', [this](std::string_view part) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return load_all_of(std::string(part));
    load_one({std::string(part.substr(0, equals)), std::string(part.substr(equals + 1))}, By::Option);
  });
}

void Registry::load_all_of(const std::string& library) {
  std::vector<std::string> names;
  for (const LinkedIn& linked : linked_in_) {
    if (linked.library == library) names.emplace_back(linked.plugin.name);
  }
  if (names.empty()) {
    auto opened = open_library(library);
    if (!opened.ok())
      return spdlog::error("Couldn't load plugins from '{}': {}", library, opened.error().message);
    for (const auto* declared = declarations_of(*opened); declared->name != nullptr; ++declared)
      names.emplace_back(declared->name);
  }
  for (std::string& name : names) load_one({std::move(name), library}, By::Option);
}

void Registry::load_one(const PluginName& wanted, By by) {
  if (auto status = install_now(wanted, by); !status.ok()) {
    spdlog::error("Couldn't load plugin named '{}' with soname '{}': {}", wanted.name, wanted.library,
                  status.error().message);
  }
}

Task<Status> Registry::install(std::string name, std::string library) {
  WorkerThread& worker = this->worker();
  const PluginName wanted{std::move(name), std::move(library)};
  co_return co_await worker.run([this, &wanted] { return install_now(wanted, By::Statement); });
}

Task<Status> Registry::uninstall(std::string name) {
  WorkerThread& worker = this->worker();
  co_return co_await worker.run([this, &name] { return uninstall_now(name); });
}

WorkerThread& Registry::worker() {
  MutexLock lock(mutex_);
  if (worker_ == nullptr) worker_ = std::make_unique<WorkerThread>("plugins");
  return *worker_;
}

std::vector<PluginInfo> Registry::list() const {
  MutexLock lock(mutex_);
  std::vector<PluginInfo> rows;
  for (const auto& installed : installed_) {
    const commitd_plugin& plugin = installed->plugin;
    rows.push_back({{plugin.name, installed->library_name},
                    text_of(plugin.author),
                    text_of(plugin.description),
                    text_of(plugin.license),
                    plugin.version,
                    installed->by != By::Option});
  }
  return rows;
}

bool Registry::is_installed(std::string_view name) const {
  return find(name) != nullptr;
}

Status Registry::install_now(const PluginName& wanted, By by) {
  MutexLock change(change_);
  if (wanted.library.find('/') != std::string::npos || wanted.library.size() > kLongestName ||
      wanted.library.find_first_of("\n\t") != std::string::npos)
    return no_paths_allowed();
  if (is_installed(wanted.name)) return plugins::is_installed(wanted.name);
  auto opened = open(wanted, by);
  if (!opened.ok()) return std::move(opened).error();
  std::unique_ptr<Installed> installed = std::move(*opened);
  COMMITD_RETURN_IF_ERROR(initialize(*installed));
  {
    MutexLock lock(mutex_);
    installed_.push_back(std::move(installed));
  }
  if (by != By::Statement) return {};
  Status saved = save();
  if (!saved.ok()) take_down(remove(wanted.name));
  return saved;
}

Result<std::unique_ptr<Registry::Installed>> Registry::open(const PluginName& wanted, By by) const {
  for (const LinkedIn& linked : linked_in_) {
    if (!equal_words(linked.plugin.name, wanted.name) || linked.library != wanted.library) continue;
    if (is_installed(linked.excludes)) return conflicts(linked.plugin.name, linked.excludes);
    return std::make_unique<Installed>(observers_, linked, by);
  }
  auto library = open_library(wanted.library);
  if (!library.ok()) return std::move(library).error();
  const commitd_plugin* plugin = find_declared(declarations_of(*library), wanted.name);
  if (plugin == nullptr) return not_in_library(wanted.name);
  COMMITD_RETURN_IF_ERROR(check_interface(*plugin, wanted.library));
  if (by == By::Statement && (plugin->flags & COMMITD_PLUGIN_NO_INSTALL) != 0)
    return not_installable(plugin->name);
  auto installed = std::make_unique<Installed>(observers_, *plugin, wanted.library, by);
  installed->library = std::move(*library);
  return installed;
}

Result<SharedLibrary> Registry::open_library(const std::string& library) const {
  auto opened = SharedLibrary::open(directory_ + "/" + library, observers_.settings.unload);
  if (opened.ok() && declarations_of(*opened) == nullptr) return not_in_library(COMMITD_PLUGIN_DECLARATIONS);
  return opened;
}

Status Registry::initialize(Installed& installed) {
  const bool initialized = is_initialized(installed.plugin.name, [&] { return installed.init(); });
  installed.host.end_of_initialization();
  if (initialized) return {};
  observers_.remove(installed.owner);
  return cannot_initialize(installed.plugin.name);
}

Status Registry::uninstall_now(const std::string& name) {
  MutexLock change(change_);
  const Installed* leaving = find(name);
  if (leaving == nullptr) return does_not_exist(name);
  COMMITD_RETURN_IF_ERROR(check_may_leave(*leaving));
  COMMITD_RETURN_IF_ERROR(save(leaving));
  take_down(remove(name));
  return {};
}

Status Registry::check_may_leave(const Installed& installed) {
  const commitd_plugin& plugin = installed.plugin;
  if ((plugin.flags & COMMITD_PLUGIN_NO_UNINSTALL) != 0) return not_uninstallable(plugin.name);
  const char* why = installed.why_in_use();
  return why == nullptr ? Status() : Status(in_use(plugin.name, why));
}

// It stays where it is for as long as `change_` is held.
const Registry::Installed* Registry::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = std::find_if(installed_.begin(), installed_.end(), [&](const auto& installed) {
    return equal_words(installed->plugin.name, name);
  });
  return found == installed_.end() ? nullptr : found->get();
}

std::unique_ptr<Registry::Installed> Registry::remove(std::string_view name) {
  MutexLock lock(mutex_);
  for (auto at = installed_.begin(); at != installed_.end(); ++at) {
    if (!equal_words((*at)->plugin.name, name)) continue;
    auto found = std::move(*at);
    installed_.erase(at);
    return found;
  }
  return nullptr;
}

void Registry::take_down(std::unique_ptr<Installed> installed) {
  observers_.remove(installed->owner);
  COMMITD_CHECK(installed->owner.references == 0, "{} is still in use", installed->plugin.name);
  if (installed->plugin.deinit != nullptr) installed->plugin.deinit();
}

Status Registry::save(const Installed* without) const {
  if (!save_) return {};
  std::string content;
  {
    MutexLock lock(mutex_);
    for (const auto& installed : installed_) {
      if (installed->by != By::Option && installed.get() != without)
        content += fmt::format("{}\t{}\n", installed->plugin.name, installed->library_name);
    }
  }
  return save_(content);
}

}  // namespace commitd::plugins
