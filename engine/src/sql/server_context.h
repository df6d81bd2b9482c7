// What a session needs of the server around it. Put together in server/.
#pragma once

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

struct ServerContext {
  storage::Engine* engine = nullptr;
  txn::Services* transactions = nullptr;
  Catalog* catalog = nullptr;
  Accounts* accounts = nullptr;
  SystemVariables* variables = nullptr;
  ProcessList* processes = nullptr;
  InstanceControl* instance = nullptr;
  std::string version;  // "8.4.0-commitd"
  Uuid server_uuid;
  std::function<void()> request_shutdown;  // SHUTDOWN statement
};

}  // namespace commitd::sql
