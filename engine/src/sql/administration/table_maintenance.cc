#include "sql/administration/table_maintenance.h"

#include "base/crc32.h"
#include "base/error_codes.h"
#include "sql/administration/show_statement.h"
#include "sql/ast/select.h"
#include "sql/federated/remote_rows.h"
#include "sql/information_schema/virtual_table.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

using ast::Maintenance;
using namespace virtual_column;

// Rows as one index gives them. The sum has no order, so that every index, and every server with the same
// rows, gives the same one.
struct Contents {
  uint64_t rows = 0;
  uint32_t checksum = 0;
};

Task<Result<Contents>> read_contents(StatementContext& context, const TablePtr& table,
                                     const IndexDef& index) {
  Contents contents;
  txn::FoundRow row;
  auto cursor = context.transaction().scan(table, index, {}, txn::ReadMode::Snapshot);
  for (;;) {
    auto more = cursor->next(row);
    if (!more.ok()) co_return std::move(more).error();
    if (!*more) co_return contents;
    contents.checksum += crc32_of(row.image);
    ++contents.rows;
    COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context));
  }
}

std::string full_name(const ast::TableName& name, const SessionState& session) {
  return fmt::format("{}.{}", name.db.empty() ? std::string_view(session.database) : name.db, name.name);
}

Task<Result<Source>> open_for_maintenance(StatementContext& context, const ast::TableName& name) {
  ast::TableRef ref;
  ref.name = name;
  co_return co_await open_table(context, ref, privilege::kSelect, "SELECT");
}

bool has_rows_here(const Source& source) {
  return !source.rows && !is_remote(*source.definition);
}

// Errors that concern one table stand in its row; the others end the statement.
bool is_about_the_table(const Error& error) {
  return error.code == er::kNoSuchTable || error.code == er::kBadDb;
}

class Maintainer {
 public:
  Maintainer(StatementContext& context, const ast::MaintenanceStatement& statement, ResultSink& sink)
      : context_(context), statement_(statement), sink_(sink) {}

  Task<Status> run() {
    const bool checksum = statement_.what == Maintenance::Checksum;
    std::vector<ColumnDef> columns =
        checksum ? std::vector<ColumnDef>{text("Table", 128), signed_number("Checksum")}
                 : std::vector<ColumnDef>{text("Table", 128), text("Op", 10), text("Msg_type", 10),
                                          long_text("Msg_text")};
    sink_.begin_rows(describe_columns(virtual_definition("", "", std::move(columns))));
    if (context_.describe_only) co_return Status();
    for (const ast::TableName& name : statement_.tables) {
      name_ = full_name(name, context_.session);
      auto source = co_await open_for_maintenance(context_, name);
      if (!source.ok() && !is_about_the_table(source.error())) co_return std::move(source).error();
      if (!source.ok()) {
        missing(source.error());
      } else if (checksum) {
        COMMITD_CO_RETURN_IF_ERROR(co_await checksum_of(*source));
      } else if (statement_.what == Maintenance::Check) {
        COMMITD_CO_RETURN_IF_ERROR(co_await check(*source));
      } else {
        nothing_to_do();
      }
    }
    co_return Status();
  }

 private:
  void missing(const Error& error) {
    if (statement_.what == Maintenance::Checksum) {
      context_.session.diagnostics.warn(error);
      const Row row{Value::string(name_), Value::null()};
      sink_.send_row(row);
      return;
    }
    answer("Error", error.message);
    answer("status", "Operation failed");
  }

  Task<Status> checksum_of(const Source& source) {
    Row row{Value::string(name_), Value::null()};
    if (!statement_.quick && has_rows_here(source)) {  // no engine keeps a checksum at hand
      auto contents = co_await read_contents(context_, source.definition, source.definition->clustered());
      if (!contents.ok()) co_return std::move(contents).error();
      row[1] = Value::integer(contents->checksum);
    }
    sink_.send_row(row);
    co_return Status();
  }

  // Every index must give the rows that the clustered one has.
  Task<Status> check(const Source& source) {
    if (!has_rows_here(source)) {
      answer("note", "The storage engine for the table doesn't support check");
      co_return Status();
    }
    const TablePtr& table = source.definition;
    auto expected = co_await read_contents(context_, table, table->clustered());
    if (!expected.ok()) co_return std::move(expected).error();
    bool sound = true;
    for (size_t i = 1; i < table->indexes.size(); ++i) {
      auto found = co_await read_contents(context_, table, table->indexes[i]);
      if (!found.ok()) co_return std::move(found).error();
      if (found->rows == expected->rows && found->checksum == expected->checksum) continue;
      sound = false;
      answer("warning", fmt::format("Index '{}' contains {} entries, should be {}.", table->indexes[i].name,
                                    found->rows, expected->rows));
    }
    answer(sound ? "status" : "error", sound ? "OK" : "Corrupt");
    co_return Status();
  }

  // Statistics are not kept, files are compacted all the time, and a damaged file is a matter for a backup.
  void nothing_to_do() {
    if (statement_.what == Maintenance::Optimize)
      answer("note", "Table does not support optimize, doing recreate + analyze instead");
    if (statement_.what == Maintenance::Repair)
      return answer("note", "The storage engine for the table doesn't support repair");
    answer("status", "OK");
  }

  void answer(std::string_view type, std::string_view message) {
    constexpr std::string_view kNames[] = {"analyze", "check", "optimize", "repair", "checksum"};
    const Row row{Value::string(name_), text_value(kNames[static_cast<size_t>(statement_.what)]),
                  text_value(type), text_value(message)};
    sink_.send_row(row);
  }

  StatementContext& context_;
  const ast::MaintenanceStatement& statement_;
  ResultSink& sink_;
  std::string name_;
};

}  // namespace

Task<Status> execute_table_maintenance(StatementContext& context, const ast::MaintenanceStatement& statement,
                                       ResultSink& sink) {
  Maintainer maintainer(context, statement, sink);
  co_return co_await maintainer.run();
}

}  // namespace commitd::sql
