// performance_schema: who holds and who waits for which lock, under MySQL's headings.
#include "sql/information_schema/locked_objects.h"
#include "sql/information_schema/virtual_table.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "performance_schema";

std::vector<txn::LockView> current_locks(const SessionState& session) {
  txn::Services* services = session.server.transactions;
  return services == nullptr ? std::vector<txn::LockView>() : services->locks.locks();
}

Value engine_name(const txn::LockView& lock) {
  return text_value(storage::engine_of_key(lock.key).name);
}

std::string lock_id(uint64_t id) {
  return fmt::format("{:x}", id);
}

std::string_view mode_text(const txn::LockView& lock, bool table) {
  if (table) return lock.mode == txn::LockMode::Exclusive ? "EXCLUSIVE" : "SHARED_WRITE";
  return lock.mode == txn::LockMode::Exclusive ? "X,REC_NOT_GAP" : "S,REC_NOT_GAP";
}

// Rows and keys of indexes. InnoDB lists its table locks here, too; ours are metadata locks and stand there.
std::vector<Row> data_locks_rows(SessionState& session) {
  const LockedObjects objects(session);
  std::vector<Row> rows;
  for (const auto& lock : current_locks(session)) {
    const auto object = objects.find(lock.key);
    if (!object || object->is_table()) continue;
    rows.push_back({engine_name(lock), text_value(lock_id(lock.id)), number_value(lock.transaction_id),
                    number_value(lock.connection_id), Value::null(), text_value(object->schema),
                    text_value(object->table), Value::null(), Value::null(), text_value(object->index),
                    number_value(lock.id), text_value("RECORD"), text_value(mode_text(lock, false)),
                    text_value(lock.granted ? "GRANTED" : "WAITING"), text_value(object->data)});
  }
  return rows;
}

std::vector<Row> data_lock_waits_rows(SessionState& session) {
  std::vector<txn::LockView> locks = current_locks(session);
  std::map<uint64_t, const txn::LockView*> by_id;
  for (const auto& lock : locks) by_id[lock.id] = &lock;
  std::vector<Row> rows;
  for (const auto& waiting : locks) {
    if (txn::table_of_lock_key(waiting.key)) continue;
    for (const uint64_t id : waiting.blocked_by) {
      const auto blocking = by_id.find(id);
      if (blocking == by_id.end()) continue;
      Row row{engine_name(waiting)};
      for (const txn::LockView* lock : {&waiting, blocking->second}) {
        row.push_back(text_value(lock_id(lock->id)));
        row.push_back(number_value(lock->transaction_id));
        row.push_back(number_value(lock->connection_id));
        row.push_back(Value::null());
        row.push_back(number_value(lock->id));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<Row> metadata_locks_rows(SessionState& session) {
  const LockedObjects objects(session);
  std::vector<Row> rows;
  for (const auto& lock : current_locks(session)) {
    const auto object = objects.find(lock.key);
    if (!object || !object->is_table()) continue;
    rows.push_back({text_value("TABLE"), text_value(object->schema), text_value(object->table), Value::null(),
                    number_value(lock.id), text_value(mode_text(lock, true)), text_value("TRANSACTION"),
                    text_value(lock.granted ? "GRANTED" : "PENDING"), text_value(""),
                    number_value(lock.connection_id), Value::null()});
  }
  return rows;
}

TablePtr data_lock_waits_definition() {
  std::vector<ColumnDef> columns{text("ENGINE", 32)};
  for (const std::string side : {"REQUESTING", "BLOCKING"}) {
    columns.push_back(text(side + "_ENGINE_LOCK_ID", 128));
    columns.push_back(number(side + "_ENGINE_TRANSACTION_ID"));
    columns.push_back(number(side + "_THREAD_ID"));
    columns.push_back(number(side + "_EVENT_ID"));
    columns.push_back(number(side + "_OBJECT_INSTANCE_BEGIN"));
  }
  return virtual_definition(kSchema, "data_lock_waits", std::move(columns));
}

}  // namespace

std::vector<VirtualTable> lock_tables() {
  return {
      {virtual_definition(kSchema, "data_locks",
                          {text("ENGINE", 32), text("ENGINE_LOCK_ID", 128), number("ENGINE_TRANSACTION_ID"),
                           number("THREAD_ID"), number("EVENT_ID"), text("OBJECT_SCHEMA"),
                           text("OBJECT_NAME"), text("PARTITION_NAME"), text("SUBPARTITION_NAME"),
                           text("INDEX_NAME"), number("OBJECT_INSTANCE_BEGIN"), text("LOCK_TYPE", 32),
                           text("LOCK_MODE", 32), text("LOCK_STATUS", 32), text("LOCK_DATA", 8192)}),
       data_locks_rows},
      {data_lock_waits_definition(), data_lock_waits_rows},
      {virtual_definition(
           kSchema, "metadata_locks",
           {text("OBJECT_TYPE"), text("OBJECT_SCHEMA"), text("OBJECT_NAME"), text("COLUMN_NAME"),
            number("OBJECT_INSTANCE_BEGIN"), text("LOCK_TYPE", 32), text("LOCK_DURATION", 32),
            text("LOCK_STATUS", 32), text("SOURCE"), number("OWNER_THREAD_ID"), number("OWNER_EVENT_ID")}),
       metadata_locks_rows},
  };
}

}  // namespace commitd::sql
