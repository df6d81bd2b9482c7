// performance_schema.replication_…: SHOW REPLICA STATUS as tables, with MySQL 8.4's columns.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>

#include "sql/information_schema/virtual_table.h"
#include "sql/instance_control.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;

enum class Kind : uint8_t { Text, LongText, Number, Moment };
struct Column {
  const char* name;
  Kind kind = Kind::Text;
};

constexpr Column kConnectionConfiguration[] = {
    {"CHANNEL_NAME"},
    {"HOST"},
    {"PORT", Kind::Number},
    {"USER"},
    {"NETWORK_INTERFACE"},
    {"AUTO_POSITION"},
    {"SSL_ALLOWED"},
    {"SSL_CA_FILE"},
    {"SSL_CA_PATH"},
    {"SSL_CERTIFICATE"},
    {"SSL_CIPHER"},
    {"SSL_KEY"},
    {"SSL_VERIFY_SERVER_CERTIFICATE"},
    {"SSL_CRL_FILE"},
    {"SSL_CRL_PATH"},
    {"CONNECTION_RETRY_INTERVAL", Kind::Number},
    {"CONNECTION_RETRY_COUNT", Kind::Number},
    {"HEARTBEAT_INTERVAL"},
    {"TLS_VERSION"},
    {"PUBLIC_KEY_PATH"},
    {"GET_PUBLIC_KEY"},
    {"NETWORK_NAMESPACE"},
    {"COMPRESSION_ALGORITHM"},
    {"ZSTD_COMPRESSION_LEVEL", Kind::Number},
    {"TLS_CIPHERSUITES", Kind::LongText},
    {"SOURCE_CONNECTION_AUTO_FAILOVER"},
    {"GTID_ONLY"},
};
constexpr Column kConnectionStatus[] = {
    {"CHANNEL_NAME"},
    {"GROUP_NAME"},
    {"SOURCE_UUID"},
    {"THREAD_ID", Kind::Number},
    {"SERVICE_STATE"},
    {"COUNT_RECEIVED_HEARTBEATS", Kind::Number},
    {"LAST_HEARTBEAT_TIMESTAMP", Kind::Moment},
    {"RECEIVED_TRANSACTION_SET", Kind::LongText},
    {"LAST_ERROR_NUMBER", Kind::Number},
    {"LAST_ERROR_MESSAGE"},
    {"LAST_ERROR_TIMESTAMP", Kind::Moment},
    {"LAST_QUEUED_TRANSACTION"},
    {"LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", Kind::Moment},
    {"LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", Kind::Moment},
    {"LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP", Kind::Moment},
    {"LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP", Kind::Moment},
    {"QUEUEING_TRANSACTION"},
    {"QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", Kind::Moment},
    {"QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", Kind::Moment},
    {"QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP", Kind::Moment},
};
constexpr Column kApplierConfiguration[] = {
    {"CHANNEL_NAME"},
    {"DESIRED_DELAY", Kind::Number},
    {"PRIVILEGE_CHECKS_USER"},
    {"REQUIRE_ROW_FORMAT"},
    {"REQUIRE_TABLE_PRIMARY_KEY_CHECK"},
    {"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE"},
    {"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE"},
};
constexpr Column kApplierStatus[] = {
    {"CHANNEL_NAME"},
    {"SERVICE_STATE"},
    {"REMAINING_DELAY", Kind::Number},
    {"COUNT_TRANSACTIONS_RETRIES", Kind::Number},
};
constexpr Column kApplierFilters[] = {
    {"CHANNEL_NAME"},
    {"FILTER_NAME"},
    {"FILTER_RULE", Kind::LongText},
    {"CONFIGURED_BY"},
    {"ACTIVE_SINCE", Kind::Moment},
    {"COUNTER", Kind::Number},
};
constexpr Column kApplierGlobalFilters[] = {
    {"FILTER_NAME"}, {"FILTER_RULE", Kind::LongText}, {"CONFIGURED_BY"}, {"ACTIVE_SINCE", Kind::Moment}};
