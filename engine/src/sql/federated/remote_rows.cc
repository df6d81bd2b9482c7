#include "sql/federated/remote_rows.h"

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "sql/expression/column_store.h"
#include "sql/federated/remote_select.h"
#include "sql/row_memory.h"
#include "sql/variables/system_variables.h"
#include "storage/engine_router.h"

namespace commitd::sql {
namespace {

// Texts of the other server as values of the columns that they have here.
class RowReader final : public storage::RemoteRows {
 public:
  RowReader(const RemoteQuestion& question, RemoteAnswer& answer) : question_(question), answer_(answer) {}

  Status row(std::span<const Field> fields) override {
    if (fields.size() != question_.columns.size())
      return make_error(er::kQueryOnForeignDataSource,
                        "The foreign data source gave {} columns instead of {}", fields.size(),
                        question_.columns.size());
    ++store_.row;
    Row values(question_.table.columns.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      auto value = value_of(question_.table.columns[question_.columns[i]], fields[i]);
      if (!value.ok()) return std::move(value).error();
      values[question_.columns[i]] = *std::move(value);
    }
    if (!answer_.memory.add(memory_of(values))) return out_of_row_memory();
    answer_.rows.push_back(std::move(values));
    return {};
  }

 private:
  Result<Value> value_of(const ColumnDef& column, const Field& field) {
    if (!field && !column.nullable)
      return make_error(er::kBadNull, "Column '{}' cannot be null", column.name);
    if (!field) return Value::null();
    const bool binary = column.type == FieldType::Bit || column.collation == kBinaryCollation;
    const bool text = column.type == FieldType::Json;
    return convert_for_column(column, Value::string(std::string(*field), binary && !text), store_);
  }

  const RemoteQuestion& question_;
  RemoteAnswer& answer_;
  Diagnostics nobodys_;
  StoreContext store_{.diagnostics = nobodys_, .row = 0, .table = question_.table.name};
};

}  // namespace

Status require_writable(const TableDef& table) {
  if (!is_remote(table)) return {};
  return make_error(er::kOpenAsReadonly, "Table '{}' is read only", table.name);
}

RemoteQuestion::RemoteQuestion(const Catalog& catalog, const TableDef& asked,
                               const std::optional<std::vector<bool>>& wanted, const IndexDef& index,
                               std::span<const txn::IndexRange> ranges)
    : table(asked),
      at(remote_address(catalog, asked, er::kForeignDataStringInvalid)),
      columns(remote_columns(asked, wanted)) {
  if (at.ok()) select = remote_select(asked, *at, columns, index, ranges);
}

Task<Status> ask_remote(StatementContext& context, const RemoteQuestion& question, RemoteAnswer& answer) {
  if (!question.at.ok()) co_return question.at.error();
  SessionState& session = context.session;
  answer = RemoteAnswer();
  RowReader reader(question, answer);
  storage::FederatedTables::Patience patience;
  patience.read_timeout = std::chrono::seconds(session.variables.number(kNetReadTimeout));
  patience.interrupted = [&session] { return session.interrupted(); };
  const storage::FederatedTables* tables = storage::federated_tables(*session.server.engine);
  if (tables == nullptr)
    co_return make_error(er::kUnknownStorageEngine, "Unknown storage engine 'FEDERATED'");
  Status read = co_await tables->read(session.engine_data, *question.at, question.select, reader, patience);
  COMMITD_CO_RETURN_IF_ERROR(check_interrupted(session));
  COMMITD_CO_RETURN_IF_ERROR(read);
  answer.select = question.select;
  co_return Status();
}

Task<Result<std::shared_ptr<const std::vector<Row>>>> all_remote_rows(StatementContext& context,
                                                                      const TableDef& table) {
  const RemoteQuestion question(*context.session.server.catalog, table, std::nullopt, table.clustered(), {});
  auto answer = std::make_shared<RemoteAnswer>();
  COMMITD_CO_RETURN_IF_ERROR(co_await ask_remote(context, question, *answer));
  // The memory goes with the rows.
  co_return std::shared_ptr<const std::vector<Row>>(answer, &answer->rows);
}

}  // namespace commitd::sql
