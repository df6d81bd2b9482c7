// SHOW BINARY LOGS, BINARY LOG STATUS, BINLOG EVENTS, RELAYLOG EVENTS and REPLICA STATUS.
#include "base/error_codes.h"
#include "binlog/events.h"
#include "sql/ast/administration.h"
#include "sql/show/show.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

constexpr size_t kReadBytes = 1 << 20;
constexpr uint64_t kAllEvents = UINT64_MAX;

Result<binlog::CommitPipeline*> pipeline_of(SessionState& session) {
  if (!session.server.transactions) return binlog::no_binary_logging();
  return &session.server.transactions->pipeline;
}

std::string_view event_name(binlog::EventType type) {
  using binlog::EventType;
  switch (type) {
    case EventType::Query:
      return "Query";
    case EventType::Stop:
      return "Stop";
    case EventType::Rotate:
      return "Rotate";
    case EventType::FormatDescription:
      return "Format_desc";
    case EventType::Xid:
      return "Xid";
    case EventType::TableMap:
      return "Table_map";
    case EventType::WriteRows:
      return "Write_rows";
    case EventType::UpdateRows:
      return "Update_rows";
    case EventType::DeleteRows:
      return "Delete_rows";
    case EventType::Gtid:
      return "Gtid";
    case EventType::AnonymousGtid:
      return "Anonymous_Gtid";
    case EventType::PreviousGtids:
      return "Previous_gtids";
    default:
      return "Ignorable";
  }
}

std::string event_info(const binlog::EventView& event) {
  using binlog::EventType;
  switch (event.header.type) {
    case EventType::Query: {
      auto query = binlog::parse_query_event(event, true);
      if (!query.ok()) return query.error().message;
      return query->db.empty() ? query->sql : "use `" + query->db + "`; " + query->sql;
    }
    case EventType::Gtid: {
      auto gtid = binlog::parse_gtid_event(event, true);
      return gtid.ok() ? "SET @@SESSION.GTID_NEXT= '" + gtid->gtid.to_string() + "'" : gtid.error().message;
    }
    case EventType::TableMap: {
      auto map = binlog::parse_table_map_event(event, true);
      return map.ok() ? fmt::format("table_id: {} ({}.{})", map->table_id, map->db, map->table)
                      : map.error().message;
    }
    case EventType::WriteRows:
    case EventType::UpdateRows:
    case EventType::DeleteRows: {
      auto rows = binlog::parse_rows_event(event, true);
      if (!rows.ok()) return rows.error().message;
      return fmt::format("table_id: {}{}", rows->table_id, rows->statement_end ? " flags: STMT_END_F" : "");
    }
    case EventType::Ignorable: {
      auto own = binlog::parse_own_event(event, true);
      if (!own) return "";
      constexpr std::string_view kNames[] = {"",      "commit group",      "row ids",
                                             "epoch", "local transaction", "place at the source"};
      size_t kind = static_cast<size_t>(own->kind);
      return kind < std::size(kNames) ? std::string(kNames[kind]) : "";
    }
    default:
      return "";
  }
}

Error cannot_show_events(binlog::LogKind kind, std::string_view why) {
  return make_error(er::kErrorWhenExecutingCommand, "Error when executing command SHOW {} EVENTS: {}",
                    kind == binlog::LogKind::Relay ? "RELAYLOG" : "BINLOG", why);
}

// Whether an event really starts here: the position came from somebody.
bool is_event_at(const binlog::EventView& event, const LogPosition& at) {
  return event.header.end_position == at.offset + event.header.length && binlog::checksum_matches(event);
}

uint64_t literal_number(const ast::Expr* expression, uint64_t otherwise) {
  return expression ? std::strtoull(std::string(expression->text).c_str(), nullptr, 10) : otherwise;
}

}  // namespace

Result<ShowResult> show_binary_logs(SessionState& session) {
  auto pipeline = pipeline_of(session);
  if (!pipeline.ok()) return std::move(pipeline).error();
  if (!(*pipeline)->logging()) return binlog::no_binary_logging();
  auto files = (*pipeline)->log().files();
  if (!files.ok()) return std::move(files).error();
  auto result = shown({text("Log_name", 255), number("File_size"), text("Encrypted", 3)});
  for (const auto& file : *files)
    result.rows.push_back({text_value(file.name), number_value(file.size), text_value("No")});
  return result;
}

