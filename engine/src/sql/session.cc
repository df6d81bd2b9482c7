#include "sql/session.h"

#include <algorithm>
#include <mutex>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "observe/mutex.h"
#include "sql/executor/constant_select.h"
#include "sql/executor/lone_select.h"
#include "sql/executor/select.h"
#include "sql/executor/set.h"
#include "sql/executor/statement_runner.h"
#include "sql/parser/parser.h"
#include "sql/process_list.h"
#include "sql/session_state.h"
#include "sql/show/show.h"
#include "sql/text_case.h"

namespace commitd::sql {
namespace {

std::atomic<uint64_t> prepared_statements{0};  // of all sessions

constexpr StatusVariable kStmtPrepare = command_variable("stmt_prepare"),
                         kStmtExecute = command_variable("stmt_execute");

// A statement that is parsed once and executed often; its text and its tree live here.
struct PreparedStatement {
  PreparedStatement() { prepared_statements.fetch_add(1, std::memory_order_relaxed); }
  ~PreparedStatement() { prepared_statements.fetch_sub(1, std::memory_order_relaxed); }
  PreparedStatement(const PreparedStatement&) = delete;

  std::string text;
  Arena arena;
  const ast::Statement* statement = nullptr;
  std::unique_ptr<KeptPlan> kept;

  KeptSelect* kept_select() const {
    const bool is_select = statement->kind == ast::StatementKind::Select;
    return is_select ? static_cast<KeptSelect*>(kept.get()) : nullptr;
  }
};

bool can_be_prepared(const ast::Statement& statement) {
  switch (statement.kind) {
    case ast::StatementKind::Begin:
    case ast::StatementKind::Prepare:
    case ast::StatementKind::Execute:
    case ast::StatementKind::Deallocate:
    case ast::StatementKind::Use:
    case ast::StatementKind::LockTables:
    case ast::StatementKind::UnlockTables:
      return false;
    default:
      return true;
  }
}

const observe::WaitEvent& shown_waits() {
  static const observe::WaitEvent event("wait/synch/mutex/sql/THD::LOCK_thd_query");
  return event;
}

// SET NAMES with these would change nothing.
bool has_names(const SessionVariables& variables, std::string_view charset, std::string_view collation) {
  return variables.text(kCharacterSetClient) == charset &&
         variables.text(kCharacterSetConnection) == charset &&
         variables.text(kCharacterSetResults) == charset && variables.text(kCollationConnection) == collation;
}

Task<void> nothing_to_do() {
  co_return;
}

ResultColumn parameter_column() {
  ResultColumn column;
  column.name = "?";
  column.collation = kBinaryCollation;
  column.flags = 128;
  return column;
}

}  // namespace

class Session::Impl : public PreparedStatementCommands {
 public:
  Impl(ServerContext& server, uint32_t connection_id) : state(server, connection_id) {}

  LexerOptions lexer_options() const {
    return {(state.settings.sql_mode & sql_mode::kAnsiQuotes) != 0,
            (state.settings.sql_mode & sql_mode::kNoBackslashEscapes) != 0};
  }

  Result<std::unique_ptr<PreparedStatement>> parse_prepared(std::string_view sql) {
    const uint64_t most = state.server.variables->global("max_prepared_stmt_count").as_uint();
    if (prepared_statements.load(std::memory_order_relaxed) >= most) {
      return make_error(er::kMaxPreparedStmtCountReached,
                        "Can't create more than max_prepared_stmt_count statements (current value: {})",
                        most);
    }
    auto prepared = std::make_unique<PreparedStatement>();
    prepared->text = std::string(sql);
    auto parsed = parse_statement(prepared->text, prepared->arena, lexer_options());
    if (!parsed.ok()) return std::move(parsed).error();
    if (parsed->statement->kind == ast::StatementKind::Empty)
      return Error{er::kEmptyQuery, "Query was empty"};
    if (!parsed->rest.empty() || !can_be_prepared(*parsed->statement)) {
      return Error{er::kUnsupportedPs,
                   "This command is not supported in the prepared statement protocol yet"};
    }
    prepared->statement = parsed->statement;
    prepared->kept = KeptPlan::of(*parsed->statement);
    return prepared;
  }

