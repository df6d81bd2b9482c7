// A link-time stand-in for sql::Session that answers from the words of the statement:
//   ok or SET … | error | rows N | big N | wait (until killed) | load FILE (its size; gives up at "stop") |
//   wait_timeout N | read_timeout N | max_packet N | changed (three session changes) | tls (version) |
//   anything else: one row with the statement itself
// A prepared statement has a parameter for each '?' and returns its parameters as a row.
#include "sql/session.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>

#include "base/error_codes.h"
#include "runtime/parker.h"
#include "wire/testing/test_server.h"

namespace commitd::wire::testing {
std::atomic<int> waiting_statements{0};
}

namespace commitd::sql {

namespace {

ResultColumn column_named(std::string name, FieldType type) {
  ResultColumn column;
  column.name = std::move(name);
  column.type = type;
  return column;
}

size_t number_in(std::string_view text) {
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

FieldType type_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
    case Value::Kind::UInt:
      return FieldType::LongLong;
    case Value::Kind::Double:
      return FieldType::Double;
    case Value::Kind::Decimal:
      return FieldType::NewDecimal;
    case Value::Kind::Temporal:
      return value.as_temporal().kind == Temporal::Kind::Time ? FieldType::Time : FieldType::DateTime;
    default:
      return FieldType::VarString;
  }
}

}  // namespace

class Session::Impl {
 public:
  explicit Impl(uint32_t connection_id) : id(connection_id) {}

  Task<void> answer_rows(size_t count, ResultSink& sink);
  void answer_text(std::string text, ResultSink& sink);
  Task<void> wait_until_killed(ResultSink& sink);
  Task<void> load(std::string_view file, ResultSink& sink);

  uint32_t id;
  Account account;
  TlsInfo tls;
  ConnectionLimits limits;
  std::vector<SessionChange> changes;
  std::string database;
  std::map<uint32_t, size_t> parameter_counts;
  std::atomic<bool> killed{false};
  Parker killed_parker;
  std::function<void()> on_kill;
};

Task<void> Session::Impl::answer_rows(size_t count, ResultSink& sink) {
  const ResultColumn columns[] = {column_named("number", FieldType::LongLong),
                                  column_named("text", FieldType::VarString),
                                  column_named("nothing", FieldType::Null)};
  sink.begin_rows(columns);
  for (size_t i = 0; i < count; ++i) {
    const Value values[] = {Value::unsigned_integer(i), Value::string("row " + std::to_string(i)),
                            Value::null()};
    sink.row(values);
    if (sink.wants_flush()) {
      Status flushed = co_await sink.flush();
      if (!flushed.ok()) co_return;
    }
  }
  sink.end_rows({});
}

void Session::Impl::answer_text(std::string text, ResultSink& sink) {
  const ResultColumn columns[] = {column_named("echo", FieldType::VarString)};
  sink.begin_rows(columns);
  const Value values[] = {Value::string(std::move(text))};
  sink.row(values);
  sink.end_rows({});
}

Task<void> Session::Impl::wait_until_killed(ResultSink& sink) {
  ++wire::testing::waiting_statements;
  co_await killed_parker.park();
  --wire::testing::waiting_statements;
  sink.error(make_error(er::kQueryInterrupted, "Query execution was interrupted"));
}

Task<void> Session::Impl::load(std::string_view file, ResultSink& sink) {
  Status asked = co_await sink.request_local_file(file);
  if (!asked.ok()) co_return sink.error(asked.error());
  OkInfo info;
  for (;;) {
    auto piece = co_await sink.read_local_file();
    if (!piece.ok()) co_return sink.error(piece.error());
    if (*piece == "stop") co_return sink.error(make_error(er::kDupEntry, "stopped"));
    if (piece->empty()) break;
    info.affected_rows += piece->size();
  }
  sink.ok(info);
}

Session::Session(ServerContext&, uint32_t connection_id) : impl_(std::make_unique<Impl>(connection_id)) {}
Session::~Session() = default;

void Session::set_user(const Account& account, std::string) {
  impl_->account = account;
}

Task<Status> Session::use_database(std::string_view db) {
  co_return start_in_database(db);
}

Status Session::start_in_database(std::string_view db) {
  if (db == "missing") return make_error(er::kBadDb, "Unknown database '{}'", db);
  impl_->database = db;
  return {};
}

void Session::set_client_collation(uint16_t) {}
void Session::set_multi_statements(bool) {}
void Session::set_version_prefix(std::string) {}
void Session::set_found_rows(bool) {}
void Session::set_interactive() {}
void Session::set_tracking(bool) {}
void Session::set_tls(TlsInfo tls) {
  impl_->tls = std::move(tls);
}

