// The last clone, under MySQL's headings.
#include "sql/information_schema/clone_tables.h"

#include "base/temporal.h"
#include "sql/clone_control.h"
#include "sql/maintenance.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "performance_schema";
constexpr uint64_t kSecond = 1'000'000;

std::string_view state_text(CloneReport::State state) {
  switch (state) {
    case CloneReport::State::InProgress:
      return "In Progress";
    case CloneReport::State::Completed:
      return "Completed";
    case CloneReport::State::Failed:
      return "Failed";
  }
  return "Failed";
}

std::optional<CloneReport> last_clone(const SessionState& session) {
  Maintenance* maintenance = session.server.maintenance;
  CloneControl* clones = maintenance == nullptr ? nullptr : maintenance->clones();
  return clones == nullptr ? std::nullopt : clones->last();
}

Value time_value(const SessionState& session, uint64_t microseconds) {
  if (microseconds == 0) return Value::null();
  return Value::temporal(
      datetime_from_unix(static_cast<int64_t>(microseconds / kSecond) + session.settings.time_zone_offset,
                         static_cast<uint32_t>(microseconds % kSecond), 3));
}

ColumnDef time_column(std::string name) {
  ColumnDef column = datetime(std::move(name));
  column.decimals = 3;
  return column;
}

std::vector<Row> clone_status_rows(SessionState& session) {
  const auto clone = last_clone(session);
  if (!clone) return {};
  const bool in_progress = clone->state == CloneReport::State::InProgress;
  return {{number_value(1), number_value(in_progress ? clone->connection_id : 0),
           text_value(state_text(clone->state)), time_value(session, clone->began),
           in_progress ? Value::null() : time_value(session, clone->ended), text_value(clone->source),
           text_value(clone->destination), number_value(clone->error ? clone->error->code : 0),
           text_value(clone->error ? clone->error->message : ""), text_value(clone->log_file),
           number_value(clone->log_position), text_value(clone->executed)}};
}

// MySQL's other stages have nothing to do here: the engine's files are as of one moment.
std::vector<Row> clone_progress_rows(SessionState& session) {
  const auto clone = last_clone(session);
  if (!clone) return {};
  const bool in_progress = clone->state == CloneReport::State::InProgress;
  return {{number_value(1), text_value("FILE COPY"), text_value(state_text(clone->state)),
           time_value(session, clone->began), in_progress ? Value::null() : time_value(session, clone->ended),
           number_value(1), number_value(clone->estimate), number_value(clone->bytes),
           number_value(clone->bytes)}};
}

}  // namespace

std::vector<VirtualTable> clone_tables() {
  return {
      {virtual_definition(kSchema, "clone_status",
                          {number("ID"), number("PID"), text("STATE", 16), time_column("BEGIN_TIME"),
                           time_column("END_TIME"), text("SOURCE", 512), text("DESTINATION", 512),
                           number("ERROR_NO"), text("ERROR_MESSAGE", 512), text("BINLOG_FILE", 512),
                           number("BINLOG_POSITION"), long_text("GTID_EXECUTED")}),
       clone_status_rows},
      {virtual_definition(kSchema, "clone_progress",
                          {number("ID"), text("STAGE", 32), text("STATE", 16), time_column("BEGIN_TIME"),
                           time_column("END_TIME"), number("THREADS"), number("ESTIMATE"), number("DATA"),
                           number("NETWORK")}),
       clone_progress_rows},
  };
}

}  // namespace commitd::sql