Result<ShowResult> show_binary_log_status(SessionState& session) {
  auto pipeline = pipeline_of(session);
  if (!pipeline.ok()) return std::move(pipeline).error();
  const auto visible = (*pipeline)->visible();
  auto result = shown({text("File", 255), number("Position"), text("Binlog_Do_DB"), text("Binlog_Ignore_DB"),
                       long_text("Executed_Gtid_Set")});
  if (!(*pipeline)->logging()) return result;
  const LogPosition end = (*pipeline)->log().binary_end(visible.end);
  result.rows.push_back({text_value((*pipeline)->log().file_name(end.file)), number_value(end.offset),
                         text_value(""), text_value(""), text_value(visible.executed.to_string())});
  return result;
}

Result<ShowResult> show_log_events(const ast::ShowStatement& statement, binlog::LogKind kind,
                                   SessionState& session) {
  auto pipeline = pipeline_of(session);
  if (!pipeline.ok()) return std::move(pipeline).error();
  auto result = shown({text("Log_name", 20), number("Pos"), text("Event_type", 20), number("Server_id"),
                       number("End_log_pos"), long_text("Info")});
  if (!(*pipeline)->logging()) return result;
  binlog::Log& log = (*pipeline)->log();
  auto files = log.files(kind);
  if (!files.ok()) return std::move(files).error();
  if (files->empty()) return result;
  std::string name = statement.log_name.empty() ? files->front().name : std::string(statement.log_name);
  auto file = log.file_number(name, kind);
  if (!file.ok()) return cannot_show_events(kind, "Could not find target log");
  LogPosition at{*file, std::max<uint64_t>(statement.log_position, 4)};
  // What is received is there before it is acknowledged, too.
  LogPosition limit =
      kind == binlog::LogKind::Relay ? (*pipeline)->durable_end() : (*pipeline)->acknowledged_end();
  // Who executes the SHOW skips the rows in front of the limit, as for every SHOW; here only no more are
  // read.
  const uint64_t offset = literal_number(statement.offset, 0),
                 count = literal_number(statement.limit, kAllEvents);
  uint64_t left = count > kAllEvents - offset ? kAllEvents : offset + count;
  while (left > 0) {
    auto chunk = log.read(at, limit, kReadBytes);
    if (!chunk.ok()) return cannot_show_events(kind, "Wrong offset or I/O error");
    if (chunk->bytes.empty() || chunk->start.file != *file) break;
    std::string_view rest = chunk->bytes;
    at = chunk->start;
    while (!rest.empty() && left > 0) {
      auto event = binlog::parse_event(rest);
      if (!event.ok() || !is_event_at(*event, at))
        return cannot_show_events(kind, "Wrong offset or I/O error");
      --left;
      result.rows.push_back({text_value(name), number_value(at.offset),
                             text_value(event_name(event->header.type)),
                             number_value(event->header.server_id), number_value(event->header.end_position),
                             text_value(event_info(*event))});
      at.offset += event->header.length;
      rest.remove_prefix(event->header.length);
    }
  }
  return result;
}

Result<ShowResult> show_replicas(SessionState& session) {
  auto result = shown({number("Server_Id"), text("Host", 255), number("Port"), number("Source_Id"),
                       text("Replica_UUID", 36)});
  if (!session.server.instance) return result;
  for (const AttachedReplica& replica : session.server.instance->replicas()) {
    result.rows.push_back({number_value(replica.server_id), text_value(replica.host),
                           number_value(replica.port), number_value(session.server.server_id),
                           text_value(replica.uuid.is_nil() ? "" : replica.uuid.to_string())});
  }
  return result;
}

Result<ShowResult> show_replica_status(SessionState& session) {
  auto result = shown({});
  if (!session.server.instance) return result;
  std::vector<ColumnDef> columns;
  Row row;
  for (auto& [name, value] : session.server.instance->replica_status()) {
    columns.push_back(long_text(name));
    row.push_back(value ? text_value(*value) : Value::null());
  }
  if (columns.empty()) return shown({text("Replica_IO_State")});
  return shown(std::move(columns), {std::move(row)});
}

}  // namespace commitd::sql
