// performance_schema: what threads and sessions have waited for. Times are in picoseconds, as in MySQL.
#include "observe/wait_events.h"
#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
using observe::WaitSummary;
using observe::WaitTotals;
constexpr const char* kSchema = "performance_schema";
constexpr std::string_view kFiles = "wait/io/file/", kSockets = "wait/io/socket/";

Value picoseconds(uint64_t nanoseconds) {
  return number_value(nanoseconds * 1000);
}

// SUM, MIN, AVG, MAX.
void append_times(Row& row, const WaitTotals& totals) {
  row.push_back(picoseconds(totals.sum_ns));
  row.push_back(picoseconds(totals.min_ns));
  row.push_back(number_value(totals.count == 0 ? 0 : totals.sum_ns * 1000 / totals.count));
  row.push_back(picoseconds(totals.max_ns));
}

std::vector<Row> waits_rows(SessionState&) {
  std::vector<Row> rows;
  for (const WaitSummary& summary : observe::wait_summaries()) {
    Row row{text_value(summary.name), number_value(summary.total.count)};
    append_times(row, summary.total);
    rows.push_back(std::move(row));
  }
  return rows;
}

// One row per kind of file or socket: all, reads, writes, the rest; bytes where there are any.
std::vector<Row> io_rows(std::string_view prefix) {
  std::vector<Row> rows;
  for (const WaitSummary& summary : observe::wait_summaries()) {
    if (!summary.is_io || !summary.name.starts_with(prefix)) continue;
    Row row{text_value(summary.name), number_value(summary.total.count)};
    append_times(row, summary.total);
    for (const WaitTotals& totals : summary.by_kind) {
      row.push_back(number_value(totals.count));
      append_times(row, totals);
      const bool moves_bytes = &totals != &summary.by_kind[static_cast<size_t>(observe::IoKind::Other)];
      if (moves_bytes) row.push_back(number_value(totals.bytes));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> instruments_rows(SessionState&) {
  const bool on = observe::wait_events_on();
  std::vector<Row> rows;
  for (const WaitSummary& summary : observe::wait_summaries()) {
    rows.push_back({text_value(summary.name), text_value(on ? "YES" : "NO"), text_value(on ? "YES" : "NO"),
                    text_value(""), Value::null(), number_value(0), Value::null()});
  }
  return rows;
}

std::vector<ColumnDef> time_columns(const std::string& suffix) {
  return {number("SUM_TIMER_" + suffix), number("MIN_TIMER_" + suffix), number("AVG_TIMER_" + suffix),
          number("MAX_TIMER_" + suffix)};
}

void append(std::vector<ColumnDef>& columns, std::vector<ColumnDef> more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

std::vector<ColumnDef> summary_columns() {
  std::vector<ColumnDef> columns{text("EVENT_NAME", 128), number("COUNT_STAR")};
  append(columns, time_columns("WAIT"));
  return columns;
}

TablePtr io_definition(const char* name) {
  std::vector<ColumnDef> columns = summary_columns();
  for (const std::string kind : {"READ", "WRITE", "MISC"}) {
    columns.push_back(number("COUNT_" + kind));
    append(columns, time_columns(kind));
    if (kind != "MISC") columns.push_back(number("SUM_NUMBER_OF_BYTES_" + kind));
  }
  return virtual_definition(kSchema, name, std::move(columns));
}

}  // namespace

std::vector<VirtualTable> wait_tables() {
  return {
      {virtual_definition(kSchema, "events_waits_summary_global_by_event_name", summary_columns()),
       waits_rows, observe::reset_wait_events},
      {io_definition("file_summary_by_event_name"), [](SessionState&) { return io_rows(kFiles); },
       observe::reset_wait_events},
      {io_definition("socket_summary_by_event_name"), [](SessionState&) { return io_rows(kSockets); },
       observe::reset_wait_events},
      {virtual_definition(kSchema, "setup_instruments",
                          {text("NAME", 128), text("ENABLED", 3), text("TIMED", 3), text("PROPERTIES"),
                           text("FLAGS"), number("VOLATILITY"), long_text("DOCUMENTATION")}),
       instruments_rows, nullptr},
  };
}

}  // namespace commitd::sql
