// What each command of a connection does.
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/error_codes.h"
#include "observe/metrics.h"
#include "runtime/idle_spin.h"
#include "wire/auth/password.h"
#include "wire/connection.h"
#include "wire/dump_commands.h"
#include "wire/packets.h"

namespace commitd::wire {

namespace {

Error malformed_packet() {
  return make_error(er::kUnknownError, "Malformed communication packet");
}

Error replication_denied() {
  return make_error(
      er::kSpecificAccessDenied,
      "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation");
}

}  // namespace

// Without a coroutine between the commands that most clients send and those who serve them.
Task<bool> Connection::serve(std::string_view packet) {
  const std::string_view arguments = packet.substr(std::min<size_t>(packet.size(), 1));
  switch (static_cast<Command>(packet.empty() ? '\0' : packet.front())) {
    case Command::Query:
      return query(arguments);
    case Command::StmtExecute:
      return execute(arguments);
    default:
      return serve_rarer(packet);
  }
}

Task<bool> Connection::serve_rarer(std::string_view packet) {
  if (packet.empty()) {
    write_error(channel_, malformed_packet());
    co_return true;
  }
  std::string_view arguments = packet.substr(1);
  switch (static_cast<Command>(packet.front())) {
    case Command::InitDb:
      co_await use_database(arguments);
      co_return true;
    case Command::Quit:  // serve_commands()'s
    case Command::Query:
    case Command::StmtExecute:
      break;  // serve()'s
    case Command::FieldList:
      co_await field_list(arguments);
      co_return true;
    case Command::Shutdown:
      co_return co_await query("SHUTDOWN");
    case Command::Refresh:
      co_return co_await refresh(arguments);
    case Command::ProcessInfo:
      co_return co_await query("SHOW PROCESSLIST");
    case Command::Debug:
      write_eof(channel_, ok_info(), deprecate_eof());
      co_return true;
    case Command::Statistics:
      statistics();
      co_return true;
    case Command::ProcessKill:
      co_return co_await kill_process(arguments);
    case Command::Ping:
      write_ok();
      co_return true;
    case Command::ChangeUser:
      co_return co_await change_user(arguments);
    case Command::BinlogDump:
      co_await dump(arguments, false);
      co_return false;
    case Command::BinlogDumpGtid:
      co_await dump(arguments, true);
      co_return false;
    case Command::RegisterReplica:
      register_replica(arguments);
      co_return true;
    case Command::StmtPrepare:
      co_await prepare(arguments);
      co_return true;
    case Command::StmtSendLongData:
      send_long_data(arguments);
      co_return true;
    case Command::StmtClose:
      close_statement(arguments);
      co_return true;
    case Command::StmtReset:
      reset_statement(arguments);
      co_return true;
    case Command::SetOption:
      set_option(arguments);
      co_return true;
    case Command::ResetConnection:
      co_await reset_connection();
      co_return true;
    case Command::Clone:
      co_return co_await clone(arguments);
  }
  write_error(channel_, make_error(er::kUnknownCom, "Unknown command"));
  co_return true;
}

sql::OkInfo Connection::ok_info() const {
  sql::OkInfo info;
  info.server_status = session_.server_status();
  return info;
}

void Connection::write_ok() {
  wire::write_ok(channel_, ok_info(), session_.take_changes());
}

Task<bool> Connection::finish(ResultWriter& writer) {
  Status finished = co_await writer.finish();
  if (!finished.ok() && is_worth_telling(finished.error())) write_error(channel_, finished.error());
  co_return finished.ok();
}

Task<void> Connection::use_database(std::string_view db) {
  Status used = co_await session_.use_database(db);
  if (used.ok()) {
    write_ok();
  } else {
    write_error(channel_, used.error());
  }
}

Task<bool> Connection::query(std::string_view sql) {
  const IdleSpin::AtWork at_work;
  TextResultWriter writer(channel_, session_, capabilities_);
  co_await session_.query(sql, writer);
  if (writer.is_finished()) co_return true;
  co_return co_await finish(writer);
}

// Table name and zero, then a pattern that clients match themselves.
Task<void> Connection::field_list(std::string_view arguments) {
  auto columns = co_await session_.field_list(arguments.substr(0, arguments.find('\0')));
  if (!columns.ok()) {
    write_error(channel_, columns.error());
    co_return;
  }
  for (const sql::ResultColumn& column : *columns) write_column(channel_, column, true);
  write_eof(channel_, ok_info(), deprecate_eof());
}

Task<void> Connection::prepare(std::string_view sql) {
  auto prepared = co_await session_.prepare(sql);
  if (!prepared.ok()) {
    write_error(channel_, prepared.error());
    co_return;
  }
  ByteWriter out(channel_.begin_packet());
  out.u8(kOkHeader);
  out.le32(prepared->id);
  out.le16(static_cast<uint16_t>(prepared->columns.size()));
  out.le16(static_cast<uint16_t>(prepared->parameters.size()));
  out.u8(0);
  out.le16(prepared->warnings);
  channel_.end_packet();
  const sql::OkInfo info = ok_info();
  for (const auto* definitions : {&prepared->parameters, &prepared->columns}) {
    for (const sql::ResultColumn& column : *definitions) write_column(channel_, column);
    if (!definitions->empty() && !deprecate_eof()) write_eof(channel_, info, false);
  }
}

// Cursors are answered without one, with all rows at once: the status flag tells the client.
Task<bool> Connection::execute(std::string_view arguments) {
  const IdleSpin::AtWork at_work;
  ByteReader in(arguments);
  uint32_t id = in.le32();
  in.skip(1 + 4);  // cursor type, iteration count
  if (!in.ok()) {
    write_error(channel_, malformed_packet());
    co_return true;
  }
  size_t count = session_.parameter_count(id);
  auto parameters = statements_[id].decode(in.rest(), count);
  if (count == 0) statements_.erase(id);
  if (!parameters.ok()) {
    write_error(channel_, parameters.error());
    co_return true;
  }
  BinaryResultWriter writer(channel_, session_, capabilities_);
  co_await session_.execute(id, *parameters, writer);
  if (writer.is_finished()) co_return true;
  co_return co_await finish(writer);
}

void Connection::send_long_data(std::string_view arguments) {
  ByteReader in(arguments);
  uint32_t id = in.le32();
  uint16_t parameter = in.le16();
  if (!in.ok() || parameter >= session_.parameter_count(id)) return;  // this command has no reply
  statements_[id].add_long_data(parameter, in.rest(), session_.limits().max_allowed_packet);
}

void Connection::close_statement(std::string_view arguments) {
  ByteReader in(arguments);
  uint32_t id = in.le32();
  if (!in.ok()) return;  // this command has no reply
  statements_.erase(id);
  session_.close_statement(id);
}

void Connection::reset_statement(std::string_view arguments) {
  ByteReader in(arguments);
  auto found = statements_.find(in.le32());
  if (found != statements_.end()) found->second.reset_long_data();
  write_ok();
}

void Connection::set_option(std::string_view arguments) {
  ByteReader in(arguments);
  uint16_t option = in.le16();
  if (!in.ok() || option > 1) return write_error(channel_, make_error(er::kUnknownCom, "Unknown command"));
  session_.set_multi_statements(option == 0);
  write_eof(channel_, ok_info(), deprecate_eof());
}

void Connection::statistics() {
  static const auto started = Clock::now();
  double questions = 0;
  for (const auto& [name, value] : observe::snapshot()) {
    if (name.starts_with("commitd_commands_total")) questions += value;
  }
  auto uptime = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started).count();
  channel_.write_packet(
      fmt::format("Uptime: {}  Threads: {}  Questions: {:.0f}  Queries per second avg: {:.3f}", uptime,
                  context_.registry.count(), questions, questions / static_cast<double>(uptime + 1)));
}

