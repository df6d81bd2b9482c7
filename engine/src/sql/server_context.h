// What a session needs of the server around it. Put together in server/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "base/uuid.h"
#include "sql/account.h"
#include "sql/catalog.h"
#include "sql/instance_control.h"
#include "txn/transaction.h"

namespace commitd::plugins {
class Observers;
class Registry;
}  // namespace commitd::plugins

namespace commitd::sql {

class SystemVariables;  // sql/variables/system_variables.h: global values, their types, SET and SHOW
class Accounts;         // sql/accounts/accounts.h: users and grants; implements AccountDirectory
class ProcessList;      // sql/process_list.h
class Maintenance;      // sql/maintenance.h
class SlowLog;          // sql/slow_log.h

// A pointer that is null until what it points to exists (an uninitialised server has no engine) and may be
// set while others read it.
template <class T>
class Published {
 public:
  Published& operator=(T* pointer) {
    pointer_.store(pointer, std::memory_order_release);
    return *this;
  }
  operator T*() const { return pointer_.load(std::memory_order_acquire); }
  T* operator->() const { return *this; }

 private:
  std::atomic<T*> pointer_{nullptr};
};

struct ServerContext {
  Published<storage::Engine> engine;
  Published<txn::Services> transactions;
  Published<Catalog> catalog;
  Accounts* accounts = nullptr;
  SystemVariables* variables = nullptr;
  ProcessList* processes = nullptr;
  SlowLog* slow_log = nullptr;  // none in tests
  InstanceControl* instance = nullptr;
  Published<Maintenance> maintenance;
  std::string version;  // "8.4.0-commitd"
  Uuid server_uuid;
  uint32_t server_id = 1;
  std::atomic<uint64_t> max_binlog_cache_size{4ull << 30};  // what one transaction may take
  std::function<void()> request_shutdown;                   // SHUTDOWN statement
  std::function<Status()> reload_tls;                       // ALTER INSTANCE RELOAD TLS
  // Rows of SHOW STATUS about TLS that are the same for all sessions; added by the protocol.
  std::function<std::vector<std::pair<std::string, std::string>>()> tls_status;
  plugins::Observers* observers = nullptr;  // none in tests, as the next
  plugins::Registry* plugins = nullptr;
};

}  // namespace commitd::sql
