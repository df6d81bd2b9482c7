#include "sql/session.h"

#include <algorithm>
#include <mutex>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "commit/commit_throttle.h"
#include "sql/administration/set.h"
#include "sql/ast/definitions.h"
#include "sql/executor/statement_runner.h"
#include "sql/parser/parser.h"
#include "sql/plan_cache/constant_select.h"
#include "sql/plan_cache/point_select.h"
#include "sql/prepared_statements.h"
#include "sql/process_list.h"
#include "sql/query/select.h"
#include "sql/session_state.h"
#include "sql/show/show.h"
#include "sql/shown_session.h"

namespace commitd::sql {
namespace {

constexpr StatusVariable kStmtPrepare = command_variable("stmt_prepare"),
                         kStmtExecute = command_variable("stmt_execute");

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

class Session::Impl {
 public:
  Impl(ServerContext& server, uint32_t connection_id) : state(server, connection_id) {}

  // False: it is to be run, and nothing was sent or counted.
  bool answer_at_once(std::string_view sql, ResultSink& sink);
  Task<void> run_query(std::string_view sql, ResultSink& sink);

  void set_wait_timeout() {
    if (!interactive || state.variables.number(kWaitTimeout) == state.variables.number(kInteractiveTimeout))
      return;
    // A value that its own definition has checked: this cannot fail.
    (void)state.variables.set(kWaitTimeout, state.variables.get(kInteractiveTimeout));
  }

  SessionState state;
  PreparedStatements prepared{state};
  ShownSession shown{state};
  bool multi_statements = false;
  bool interactive = false;
  Arena arena;  // of the text query that is running

  std::mutex kill_mutex;
  std::function<void()> kill_callback;
};

Session::Session(ServerContext& server, uint32_t connection_id)
    : impl_(std::make_unique<Impl>(server, connection_id)) {
  if (server.processes != nullptr)
    server.processes->add(
        connection_id, this, [this] { return impl_->shown.describe(); }, impl_->state.status);
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
  ProcessList* processes = impl_->state.server.processes;
  if (processes != nullptr && processes->closes_locked())
    return processes->close_locked(*engine, impl_->state.engine_data);
  return engine->close_connection(impl_->state.engine_data);
}

void Session::set_user(const Account& account, std::string client_host) {
  impl_->state.account = account;
  impl_->state.client_host = std::move(client_host);
  impl_->state.record_version = 0;
  impl_->state.refresh_account();
  impl_->shown.show_client();
  impl_->shown.show_sleep();
}

Status Session::start_in_database(std::string_view db) {
  COMMITD_RETURN_IF_ERROR(sql::use_database(impl_->state, db));
  impl_->shown.show_client();
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
  const ShownSession::Command showing(impl_->shown, "Init DB", db);
  co_await run_statement(impl_->state, impl_->prepared, *use, {}, outcome, false);
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
  const ShownSession::Command showing(shown, "Query", sql);
  state.status.add(StatusVariable::Questions);
  select->answer(state, sink);
  return true;
}

Task<void> Session::query(std::string_view sql, ResultSink& sink) {
  if (impl_->answer_at_once(sql, sink)) return nothing_to_do();
  return impl_->run_query(sql, sink);
}

Task<void> Session::Impl::run_query(std::string_view sql, ResultSink& sink) {
  const ShownSession::Command showing(shown, "Query", sql);
  std::string_view rest = sql;
  do {
    state.status.add(StatusVariable::Questions);
    arena.reset();
    LexerOptions options = lexer_options(state.settings.sql_mode);
    options.parameters = false;
    auto parsed = parse_statement(rest, arena, options);
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
      ConstantSelects::of_this_thread().keep(state, sql, *parsed->statement, options);
    const bool done =
        co_await run_statement(state, prepared, *parsed->statement, {}, sink, !parsed->rest.empty());
    if (!done) break;
    rest = parsed->rest;
  } while (!rest.empty());
}

Task<Result<PreparedInfo>> Session::prepare(std::string_view sql) {
  Impl& impl = *impl_;
  const ShownSession::Command showing(impl.shown, "Prepare", sql);
  impl.state.status.add(kStmtPrepare);
  auto prepared = impl.prepared.parse(sql);
  if (!prepared.ok()) co_return std::move(prepared).error();
  const ast::Statement& statement = *(*prepared)->statement;
  const std::vector<Value> unknown(statement.parameter_count);
  auto columns = co_await describe_statement(impl.state, statement, unknown);
  if (!columns.ok()) co_return std::move(columns).error();
  PreparedInfo info;
  info.id = impl.prepared.add(*std::move(prepared));
  info.parameters.assign(unknown.size(), parameter_column());
  info.columns = *std::move(columns);
  co_return info;
}

Task<void> Session::execute(uint32_t statement_id, std::span<const Value> parameters, ResultSink& sink) {
  Impl& impl = *impl_;
  auto found = impl.prepared.find(statement_id);
  if (!found.ok()) {
    sink.error(found.error());
    co_return;
  }
  const PreparedStatements::Pointer prepared = *std::move(found);  // stays while it runs
  const ShownSession::Command showing(impl.shown, "Execute", prepared->text);
  impl.state.status.add(StatusVariable::Questions);
  impl.state.status.add(kStmtExecute);
  CachedSelect* select = prepared->cached_select();
  const bool done =
      select != nullptr && select->take_parameters(parameters) && run_alone(impl.state, *select, sink);
  if (!done) co_await impl.prepared.run(*prepared, parameters, sink, false);
}

size_t Session::parameter_count(uint32_t statement_id) const {
  return impl_->prepared.parameter_count(statement_id);
}

void Session::close_statement(uint32_t statement_id) {
  impl_->state.status.add(command_variable("stmt_close"));
  impl_->prepared.close(statement_id);
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
  if (state.server.processes != nullptr)
    state.server.processes->named_locks().give_all_back(state.connection_id);
  state.start_variables(nullptr);
  impl_->set_wait_timeout();
  state.tracker.state_changed();
  state.diagnostics.clear();
  state.last_insert_id = 0;
  state.next_isolation.reset();
  state.next_read_only.reset();
  impl_->prepared.clear();
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
    state.server.transactions->pipeline.throttle().wake_killed();
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

bool Session::gives_role() const {
  return impl_->state.gives_role.load();
}

void Session::on_kill(std::function<void()> callback) {
  const std::lock_guard lock(impl_->kill_mutex);
  impl_->kill_callback = std::move(callback);
}

void Session::ends_when(std::function<bool()> client_has_gone) {
  impl_->state.client_has_gone = std::move(client_has_gone);
}

std::optional<Value> Session::user_variable(std::string_view name) const {
  const auto found = impl_->state.user_variables.find(lower_case(name));
  if (found == impl_->state.user_variables.end()) return std::nullopt;
  return found->second;
}

bool Session::may_replicate() const {
  return impl_->state.account.is_operator() || impl_->state.has_privilege(privilege::kReplicationSlave);
}

uint32_t Session::connection_id() const {
  return impl_->state.connection_id;
}

void Session::set_state(std::string_view state) {
  impl_->shown.show_state(state);
}

}  // namespace commitd::sql
