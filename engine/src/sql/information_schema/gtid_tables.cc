#include "sql/information_schema/gtid_tables.h"

#include <spdlog/spdlog.h>

#include "storage/executed_row.h"
#include "txn/transaction.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

// MySQL's column of a tag is empty for GTIDs without one, and there are no others here.
std::vector<Row> executed_rows(SessionState& session) {
  std::vector<Row> rows;
  const txn::Services* services = session.server.transactions;
  if (services == nullptr) return rows;
  const Status read = storage::for_each_executed_row(services->engine, [&rows](const GtidInterval& row) {
    rows.push_back({text_value(row.sid.to_string()), Value::integer(static_cast<int64_t>(row.start)),
                    Value::integer(static_cast<int64_t>(row.end - 1)), text_value("")});
  });
  if (!read.ok()) spdlog::error("cannot read mysql.gtid_executed: {}", read.error().message);
  return rows;
}

}  // namespace

std::vector<VirtualTable> gtid_tables() {
  return {{virtual_definition("mysql", "gtid_executed",
                              {text("source_uuid", 36), signed_number("interval_start"),
                               signed_number("interval_end"), text("gtid_tag", 32)}),
           executed_rows}};
}

}  // namespace commitd::sql