  Status prepare_by_name(const ast::PrepareStatement& statement) override {
    std::string_view sql = statement.source;
    std::string from_variable;
    if (!statement.source_variable.empty()) {
      const auto found = state.user_variables.find(lower_case(statement.source_variable));
      if (found != state.user_variables.end()) from_variable = found->second.to_text();
      sql = from_variable;
    }
    auto prepared = parse_prepared(sql);
    if (!prepared.ok()) return std::move(prepared).error();
    named[lower_case(statement.name)] = *std::move(prepared);
    return {};
  }

  static Error unknown_statement(std::string_view name, std::string_view command) {
    return make_error(er::kUnknownStmtHandler, "Unknown prepared statement handler ({}) given to {}", name,
                      command);
  }

  Status deallocate_by_name(std::string_view name) override {
    if (named.erase(lower_case(name)) > 0) return {};
    return unknown_statement(name, "DEALLOCATE PREPARE");
  }

  Task<bool> execute_by_name(const ast::ExecuteStatement& statement, ResultSink& sink,
                             bool more_results) override {
    const auto found = named.find(lower_case(statement.name));
    if (found == named.end()) {
      sink.error(unknown_statement(statement.name, "EXECUTE"));
      co_return false;
    }
    const std::shared_ptr<PreparedStatement> prepared = found->second;  // stays while it runs
    if (prepared->statement->parameter_count != statement.variables.size()) {
      sink.error(make_error(er::kWrongArguments, "Incorrect arguments to EXECUTE"));
      co_return false;
    }
    std::vector<Value> parameters;
    for (const std::string_view name : statement.variables) {
      const auto variable = state.user_variables.find(lower_case(name));
      parameters.push_back(variable == state.user_variables.end() ? Value::null() : variable->second);
    }
    co_return co_await run_prepared(*prepared, parameters, sink, more_results);
  }

  // `parameters` as they came; a plan that is kept has its own copy.
  Task<bool> run_prepared(PreparedStatement& prepared, std::span<const Value> parameters, ResultSink& sink,
                          bool more_results) {
    KeptPlan* kept = prepared.kept.get();
    if (kept == nullptr || !kept->take_parameters(parameters))
      return run_statement(state, *this, *prepared.statement, parameters, sink, more_results);
    return run_statement(state, *this, *prepared.statement, kept->parameters(), sink, more_results, kept);
  }

  void show_client() {
    const std::lock_guard lock(shown_mutex);
    shown.user = state.account.user;
    shown.host = state.client_host;
    shown.db = state.database;
  }

  void show_command(std::string_view command, std::string_view text) {
    const auto now = Clock::now();
    const std::lock_guard lock(shown_mutex);
    shown_command = command;
    shown_text = text;
    shown_since = now;
    if (shown.db != state.database) shown.db = state.database;
  }

  // False: it is to be run, and nothing was sent or counted.
  bool answer_at_once(std::string_view sql, ResultSink& sink);
  Task<void> run_query(std::string_view sql, ResultSink& sink);

  std::string_view lock_wait_state() const {
    switch (state.lock_owner.wait()) {
      case txn::LockOwner::Wait::Table:
        return "Waiting for table metadata lock";
      case txn::LockOwner::Wait::Row:
        return "Waiting for row lock";
      case txn::LockOwner::Wait::Commit:
        return "waiting for handler commit";
      default:
        return "";
    }
  }