constexpr Column kApplierStatusByCoordinator[] = {
    {"CHANNEL_NAME"},
    {"THREAD_ID", Kind::Number},
    {"SERVICE_STATE"},
    {"LAST_ERROR_NUMBER", Kind::Number},
    {"LAST_ERROR_MESSAGE"},
    {"LAST_ERROR_TIMESTAMP", Kind::Moment},
    {"LAST_PROCESSED_TRANSACTION"},
    {"LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", Kind::Moment},
    {"LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", Kind::Moment},
    {"LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP", Kind::Moment},
    {"LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP", Kind::Moment},
    {"PROCESSING_TRANSACTION"},
    {"PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", Kind::Moment},
    {"PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", Kind::Moment},
    {"PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP", Kind::Moment},
};
constexpr Column kApplierStatusByWorker[] = {
    {"CHANNEL_NAME"},
    {"WORKER_ID", Kind::Number},
    {"THREAD_ID", Kind::Number},
    {"SERVICE_STATE"},
    {"LAST_ERROR_NUMBER", Kind::Number},
    {"LAST_ERROR_MESSAGE"},
    {"LAST_ERROR_TIMESTAMP", Kind::Moment},
    {"LAST_APPLIED_TRANSACTION"},
    {"LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", Kind::Moment},
    {"LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", Kind::Moment},
    {"LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP", Kind::Moment},
    {"LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP", Kind::Moment},
    {"APPLYING_TRANSACTION"},
    {"APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP", Kind::Moment},
    {"APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP", Kind::Moment},
    {"APPLYING_TRANSACTION_START_APPLY_TIMESTAMP", Kind::Moment},
    {"LAST_APPLIED_TRANSACTION_RETRIES_COUNT", Kind::Number},
    {"LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER", Kind::Number},
    {"LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE"},
    {"LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP", Kind::Moment},
    {"APPLYING_TRANSACTION_RETRIES_COUNT", Kind::Number},
    {"APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER", Kind::Number},
    {"APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE"},
    {"APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP", Kind::Moment},
};

ColumnDef defined(const Column& column) {
  switch (column.kind) {
    case Kind::Number:
      return number(column.name);
    case Kind::LongText:
      return long_text(column.name);
    case Kind::Moment:
      return text(column.name, 26);
    case Kind::Text:
      break;
  }
  return text(column.name, 1024);
}

// What nobody tells of: nothing has happened, which a moment says as MySQL does.
Value unset(Kind kind) {
  if (kind == Kind::Moment) return text_value("0000-00-00 00:00:00.000000");
  return kind == Kind::Number ? number_value(0) : text_value("");
}

Value told(Kind kind, const std::optional<std::string>& value) {
  if (!value) return Value::null();
  if (kind != Kind::Number) return text_value(*value);
  return number_value(std::strtoull(value->c_str(), nullptr, 10));
}

Row row_of(std::span<const Column> columns, const NamedValues& values) {
  Row row;
  for (const Column& column : columns) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& value) { return value.first == column.name; });
    row.push_back(found == values.end() ? unset(column.kind) : told(column.kind, found->second));
  }
  return row;
}

VirtualTable table(const char* name, std::span<const Column> columns, std::optional<ReplicationTable> rows) {
  std::vector<ColumnDef> definitions;
  std::transform(columns.begin(), columns.end(), std::back_inserter(definitions), defined);
  const auto read = [columns, rows](SessionState& session) {
    std::vector<Row> all;
    if (!rows || session.server.instance == nullptr) return all;
    for (const NamedValues& values : session.server.instance->replication_rows(*rows))
      all.push_back(row_of(columns, values));
    return all;
  };
  return {virtual_definition("performance_schema", name, std::move(definitions)), read};
}

}  // namespace

// There is no coordinator: the thread that takes everything into the engine is worker 0.
std::vector<VirtualTable> replication_tables() {
  return {
      table("replication_connection_configuration", kConnectionConfiguration,
            ReplicationTable::ConnectionConfiguration),
      table("replication_connection_status", kConnectionStatus, ReplicationTable::ConnectionStatus),
      table("replication_applier_configuration", kApplierConfiguration,
            ReplicationTable::ApplierConfiguration),
      table("replication_applier_status", kApplierStatus, ReplicationTable::ApplierStatus),
      table("replication_applier_status_by_coordinator", kApplierStatusByCoordinator, std::nullopt),
      table("replication_applier_status_by_worker", kApplierStatusByWorker,
            ReplicationTable::ApplierStatusByWorker),
      table("replication_applier_filters", kApplierFilters, ReplicationTable::ApplierFilters),
      table("replication_applier_global_filters", kApplierGlobalFilters,
            ReplicationTable::ApplierGlobalFilters),
  };
}

}  // namespace commitd::sql
