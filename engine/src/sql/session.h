// One client's session as seen from the protocol: statements in, results into a sink. Knows nothing of
// sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "runtime/task.h"
#include "sql/account.h"
#include "sql/result_sink.h"

namespace commitd::sql {

struct ServerContext;  // sql/server_context.h: catalog, accounts, variables, transaction services, instance
                       // control, process list

struct PreparedInfo {
  uint32_t id = 0;
  std::vector<ResultColumn> parameters;
  std::vector<ResultColumn> columns;
  uint16_t warnings = 0;
};

// What a session's variables say to the protocol; they count from the next command on.
struct ConnectionLimits {
  std::chrono::seconds wait_timeout{28800};
  std::chrono::seconds net_read_timeout{30}, net_write_timeout{60};
  uint32_t max_allowed_packet = 64u << 20;
};

// How a connection is protected, in OpenSSL's names; empty when it is not.
struct TlsInfo {
  std::string version, cipher;
};

class Session {
 public:
  Session(ServerContext& server, uint32_t connection_id);
  ~Session();

  // After authentication.
  void set_user(const Account& account, std::string client_host);
  Task<Status> use_database(std::string_view db);  // COM_INIT_DB
  Status start_in_database(std::string_view db);   // handshake, COM_CHANGE_USER: before any statement
  void set_client_collation(uint16_t collation);
  void set_multi_statements(bool on);           // CLIENT_MULTI_STATEMENTS, COM_SET_OPTION
  void set_version_prefix(std::string prefix);  // in front of what SELECT VERSION() says
  void set_found_rows(bool on);  // CLIENT_FOUND_ROWS: affected rows of UPDATE counts matched ones
  void set_interactive();        // CLIENT_INTERACTIVE: wait_timeout starts as interactive_timeout
  void set_tracking(bool on);    // CLIENT_SESSION_TRACK: take_changes() has something to give
  void set_tls(TlsInfo tls);     // Ssl_version and Ssl_cipher of SHOW STATUS

  Task<void> query(std::string_view sql, ResultSink& sink);  // COM_QUERY, also several statements
  Task<Result<PreparedInfo>> prepare(std::string_view sql);
  Task<void> execute(uint32_t statement_id, std::span<const Value> parameters, ResultSink& sink);
  size_t parameter_count(
      uint32_t statement_id) const;  // 0 also for an unknown one: execute() then answers 1243
  void close_statement(uint32_t statement_id);
  Task<Result<std::vector<ResultColumn>>> field_list(std::string_view table);  // COM_FIELD_LIST
  Task<void> reset();                                                          // COM_RESET_CONNECTION
  // Before the session goes: gives back its locks, then what engines keep for it, which may take an exchange
  // over the network.
  Task<void> close();
  uint16_t server_status() const;
  ConnectionLimits limits() const;
  // What changed since the last call and is tracked (session_track_schema and so on).
  std::vector<SessionChange> take_changes();

  // KILL: from any thread. QUERY ends the statement (1317), CONNECTION also the session (the protocol polls
  // killed()).
  void kill(bool connection);
  bool killed() const;
  bool gives_role() const;  // from any thread
  // Called once when kill(connection) arrives, on the killer's thread: the protocol closes the socket.
  void on_kill(std::function<void()> callback);
  // Asked now and then by a statement that runs for long: whether there is nobody left to answer. Then it
  // ends as one that was killed.
  void ends_when(std::function<bool()> client_has_gone);

  // Values that replication clients set on their session: @source_binlog_checksum, @rpl_semi_sync_replica,
  // @replica_uuid, @source_heartbeat_period … nullopt when the user variable is not set (names without @,
  // lower case).
  std::optional<Value> user_variable(std::string_view name) const;
  bool may_replicate() const;  // REPLICATION SLAVE, or the operator account
  uint32_t connection_id() const;
  void set_state(std::string_view state);  // process list

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace commitd::sql