  ProcessInfo describe() {
    const std::lock_guard lock(shown_mutex);
    ProcessInfo info = shown;
    info.id = state.connection_id;
    info.command = shown_command;
    info.info = shown_text;
    if (info.state.empty()) info.state = lock_wait_state();
    info.seconds = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - shown_since).count());
    return info;
  }

  SessionState state;
  void set_wait_timeout() {
    if (!interactive || state.variables.number(kWaitTimeout) == state.variables.number(kInteractiveTimeout))
      return;
    // A value that its own definition has checked: this cannot fail.
    (void)state.variables.set(kWaitTimeout, state.variables.get(kInteractiveTimeout));
  }

  bool multi_statements = false;
  bool interactive = false;
  absl::flat_hash_map<uint32_t, std::shared_ptr<PreparedStatement>> by_id;
  absl::flat_hash_map<std::string, std::shared_ptr<PreparedStatement>> named;
  uint32_t last_statement_id = 0;
  Arena arena;  // of the text query that is running

  observe::Mutex shown_mutex{shown_waits()};
  ProcessInfo shown;  // but for the command and its text
  std::string_view shown_command = "Connect", shown_text;
  Clock::time_point shown_since = Clock::now();
  std::mutex kill_mutex;
  std::function<void()> kill_callback;
};

// What the process list shows while a command is executed. The text stays the caller's.
class Session::Shown {
 public:
  Shown(Impl& session, std::string_view command, std::string_view text) : session_(session) {
    session.show_command(command, text);
  }
  ~Shown() { session_.show_command("Sleep", {}); }
  Shown(const Shown&) = delete;

 private:
  Impl& session_;
};

Session::Session(ServerContext& server, uint32_t connection_id)
    : impl_(std::make_unique<Impl>(server, connection_id)) {
  if (server.processes != nullptr)
    server.processes->add(
        connection_id, this, [this] { return impl_->describe(); }, impl_->state.status);
}

Session::~Session() {
  if (impl_->state.server.processes != nullptr)
    impl_->state.server.processes->remove(impl_->state.connection_id);
  rollback_transaction(impl_->state);
}

Task<void> Session::close() {
  set_state("cleaning up");
  rollback_transaction(impl_->state);
  storage::Engine* engine = impl_->state.server.engine;
  if (engine == nullptr) return nothing_to_do();
  return engine->close_connection(impl_->state.engine_data);
}

void Session::set_user(const Account& account, std::string client_host) {
  impl_->state.account = account;
  impl_->state.client_host = std::move(client_host);
  impl_->state.record_version = 0;
  impl_->state.refresh_account();
  impl_->show_client();
  impl_->show_command("Sleep", {});
}

Status Session::start_in_database(std::string_view db) {
  COMMITD_RETURN_IF_ERROR(sql::use_database(impl_->state, db));
  impl_->show_client();
  return {};
}

Task<Status> Session::use_database(std::string_view db) {
  Arena arena;
  auto* use = arena.make<ast::DatabaseStatement>(ast::StatementKind::Use);
  use->name = db;
  struct Outcome : ResultSink {
    Status status;
    void begin_rows(std::span<const ResultColumn>) override {}
    void row(std::span<const Value>) override {}
    bool wants_flush() const override { return false; }
    Task<Status> flush() override { co_return Status(); }
    void end_rows(const OkInfo&) override {}
    void ok(const OkInfo&) override {}
    void error(const Error& failed) override { status = failed; }
  } outcome;
  const Shown shown(*impl_, "Init DB", db);
  co_await run_statement(impl_->state, *impl_, *use, {}, outcome, false);
  co_return outcome.status;
}

void Session::set_client_collation(uint16_t number) {
  const Collation* collation = find_collation(number);
  if (collation == nullptr) collation = find_collation("utf8mb4_general_ci");
  SessionState& state = impl_->state;
  if (state.variables.are_defaults() && !state.tracker.enabled()) return state.start_variables(collation);
  const std::string_view charset = charset_info(collation->charset).name;
  if (has_names(state.variables, charset, collation->name)) return;
  // A known collation of a known character set: this cannot fail.
  (void)set_names(state, charset, collation->name);
}

