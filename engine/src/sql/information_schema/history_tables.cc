#include "sql/information_schema/history_tables.h"

#include <algorithm>
#include <optional>

#include "base/packed_int.h"
#include "observe/metrics.h"
#include "sql/information_schema/locked_objects.h"
#include "storage/purging.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

struct Metric {
  std::string_view name, subsystem, type, ours, comment;
};

// MySQL's names for what we count.
constexpr Metric kMetrics[] = {
    {"purge_invoked", "purge", "counter", "commitd_purge_slices_total", "Number of times purge was invoked"},
    {"purge_undo_log_pages", "purge", "counter", "commitd_purge_pages_total",
     "Number of pages of 16 KiB merged by the purge"},
    {"trx_rseg_history_len", "transaction", "value", "commitd_history_length",
     "Overwritten versions and tombstones that are still there"},
};

Value count_of(const std::vector<std::pair<std::string, double>>& all, std::string_view name) {
  const auto found = std::ranges::find_if(all, [&](const auto& one) { return one.first == name; });
  return found == all.end() ? Value::null() : Value::integer(static_cast<int64_t>(found->second));
}

std::vector<Row> metrics_rows(SessionState&) {
  const auto all = observe::snapshot();
  std::vector<Row> rows;
  for (const Metric& metric : kMetrics) {
    const Value count = count_of(all, metric.ours), none = Value::null();
    rows.push_back({text_value(metric.name), text_value(metric.subsystem), count, none, none, none, count,
                    none, none, none, none, none, none, none, text_value("enabled"), text_value(metric.type),
                    text_value(metric.comment)});
  }
  return rows;
}

// Tables that are gone are left out.
std::vector<Row> history_rows(SessionState& session) {
  std::vector<Row> rows;
  const txn::Services* services = session.server.transactions;
  storage::Purging* purging = services == nullptr ? nullptr : storage::purging_of(services->engine);
  if (purging == nullptr) return rows;
  const LockedObjects objects(session);
  for (const storage::Purging::Garbage& garbage : purging->garbage()) {
    std::string id;
    append_big_endian(id, garbage.index_id, 4);
    if (const auto index = objects.find(id))
      rows.push_back({text_value(index->schema), text_value(index->table), text_value(index->index),
                      number_value(garbage.entries)});
  }
  return rows;
}

}  // namespace

std::vector<VirtualTable> history_tables() {
  return {{virtual_definition(
               "information_schema", "INNODB_METRICS",
               {text("NAME", 193), text("SUBSYSTEM", 193), signed_number("COUNT"), signed_number("MAX_COUNT"),
                signed_number("MIN_COUNT"), signed_number("AVG_COUNT"), signed_number("COUNT_RESET"),
                signed_number("MAX_COUNT_RESET"), signed_number("MIN_COUNT_RESET"),
                signed_number("AVG_COUNT_RESET"), datetime("TIME_ENABLED"), datetime("TIME_DISABLED"),
                signed_number("TIME_ELAPSED"), datetime("TIME_RESET"), text("STATUS", 193), text("TYPE", 193),
                text("COMMENT", 193)}),
           metrics_rows},
          {virtual_definition(
               "information_schema", "COMMITD_HISTORY",
               {text("TABLE_SCHEMA"), text("TABLE_NAME"), text("INDEX_NAME"), number("HISTORY_LENGTH")}),
           history_rows}};
}

}  // namespace commitd::sql