Task<bool> Connection::kill_process(std::string_view arguments) {
  ByteReader in(arguments);
  uint32_t id = in.le32();
  if (!in.ok()) {
    write_error(channel_, malformed_packet());
    co_return true;
  }
  std::string statement = fmt::format("KILL CONNECTION {}", id);
  co_return co_await query(statement);
}

// What mysqladmin flush-logs and so on send; the statement checks the privilege.
Task<bool> Connection::refresh(std::string_view arguments) {
  constexpr std::pair<uint8_t, std::string_view> kParts[] = {
      {1, "PRIVILEGES"}, {2, "LOGS"}, {4, "TABLES"}, {8, "HOSTS"}, {16, "STATUS"}};
  ByteReader in(arguments);
  uint8_t wanted = in.u8();
  std::string statement;
  for (const auto& [bit, what] : kParts) {
    if ((wanted & bit) != 0) statement += fmt::format("{}{}", statement.empty() ? "FLUSH " : ", ", what);
  }
  if (!in.ok()) {
    write_error(channel_, malformed_packet());
    co_return true;
  }
  // Of the thread cache and of replicas there is nothing to flush.
  co_return co_await query(statement.empty() ? std::string_view("DO 0") : statement);
}

Task<bool> Connection::change_user(std::string_view arguments) {
  auto request = decode_change_user(arguments, capabilities_);
  if (!request.ok()) {
    write_error(channel_, request.error());
    co_return false;
  }
  co_await session_.reset();
  statements_.clear();
  LoginAttempt attempt;  // without a method: the client is asked to answer to a new salt
  attempt.user = request->user;
  Status changed = co_await authenticate(attempt, *request, login_deadline());
  if (changed.ok()) {
    write_ok();
  } else {
    write_error(channel_, changed.error());
  }
  co_return changed.ok();
}

Task<void> Connection::reset_connection() {
  co_await session_.reset();
  statements_.clear();
  write_ok();
}

void Connection::register_replica(std::string_view arguments) {
  if (!session_.may_replicate()) return write_error(channel_, replication_denied());
  auto replica = decode_register_replica(arguments);
  if (!replica.ok()) return write_error(channel_, replica.error());
  if (replica->host.empty()) replica->host = channel_.peer_address();
  replica_ = *std::move(replica);
  write_ok();
}

Task<void> Connection::dump(std::string_view arguments, bool by_gtid) {
  if (!session_.may_replicate()) {
    write_error(channel_, replication_denied());
    co_return;
  }
  auto request = by_gtid ? decode_dump_gtid(arguments) : decode_dump(arguments);
  if (!request.ok()) {
    write_error(channel_, request.error());
    co_return;
  }
  request->replica = replica_;
  dumping_.store(true);
  channel_.set_duplex();
  Status ended = co_await context_.dumps.dump(session_, channel_, std::move(*request));
  if (!ended.ok()) write_error(channel_, ended.error());
}

Task<bool> Connection::clone(std::string_view arguments) {
  Status given = make_error(er::kUnknownCom, "Unknown command");
  if (context_.options.clones != nullptr)
    given = co_await context_.options.clones->give(session_, channel_, arguments);
  if (!given.ok()) write_error(channel_, given.error());
  co_return given.ok();
}

}  // namespace commitd::wire
