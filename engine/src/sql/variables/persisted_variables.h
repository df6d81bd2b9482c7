// What SET PERSIST keeps over a restart: the content of mysqld-auto.cnf, in MySQL's format (JSON, version 2).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace commitd::sql {

struct PersistedVariable {
  std::string value;          // as SHOW VARIABLES prints it
  uint64_t microseconds = 0;  // since 1970
  std::string user, host;
};

class PersistedVariables {
 public:
  using Entries = std::map<std::string, PersistedVariable, std::less<>>;  // by name
  // Makes the content durable; called with every change before it is taken.
  using Save = std::function<Status(const std::string& content)>;

  void save_with(Save save) { save_ = std::move(save); }
  Status load(std::string_view content);  // an error names what is wrong with the file
  Status set(const std::string& name, PersistedVariable variable);
  Status remove(const std::string& name);  // 3615 when it is not persisted
  Status clear();
  Entries all() const;

 private:
  Status replace(Entries entries);

  Save save_;
  mutable std::mutex mutex_;
  Entries entries_;
};

}  // namespace commitd::sql
