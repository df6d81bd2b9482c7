// LOAD DATA LOCAL INFILE: lines of the client's file become INSERTs of many rows, executed one after the
// other in the same statement.
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/arena.h"
#include "sql/ast/changes.h"
#include "sql/change/dml.h"
#include "sql/change/load_format.h"
#include "sql/change/row_rules.h"
#include "sql/query/precompute.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

constexpr size_t kRowsPerInsert = 1000;

class Loader {
 public:
  Loader(StatementContext& context, const ast::LoadDataStatement& statement, ResultSink& sink)
      : context_(context),
        session_(context.session),
        statement_(statement),
        sink_(sink),
        format_(statement),
        // The file is under way already when a row turns out to be bad: LOCAL goes on, as MySQL does.
        ignore_(statement.ignore || statement.local) {}

  Task<Result<OkInfo>> run() {
    COMMITD_CO_RETURN_IF_ERROR(check());
    COMMITD_CO_RETURN_IF_ERROR(co_await resolve_targets());
    COMMITD_CO_RETURN_IF_ERROR(co_await sink_.request_local_file(statement_.file));
    COMMITD_CO_RETURN_IF_ERROR(co_await load());
    OkInfo ok;
    ok.affected_rows = affected_;
    ok.last_insert_id = last_insert_id_;
    ok.info = fmt::format("Records: {}  Deleted: {}  Skipped: {}  Warnings: {}", rows_, deleted(), skipped(),
                          session_.diagnostics.count());
    co_return ok;
  }

 private:
  Status check() const {
    COMMITD_RETURN_IF_ERROR(check_can_change(session_));
    if (!statement_.local) {
      COMMITD_RETURN_IF_ERROR(session_.require(privilege::kFile, "FILE"));
      return make_error(er::kOptionPreventsStatement,
                        "The MySQL server is running with the --secure-file-priv option so it cannot execute "
                        "this statement");
    }
    const SystemVariables& variables = *session_.server.variables;
    if (variables.global("local_infile").as_int() == 0) return local_files_disabled();
    for (const char* charset : {"", "utf8mb4", "utf8mb3", "utf8", "ascii", "binary"}) {
      if (same_name(statement_.charset, charset)) return format_.check();
    }
    return make_error(er::kNotSupportedYet,
                      "This version of commitd doesn't yet support 'LOAD DATA … CHARACTER SET {}'",
                      statement_.charset);
  }

  // Which INSERT the lines become: its columns are those of the file that are columns, then those of SET.
  Task<Status> resolve_targets() {
    ast::TableRef ref;
    ref.name = statement_.table;
    auto source = co_await open_table(context_, ref, privilege::kInsert, "INSERT");
    if (!source.ok()) co_return std::move(source).error();
    if (!source->definition || source->rows)
      co_return make_error(er::kNonUpdatableTable, "The target table of the LOAD is not updatable");
    if (statement_.targets.empty()) {
      for (const ColumnDef& column : source->definition->columns) columns_.push_back(column.name);
      field_count_ = columns_.size();
    }
    for (const ast::Expr* target : statement_.targets) {
      ++field_count_;
      if (target->kind == ast::ExprKind::UserVariable) {
        uses_variables_ = true;
        continue;
      }
      auto column = assigned_column(*source->definition, target->text);
      if (!column.ok()) co_return std::move(column).error();
      columns_.push_back(source->definition->columns[*column].name);
    }
    for (const ast::Assignment& assignment : statement_.assignments)
      columns_.emplace_back(assignment.column->text);
    co_return Status();
  }

  Task<Status> load() {
    std::string buffer;
    uint64_t line = 0;
    bool complete = false;
    LoadFormat::Fields fields;
    begin_insert();
    while (true) {
      std::string_view rest = buffer;
      LoadFormat::Outcome outcome;
      while ((outcome = format_.next(rest, complete, fields)) == LoadFormat::Outcome::Line) {
        if (++line <= statement_.ignored_lines) continue;
        COMMITD_CO_RETURN_IF_ERROR(add_row(fields));
        if (insert_->rows.size() >= (uses_variables_ ? 1 : kRowsPerInsert))
          COMMITD_CO_RETURN_IF_ERROR(co_await insert_rows());
      }
      if (outcome == LoadFormat::Outcome::End) break;
      buffer.erase(0, buffer.size() - rest.size());
      auto piece = co_await sink_.read_local_file();
      if (!piece.ok()) co_return std::move(piece).error();
      complete = piece->empty();
      buffer += *piece;
    }
    co_return co_await insert_rows();
  }