void Session::set_multi_statements(bool on) {
  impl_->multi_statements = on;
}
void Session::set_version_prefix(std::string prefix) {
  impl_->state.version_prefix = std::move(prefix);
}

void Session::set_found_rows(bool on) {
  impl_->state.found_rows_flag = on;
}
void Session::set_interactive() {
  impl_->interactive = true;
  impl_->set_wait_timeout();
}
void Session::set_tracking(bool on) {
  impl_->state.tracker.enable(on);
}
void Session::set_tls(TlsInfo tls) {
  impl_->state.tls = std::move(tls);
}

bool Session::Impl::answer_at_once(std::string_view sql, ResultSink& sink) {
  ConstantSelect* select = ConstantSelects::of_this_thread().find(state, sql);
  if (select == nullptr) return false;
  const Shown showing(*this, "Query", sql);
  state.status.add(StatusVariable::Questions);
  select->answer(state, sink);
  return true;
}

Task<void> Session::query(std::string_view sql, ResultSink& sink) {
  if (impl_->answer_at_once(sql, sink)) return nothing_to_do();
  return impl_->run_query(sql, sink);
}

Task<void> Session::Impl::run_query(std::string_view sql, ResultSink& sink) {
  const Shown showing(*this, "Query", sql);
  std::string_view rest = sql;
  do {
    state.status.add(StatusVariable::Questions);
    arena.reset();
    auto parsed = parse_statement(rest, arena, lexer_options());
    if (parsed.ok() && !parsed->rest.empty() && !multi_statements) {
      parsed = make_error(er::kParse,
                          "You have an error in your SQL syntax; check the manual that corresponds to your "
                          "MySQL server version for the "
                          "right syntax to use near '{}' at line 1",
                          parsed->rest.substr(0, 80));
    }
    if (!parsed.ok()) {
      state.diagnostics.clear();
      state.diagnostics.add(Diagnostics::Level::Error, parsed.error());
      sink.error(parsed.error());
      break;
    }
    if (parsed->rest.empty() && rest.size() == sql.size())
      ConstantSelects::of_this_thread().keep(state, sql, *parsed->statement, lexer_options());
    const bool done =
        co_await run_statement(state, *this, *parsed->statement, {}, sink, !parsed->rest.empty());
    if (!done) break;
    rest = parsed->rest;
  } while (!rest.empty());
}

Task<Result<PreparedInfo>> Session::prepare(std::string_view sql) {
  Impl& impl = *impl_;
  const Shown shown(impl, "Prepare", sql);
  impl.state.status.add(kStmtPrepare);
  auto parsed = impl.parse_prepared(sql);
  if (!parsed.ok()) co_return std::move(parsed).error();
  const std::shared_ptr<PreparedStatement> prepared = *std::move(parsed);
  const std::vector<Value> unknown(prepared->statement->parameter_count);
  auto columns = co_await describe_statement(impl.state, *prepared->statement, unknown);
  if (!columns.ok()) co_return std::move(columns).error();
  PreparedInfo info;
  info.id = ++impl.last_statement_id;
  info.parameters.assign(unknown.size(), parameter_column());
  info.columns = *std::move(columns);
  impl.by_id[info.id] = prepared;
  co_return info;
}

Task<void> Session::execute(uint32_t statement_id, std::span<const Value> parameters, ResultSink& sink) {
  Impl& impl = *impl_;
  const auto found = impl.by_id.find(statement_id);
  if (found == impl.by_id.end()) {
    sink.error(Impl::unknown_statement(std::to_string(statement_id), "mysqld_stmt_execute"));
    co_return;
  }
  const std::shared_ptr<PreparedStatement> prepared = found->second;
  const Shown shown(impl, "Execute", prepared->text);
  impl.state.status.add(StatusVariable::Questions);
  impl.state.status.add(kStmtExecute);
  KeptSelect* select = prepared->kept_select();
  const bool done =
      select != nullptr && select->take_parameters(parameters) && run_alone(impl.state, *select, sink);
  if (!done) co_await impl.run_prepared(*prepared, parameters, sink, false);
}