Task<void> Session::query(std::string_view sql, ResultSink& sink) {
  if (sql == "ok" || sql.starts_with("SET ")) {
    OkInfo info;
    info.affected_rows = 3;
    info.info = "three rows";
    sink.ok(info);
  } else if (sql.starts_with("wait_timeout ")) {
    impl_->limits.wait_timeout = std::chrono::seconds(number_in(sql.substr(13)));
    sink.ok({});
  } else if (sql.starts_with("read_timeout ")) {
    impl_->limits.net_read_timeout = std::chrono::seconds(number_in(sql.substr(13)));
    sink.ok({});
  } else if (sql.starts_with("max_packet ")) {
    impl_->limits.max_allowed_packet = static_cast<uint32_t>(number_in(sql.substr(11)));
    sink.ok({});
  } else if (sql == "changed") {
    impl_->changes = {{SessionChange::What::SystemVariable, "autocommit", "OFF"},
                      {SessionChange::What::Schema, {}, "shop"},
                      {SessionChange::What::Gtids, {}, "uuid:7"}};
    sink.ok({});
  } else if (sql == "tls") {
    impl_->answer_text(impl_->tls.version, sink);
  } else if (sql.starts_with("load ")) {
    co_await impl_->load(sql.substr(5), sink);
  } else if (sql == "error") {
    sink.error(make_error(er::kParse, "You have an error in your SQL syntax"));
  } else if (sql.starts_with("rows ")) {
    co_await impl_->answer_rows(number_in(sql.substr(5)), sink);
  } else if (sql.starts_with("big ")) {
    impl_->answer_text(std::string(number_in(sql.substr(4)), 'b'), sink);
  } else if (sql == "wait") {
    co_await impl_->wait_until_killed(sink);
  } else {
    impl_->answer_text(std::string(sql), sink);
  }
}

Task<Result<PreparedInfo>> Session::prepare(std::string_view sql) {
  if (sql == "error") co_return make_error(er::kParse, "You have an error in your SQL syntax");
  PreparedInfo info;
  info.id = static_cast<uint32_t>(impl_->parameter_counts.size() + 1);
  size_t count = static_cast<size_t>(std::count(sql.begin(), sql.end(), '?'));
  info.parameters.assign(count, column_named("?", FieldType::VarString));
  impl_->parameter_counts[info.id] = count;
  co_return std::move(info);
}

Task<void> Session::execute(uint32_t statement_id, std::span<const Value> parameters, ResultSink& sink) {
  if (!impl_->parameter_counts.contains(statement_id)) {
    sink.error(make_error(er::kUnknownStmtHandler,
                          "Unknown prepared statement handler ({}) given to mysqld_stmt_execute",
                          statement_id));
    co_return;
  }
  if (parameters.empty()) {
    sink.ok({});
    co_return;
  }
  std::vector<ResultColumn> columns;
  for (const Value& value : parameters) columns.push_back(column_named("p", type_of(value)));
  sink.begin_rows(columns);
  sink.row(parameters);
  sink.end_rows({});
}

size_t Session::parameter_count(uint32_t statement_id) const {
  auto found = impl_->parameter_counts.find(statement_id);
  return found == impl_->parameter_counts.end() ? 0 : found->second;
}

void Session::close_statement(uint32_t statement_id) {
  impl_->parameter_counts.erase(statement_id);
}

Task<Result<std::vector<ResultColumn>>> Session::field_list(std::string_view table) {
  std::vector<ResultColumn> columns{column_named(std::string(table) + "_id", FieldType::Long)};
  co_return std::move(columns);
}

Task<void> Session::close() {
  co_return;
}
Task<void> Session::reset() {
  impl_->parameter_counts.clear();
  co_return;
}

ConnectionLimits Session::limits() const {
  return impl_->limits;
}
std::vector<SessionChange> Session::take_changes() {
  return std::exchange(impl_->changes, {});
}

uint16_t Session::server_status() const {
  return 2;
}

void Session::kill(bool connection) {
  if (impl_->killed.exchange(true)) return;
  impl_->killed_parker.wake();
  if (connection && impl_->on_kill) impl_->on_kill();
}

bool Session::killed() const {
  return impl_->killed.load();
}
bool Session::gives_role() const {
  return false;
}
void Session::on_kill(std::function<void()> callback) {
  impl_->on_kill = std::move(callback);
}
void Session::ends_when(std::function<bool()>) {}
std::optional<Value> Session::user_variable(std::string_view) const {
  return std::nullopt;
}
bool Session::may_replicate() const {
  return impl_->account.is_operator() || impl_->account.user == "replica";
}
uint32_t Session::connection_id() const {
  return impl_->id;
}
void Session::set_state(std::string_view) {}

}  // namespace commitd::sql