  void begin_insert() {
    arena_ = std::make_unique<Arena>();
    insert_ = arena_->make<ast::InsertStatement>(arena_->resource());
    insert_->mode = statement_.mode;
    insert_->ignore = ignore_ && statement_.mode == ast::InsertMode::Insert;
    insert_->table = statement_.table;
    insert_->has_columns = true;
    insert_->first_row = rows_ + 1;
    for (const std::string& column : columns_) insert_->columns.push_back(column);
  }

  ast::Expr* text_node(const std::optional<std::string>& text) {
    auto* node =
        arena_->make<ast::Expr>(text ? ast::ExprKind::String : ast::ExprKind::Null, arena_->resource());
    if (text) node->text = arena_->copy(*text);
    return node;
  }

  Status row_is(uint16_t code, std::string_view what) {
    Error error{code, fmt::format(fmt::runtime(what), rows_ + insert_->rows.size() + 1)};
    if (!ignore_ && session_.settings.strict()) return error;
    session_.diagnostics.warn(std::move(error));
    return {};
  }

  Status add_row(const LoadFormat::Fields& fields) {
    if (fields.size() < field_count_)
      COMMITD_RETURN_IF_ERROR(row_is(er::kWarnTooFewRecords, "Row {} doesn't contain data for all columns"));
    if (fields.size() > field_count_) {
      COMMITD_RETURN_IF_ERROR(
          row_is(er::kWarnTooManyRecords,
                 "Row {} was truncated; it contained more data than there were input columns"));
    }
    auto* row = arena_->make<ast::List<ast::Expr*>>(arena_->resource());
    for (size_t i = 0; i < field_count_; ++i) {
      const bool given = i < fields.size();
      if (!statement_.targets.empty() && statement_.targets[i]->kind == ast::ExprKind::UserVariable) {
        const bool is_null = !given || !fields[i];
        session_.user_variables[lower_case(statement_.targets[i]->text)] =
            is_null ? Value::null() : Value::string(*fields[i]);
        continue;
      }
      row->push_back(given ? text_node(fields[i])
                           : arena_->make<ast::Expr>(ast::ExprKind::Default, arena_->resource()));
    }
    for (const ast::Assignment& assignment : statement_.assignments) row->push_back(assignment.value);
    insert_->rows.push_back(row);
    return {};
  }

  Task<Status> insert_rows() {
    if (insert_->rows.empty()) co_return Status();
    const size_t count = insert_->rows.size();
    auto done = co_await execute_insert(context_, *insert_);
    if (!done.ok()) co_return std::move(done).error();
    rows_ += count;
    affected_ += done->affected_rows;
    if (last_insert_id_ == 0) last_insert_id_ = done->last_insert_id;
    begin_insert();
    co_return Status();
  }

  // REPLACE counts a row that is replaced as two; IGNORE leaves out what has a duplicate.
  uint64_t deleted() const { return statement_.mode == ast::InsertMode::Replace ? affected_ - rows_ : 0; }
  uint64_t skipped() const { return statement_.mode == ast::InsertMode::Replace ? 0 : rows_ - affected_; }

  StatementContext& context_;
  SessionState& session_;
  const ast::LoadDataStatement& statement_;
  ResultSink& sink_;
  LoadFormat format_;
  const bool ignore_;
  std::vector<std::string> columns_;
  size_t field_count_ = 0;
  bool uses_variables_ = false;
  std::unique_ptr<Arena> arena_;  // of the rows that are gathered
  ast::InsertStatement* insert_ = nullptr;
  uint64_t rows_ = 0, affected_ = 0, last_insert_id_ = 0;
};

}  // namespace

Task<Result<OkInfo>> execute_load_data(StatementContext& context, const ast::LoadDataStatement& statement,
                                       ResultSink& sink) {
  Loader loader(context, statement, sink);
  co_return co_await loader.run();
}

}  // namespace commitd::sql