size_t Session::parameter_count(uint32_t statement_id) const {
  const auto found = impl_->by_id.find(statement_id);
  return found == impl_->by_id.end() ? 0 : found->second->statement->parameter_count;
}

void Session::close_statement(uint32_t statement_id) {
  impl_->state.status.add(command_variable("stmt_close"));
  impl_->by_id.erase(statement_id);
}

Task<Result<std::vector<ResultColumn>>> Session::field_list(std::string_view table) {
  ast::TableName name;
  name.name = table;
  auto found = shown_table(name, impl_->state);
  if (!found.ok()) co_return std::move(found).error();
  Scope scope;
  scope.sources.push_back(Source::of_table(*found, {}));
  std::vector<ResultColumn> columns;
  for (size_t i = 0; i < scope.sources[0].columns.size(); ++i) {
    const SourceColumn& column = scope.sources[0].columns[i];
    columns.push_back(
        describe_column(ColumnReference(0, i, column.type, column.definition), scope, column.name));
  }
  co_return columns;
}

Task<void> Session::reset() {
  SessionState& state = impl_->state;
  rollback_transaction(state);
  state.user_variables.clear();
  state.start_variables(nullptr);
  impl_->set_wait_timeout();
  state.tracker.state_changed();
  state.diagnostics.clear();
  state.last_insert_id = 0;
  state.next_isolation.reset();
  state.next_read_only.reset();
  impl_->by_id.clear();
  impl_->named.clear();
  co_return;
}

uint16_t Session::server_status() const {
  return sql::server_status(impl_->state);
}

ConnectionLimits Session::limits() const {
  const SessionVariables& variables = impl_->state.variables;
  ConnectionLimits limits;
  limits.wait_timeout = std::chrono::seconds(variables.number(kWaitTimeout));
  limits.net_read_timeout = std::chrono::seconds(variables.number(kNetReadTimeout));
  limits.net_write_timeout = std::chrono::seconds(variables.number(kNetWriteTimeout));
  limits.max_allowed_packet = static_cast<uint32_t>(variables.number(kMaxAllowedPacket));
  return limits;
}

std::vector<SessionChange> Session::take_changes() {
  return impl_->state.tracker.take(impl_->state);
}

void Session::kill(bool connection) {
  SessionState& state = impl_->state;
  (connection ? state.kill_connection : state.kill_query).store(true, std::memory_order_relaxed);
  if (state.server.transactions != nullptr) {
    state.server.transactions->locks.kill_wait(state.lock_owner);
    state.server.transactions->locks.kill_wait(state.table_locks.owner());
    state.server.transactions->pipeline.ordered().wake_killed();
  }
  state.engine_data.interrupt();
  if (!connection) return;
  std::function<void()> callback;
  {
    const std::lock_guard lock(impl_->kill_mutex);
    callback = std::move(impl_->kill_callback);
    impl_->kill_callback = nullptr;
  }
  if (callback) callback();
}

bool Session::killed() const {
  return impl_->state.kill_connection.load(std::memory_order_relaxed);
}

void Session::on_kill(std::function<void()> callback) {
  const std::lock_guard lock(impl_->kill_mutex);
  impl_->kill_callback = std::move(callback);
}

std::optional<Value> Session::user_variable(std::string_view name) const {
  const auto found = impl_->state.user_variables.find(lower_case(name));
  if (found == impl_->state.user_variables.end()) return std::nullopt;
  return found->second;
}

bool Session::may_replicate() const {
  return impl_->state.account.is_operator || impl_->state.has_privilege(privilege::kReplicationSlave);
}

uint32_t Session::connection_id() const {
  return impl_->state.connection_id;
}

void Session::set_state(std::string_view state) {
  const std::lock_guard lock(impl_->shown_mutex);
  impl_->shown.state = state;
}

}  // namespace commitd::sql
