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

namespace commitd::sql {

class SystemVariables;  // sql/variables/system_variables.h: global values, their types, SET and SHOW
class Accounts;         // sql/accounts/accounts.h: users and grants; implements AccountDirectory
class ProcessList;      // sql/process_list.h

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
  InstanceControl* instance = nullptr;
  std::string version;  // "8.4.0-commitd"
  Uuid server_uuid;
  std::function<void()> request_shutdown;  // SHUTDOWN statement
};

}  // namespace commitd::sql
