// What a session remembers between statements, and what a running statement needs of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "sql/account.h"
#include "sql/accounts/accounts.h"
#include "sql/diagnostics.h"
#include "sql/server_context.h"
#include "sql/session.h"
#include "sql/session_settings.h"
#include "sql/session_tracker.h"
#include "sql/status/status_counters.h"
#include "sql/table_locks.h"
#include "sql/variables/system_variables.h"
#include "txn/lock_owner.h"
#include "txn/transaction.h"

namespace commitd::sql {

// SET gtid_next.
struct NextGtid {
  Gtid gtid;          // empty: AUTOMATIC
  bool used = false;  // a transaction has ended under it: the client must set it anew
};

struct SessionState {
  SessionState(ServerContext& server_of, uint32_t id);

  ServerContext& server;
  const uint32_t connection_id;
  Account account;
  std::string client_host;
  AccountPtr record;  // privileges
  uint64_t record_version = 0;

  std::string database;
  SessionVariables variables;
  SessionSettings settings;
  absl::flat_hash_map<std::string, Value> user_variables;  // names in lower case
  Diagnostics diagnostics;
  StatusCounters status;
  std::string version_prefix;
  std::optional<bool> binlog_checksums;  // of BINLOG statements: what their format description said
  bool found_rows_flag = false;          // CLIENT_FOUND_ROWS
  SessionTracker tracker;
  TlsInfo tls;

  uint64_t last_insert_id = 0;
  int64_t row_count = -1;            // of the previous statement: ROW_COUNT()
  uint64_t found_rows = 0;           // of the SELECT that was executed last, which may be a part of another
  uint64_t previous_found_rows = 0;  // of the previous statement: FOUND_ROWS()

  // The statement that is running.
  int64_t statement_microseconds = 0;  // since 1970, UTC
  std::string_view statement_text;
  uint64_t rows_examined = 0, table_scans = 0;  // of all statements; a scan is a table read without an index
  bool in_explicit_transaction = false;
  bool transaction_read_only = false;            // of the open transaction
  bool rollback_is_incomplete = false;           // it changed tables that are not transactional
  std::optional<txn::Isolation> next_isolation;  // SET TRANSACTION: for the next one only
  std::optional<bool> next_read_only;
  NextGtid next_gtid;

  storage::ConnectionData engine_data;
  txn::LockOwner lock_owner;
  std::optional<txn::Transaction> transaction;  // none while the server has no engine
  TableLocks table_locks;

  std::atomic<bool> kill_query{false};
  std::atomic<bool> kill_connection{false};
  std::atomic<bool> gives_role{false};  // its statement may end all others' sessions, and waits for them

  std::function<bool()> client_has_gone = [] { return false; };

  void refresh_settings();
  void set_up_diagnostics();
  // As those of a new session; `names`: of the collation that its client asks for.
  void start_variables(const Collation* names);
  bool interrupted() const {
    return kill_query.load(std::memory_order_relaxed) || kill_connection.load(std::memory_order_relaxed);
  }
  bool has_privilege(Privileges global);                               // on *.*
  Status require(Privileges wanted, std::string_view what);            // 1227 naming `what`
  Status require_on_database(std::string_view db, Privileges wanted);  // 1044
  Status require_on_table(std::string_view db, std::string_view table, Privileges wanted,
                          std::string_view command);  // 1142
  void refresh_account();
};

}  // namespace commitd::sql
