#include <algorithm>
#include <numeric>

#include "base/error_codes.h"
#include "sql/ast/changes.h"
#include "sql/change/dml.h"
#include "sql/change/row_checks.h"
#include "sql/change/row_rules.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/conversion.h"
#include "sql/expression/literal.h"
#include "sql/plan_cache/cached_change.h"
#include "sql/query/precompute.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

// AUTO_INCREMENT values of one statement: reserved together, so that they follow each other also when others
// insert.
class AutoIncrement {
 public:
  AutoIncrement(StatementContext& context, const TableDef& table, size_t rows)
      : context_(context), table_(table), rows_left_(rows) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].auto_increment) column_ = static_cast<int>(i);
    }
  }
  int column() const { return column_; }
  uint64_t first_generated() const { return first_generated_; }

  Result<uint64_t> next() {
    const uint64_t increment = context_.session.settings.auto_increment_increment;
    if (next_ >= end_) {
      const uint64_t count = std::max<size_t>(rows_left_, 1) * increment;
      if (const uint64_t wanted = context_.session.variables.number(kInsertId); wanted != 0) {
        COMMITD_RETURN_IF_ERROR(context_.session.variables.set(kInsertId, Value::unsigned_integer(0)));
        next_ = wanted;
      } else {
        auto reserved = context_.transaction().next_auto_increment(table_, count);
        if (!reserved.ok()) return std::move(reserved).error();
        next_ = *reserved;
      }
      end_ = sum(next_, count);
    }
    const uint64_t offset = std::min(context_.session.settings.auto_increment_offset, increment);
    const uint64_t missing = increment > 1 ? (increment + offset - next_ % increment) % increment : 0;
    if (missing > UINT64_MAX - next_)
      return make_error(er::kWarnDataOutOfRange, "Out of range value for column '{}' at row 1",
                        table_.columns[static_cast<size_t>(column_)].name);
    const uint64_t value = next_ + missing;
    next_ = sum(value, increment);
    last_ = value;
    if (first_generated_ == 0) first_generated_ = value;
    return value;
  }
  // A row came with its own: those behind it go on from there, also when that was among the reserved ones.
  void taken(const Value& value) {
    const uint64_t number = value.is_null() ? 0 : to_bits(value);
    const bool is_negative = value.kind() == Value::Kind::Int && value.as_int() < 0;
    if (!is_negative && number >= next_ && next_ < end_) next_ = number < end_ ? number + 1 : end_;
  }
  // The row that took the last number was not inserted: the statement's next one has it.
  void give_back() {
    if (last_ == 0) return;
    next_ = last_;
    if (first_generated_ == last_) first_generated_ = 0;
    last_ = 0;
  }
  void row_done() {
    last_ = 0;
    if (rows_left_ > 0) --rows_left_;
  }

 private:
  // The greatest number where it would be more: it never begins again.
  static uint64_t sum(uint64_t left, uint64_t right) {
    return left > UINT64_MAX - right ? UINT64_MAX : left + right;
  }

  StatementContext& context_;
  const TableDef& table_;
  int column_ = -1;
  size_t rows_left_;
  uint64_t next_ = 0, end_ = 0, last_ = 0;
  uint64_t first_generated_ = 0;
};

struct BoundInsert : BoundChange {
  RowChecks checks;
  std::vector<size_t> targets, others;  // columns that the statement names, and those that it does not
  std::vector<std::pair<size_t, ExpressionPtr>> updates;

  const TablePtr& table() const { return scope.sources[0].definition; }
};

class Inserter {
 public:
  Inserter(StatementContext& context, const ast::InsertStatement& statement)
      : context_(context),
        session_(context.session),
        statement_(statement),
        store_(store_context(session_, statement.ignore)),
        bound_(context) {
    store_.row = statement.first_row;
    context.strict = store_.strict;
    context.precomputed.several_rows_are_null = statement.ignore;
  }

  Task<Result<OkInfo>> run() {
    COMMITD_CO_RETURN_IF_ERROR(check_can_change(session_));
    auto kept = co_await bound_.enter_kept(needed_privileges());
    if (!kept.ok()) co_return std::move(kept).error();
    if (!*kept) COMMITD_CO_RETURN_IF_ERROR(co_await bind());
    store_.table = table().name;
    if (auto defaults = check_defaults(); !defaults.ok()) {
      COMMITD_CO_RETURN_IF_ERROR(co_await check_names());
      co_return std::move(defaults).error();
    }
    if (statement_.select != nullptr)
      COMMITD_CO_RETURN_IF_ERROR(co_await insert_selected());
    else
      COMMITD_CO_RETURN_IF_ERROR(co_await insert_values());
    co_return answer();
  }

 private:
  const TableDef& table() { return *bound_->table(); }
  bool is_replace() const { return statement_.mode == ast::InsertMode::Replace; }

  Privileges needed_privileges() const {
    Privileges needed = privilege::kInsert;
    if (is_replace()) needed |= privilege::kDelete;
    if (!statement_.on_duplicate.empty()) needed |= privilege::kUpdate;
    return needed;
  }

  Task<Status> bind() {
    auto bound = std::make_unique<BoundInsert>();
    ast::TableRef ref;
    ref.name = statement_.table;
    const std::string_view command = is_replace() ? "REPLACE" : "INSERT";
    auto source = co_await open_table(context_, ref, needed_privileges(), command);
    if (!source.ok()) co_return std::move(source).error();
    bound->scope.sources.push_back(*std::move(source));
    COMMITD_CO_RETURN_IF_ERROR(bound->checks.bind(session_, bound->table()));
    COMMITD_CO_RETURN_IF_ERROR(resolve_columns(*bound));
    COMMITD_CO_RETURN_IF_ERROR(co_await bind_on_duplicate(*bound));
    COMMITD_CO_RETURN_IF_ERROR(check_counts(*bound));
    bound_.set(std::move(bound));
    co_return Status();
  }

  Status resolve_columns(BoundInsert& bound) {
    COMMITD_RETURN_IF_ERROR(resolve_targets(bound));
    for (size_t i = 0; i < bound.table()->columns.size(); ++i) {
      if (std::find(bound.targets.begin(), bound.targets.end(), i) == bound.targets.end())
        bound.others.push_back(i);
    }
    return {};
  }

  Status resolve_targets(BoundInsert& bound) {
    std::vector<size_t>& targets = bound.targets;
    if (statement_.columns.empty()) {  // () is a list of all columns, too
      const bool has_values = statement_.rows.empty() || !statement_.rows[0]->empty();
      if (has_values) {
        targets.resize(bound.table()->columns.size());
        std::iota(targets.begin(), targets.end(), size_t{0});
      }
      return {};
    }
    for (const std::string_view name : statement_.columns) {
      auto column = assigned_column(*bound.table(), name);
      if (!column.ok()) return std::move(column).error();
      if (std::find(targets.begin(), targets.end(), *column) != targets.end()) {
        return make_error(er::kFieldSpecifiedTwice, "Column '{}' specified twice", name);
      }
      targets.push_back(*column);
    }
    return {};
  }

  // Columns that are not in the list and have no default: once per statement, before any row (1364).
  Status check_defaults() {
    for (const size_t column : bound_->others) {
      auto value = default_for_column(table().columns[column], session_, store_);
      if (!value.ok()) return std::move(value).error();
      defaults_.emplace_back(column, *std::move(value));
    }
    return {};
  }

  Status check_counts(const BoundInsert& bound) {
    uint64_t row = store_.row;
    for (const ast::List<ast::Expr*>* trees : statement_.rows) {
      if (trees->size() != bound.targets.size()) return column_count_error(row);
      ++row;
    }
    return {};
  }

  // What is wrong with the values themselves comes before a column that has none (1364).
  Task<Status> check_names() {
    for (const ast::List<ast::Expr*>* trees : statement_.rows) {
      for (const ast::Expr* tree : *trees) {
        if (tree->kind == ast::ExprKind::Default || literal_value(*tree, context_.parameters)) continue;
        COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context_, tree));
        auto bound = context_.binder(bound_->scope).bind(*tree, "field list");
        if (!bound.ok()) co_return std::move(bound).error();
      }
    }
    if (statement_.select == nullptr) co_return Status();
    RowBuffer buffer;
    context_.describe_only = true;
    COMMITD_CO_RETURN_IF_ERROR(co_await run_select(context_, *statement_.select, buffer));
    if (buffer.columns.size() != bound_->targets.size()) co_return column_count_error(1);
    co_return Status();
  }

  static Error column_count_error(uint64_t row) {
    return make_error(er::kWrongValueCountOnRow, "Column count doesn't match value count at row {}", row);
  }

  // It may be a column of the SELECT's tables.
  static Error not_of_the_table(const Error& unknown) {
    return make_error(er::kNotSupportedYet,
                      "This version of MySQL doesn't yet support 'columns of the SELECT in ON DUPLICATE KEY "
                      "UPDATE' ({})",
                      unknown.message);
  }

  Task<Status> bind_on_duplicate(BoundInsert& bound) {
    for (const ast::Assignment& assignment : statement_.on_duplicate) {
      COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context_, assignment.value));
      auto column = assigned_column(*bound.table(), assignment.column->text);
      if (!column.ok()) co_return std::move(column).error();
      Binder binder = context_.binder(bound.scope);
      binder.insert_table = bound.table().get();
      binder.insert_alias = statement_.row_alias;
      const bool is_default = assignment.value->kind == ast::ExprKind::Default;  // of the column itself
      ast::Expr of_column(ast::ExprKind::Function, std::pmr::get_default_resource());
      of_column.text = "DEFAULT";
      of_column.arguments.push_back(assignment.column);
      auto value = binder.bind(is_default ? of_column : *assignment.value, "field list");
      if (!value.ok() && value.error().code == er::kBadField && statement_.select != nullptr)
        co_return not_of_the_table(value.error());
      if (!value.ok()) co_return std::move(value).error();
      bound.updates.emplace_back(*column, for_column(bound.table()->columns[*column], *std::move(value)));
    }
    co_return Status();
  }

  Task<Status> insert_values() {
    AutoIncrement numbers(context_, table(), statement_.rows.size());
    for (const ast::List<ast::Expr*>* trees : statement_.rows) {
      for (const ast::Expr* tree : *trees) {
        if (tree->arguments.empty() && tree->select == nullptr) continue;  // leaves need no coroutine
        COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context_, tree));
      }
      row_.assign(table().columns.size(), Value());
      given_.assign(table().columns.size(), false);
      for (size_t i = 0; i < bound_->targets.size(); ++i)
        COMMITD_CO_RETURN_IF_ERROR(set_value(bound_->targets[i], *(*trees)[i]));
      COMMITD_CO_RETURN_IF_ERROR(complete_row(numbers));
      COMMITD_CO_RETURN_IF_ERROR(co_await store_row(numbers));
      numbers.row_done();
    }
    first_generated_ = numbers.first_generated();
    co_return Status();
  }

  Status set_value(size_t column, const ast::Expr& tree) {
    if (tree.kind == ast::ExprKind::Default) {
      auto value = default_for_column(table().columns[column], session_, store_);
      if (!value.ok()) return std::move(value).error();
      row_[column] = *std::move(value);
      return {};
    }
    given_[column] = true;
    if (tree.kind == ast::ExprKind::Parameter && tree.parameter < context_.parameters.size())
      return put(column, context_.parameters[tree.parameter]);
    if (auto literal = literal_value(tree, context_.parameters)) {
      const bool number = is_byte_literal(tree) && is_numeric(table().columns[column].type);
      return put(column, number ? number_of_bytes(literal->as_string()) : *literal);
    }
    Binder binder = context_.binder(bound_->scope);
    auto bound = binder.bind(tree, "field list");
    if (!bound.ok()) return std::move(bound).error();
    Evaluation evaluation = context_.evaluation();
    if ((*bound)->sources != 0) show_row(evaluation, column);
    Value scratch;
    const Value& value = (*bound)->evaluate(evaluation, scratch);
    COMMITD_RETURN_IF_ERROR(evaluation.status());
    return put(column, value);
  }

  // Values are judged in the order in which they are given: conversion, then NOT NULL.
  Status put(size_t column, const Value& value) {
    const ColumnDef& definition = table().columns[column];
    COMMITD_RETURN_IF_ERROR(convert(definition, value, row_[column]));
    if (definition.auto_increment) return {};
    const bool lenient = statement_.ignore || (!session_.settings.strict() && statement_.rows.size() != 1);
    return apply_not_null(definition, row_[column], lenient, session_.diagnostics);
  }

  // Expressions may read the row's columns: those that stand further left have their values, others their
  // defaults.
  void show_row(Evaluation& evaluation, size_t column) {
    for (size_t i = 0; i < row_.size(); ++i) {
      const ColumnDef& other = table().columns[i];
      if (!row_[i].is_null() || (given_[i] && i != column)) continue;
      row_[i] = other.default_value ? *other.default_value
                : other.nullable    ? Value::null()
                                    : implicit_default(other);
    }
    evaluation.rows.assign(1, row_.data());
  }

  Status convert(const ColumnDef& column, const Value& value, Value& into) {
    auto converted = convert_for_column(column, value, store_);
    if (!converted.ok()) return std::move(converted).error();
    into = *std::move(converted);
    return {};
  }

  Status complete_row(AutoIncrement& numbers) {
    for (const auto& [column, value] : defaults_) row_[column] = value;
    if (numbers.column() < 0) return {};
    const auto column = static_cast<size_t>(numbers.column());
    if (!wants_number(column)) {
      numbers.taken(row_[column]);
      return {};
    }
    auto number = numbers.next();
    if (!number.ok()) return std::move(number).error();
    return convert(table().columns[column], Value::unsigned_integer(*number), row_[column]);
  }

  bool wants_number(size_t column) const {
    if (!given_[column] || row_[column].is_null()) return true;
    return to_bits(row_[column]) == 0 && !(session_.settings.sql_mode & sql_mode::kNoAutoValueOnZero);
  }

  Task<Status> store_row(AutoIncrement& numbers) {
    COMMITD_CO_RETURN_IF_ERROR(co_await take_turn(context_));
    ++records_;
    if (auto allowed = bound_->checks.verify(row_); !allowed.ok()) {
      if (!statement_.ignore) co_return allowed;
      session_.diagnostics.warn(std::move(allowed).error());
      ++store_.row;
      co_return Status();
    }
    COMMITD_CO_RETURN_IF_ERROR(context_.make_room(table(), row_));
    txn::Transaction& transaction = context_.transaction_for(table());
    for (;;) {
      auto outcome = co_await transaction.insert(bound_->table(), row_);
      context_.session.status.add(StatusVariable::HandlerWrite);
      if (!outcome.ok()) co_return std::move(outcome).error();
      if (!outcome->has_value()) {
        ++affected_;
        if (numbers.column() >= 0) explicit_number_ = to_bits(row_[static_cast<size_t>(numbers.column())]);
        break;
      }
      txn::Transaction::Duplicate& duplicate = **outcome;
      ++duplicates_;
      if (is_replace()) {
        COMMITD_CO_RETURN_IF_ERROR(co_await transaction.erase(bound_->table(), duplicate.row));
        context_.session.status.add(StatusVariable::HandlerDelete);
        ++affected_;
        continue;
      }
      numbers.give_back();
      if (!bound_->updates.empty()) {
        COMMITD_CO_RETURN_IF_ERROR(co_await update_existing(duplicate.row));
        break;
      }
      Error error = duplicate_error(table(), *duplicate.index, row_);
      if (!statement_.ignore) co_return error;
      session_.diagnostics.warn(std::move(error));
      break;
    }
    ++store_.row;
    co_return Status();
  }

  // ON DUPLICATE KEY UPDATE counts 2 for a changed row, 0 for one that stays as it is (1 with
  // CLIENT_FOUND_ROWS).
  Task<Status> update_existing(const txn::FoundRow& existing) {
    Row changed = existing.values;
    Evaluation evaluation = context_.evaluation();
    evaluation.rows.assign(1, changed.data());
    evaluation.inserted = row_.data();
    for (const auto& [column, expression] : bound_->updates) {
      Value scratch;
      const Value& value = expression->evaluate(evaluation, scratch);
      COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
      Value converted;
      COMMITD_CO_RETURN_IF_ERROR(convert(table().columns[column], value, converted));
      COMMITD_CO_RETURN_IF_ERROR(
          apply_not_null(table().columns[column], converted, statement_.ignore, session_.diagnostics));
      changed[column] = std::move(converted);
    }
    std::string image;
    encode_row_image(table(), changed, image);
    if (image == existing.image) {
      if (session_.found_rows_flag) ++affected_;
      co_return Status();
    }
    for (size_t i = 0; i < changed.size(); ++i) {
      if (table().columns[i].on_update_current_timestamp && !is_assigned(i))
        changed[i] = current_timestamp_for(table().columns[i], session_);
    }
    if (auto allowed = bound_->checks.verify(changed); !allowed.ok()) {
      if (!statement_.ignore) co_return allowed;
      session_.diagnostics.warn(std::move(allowed).error());
      co_return Status();
    }
    auto outcome = co_await context_.transaction_for(table()).update(bound_->table(), existing, changed);
    context_.session.status.add(StatusVariable::HandlerUpdate);
    if (!outcome.ok()) co_return std::move(outcome).error();
    if (outcome->has_value()) {
      Error error = duplicate_error(table(), *(*outcome)->index, changed);
      if (!statement_.ignore) co_return error;
      session_.diagnostics.warn(std::move(error));
      co_return Status();
    }
    affected_ += 2;
    for (size_t i = 0; i < changed.size(); ++i) {
      if (table().columns[i].auto_increment && statement_.select == nullptr)
        explicit_number_ = to_bits(changed[i]);
    }
    co_return Status();
  }

  bool is_assigned(size_t column) const {
    return std::any_of(bound_->updates.begin(), bound_->updates.end(),
                       [&](const auto& update) { return update.first == column; });
  }

  // Which columns of the SELECT are literals of bytes that go, as they are, into columns of numbers. Those
  // that go through a table of the statement's own are bytes like any others.
  std::vector<bool> byte_literals_for_numbers() {
    std::vector<bool> found(bound_->targets.size());
    const ast::SelectStatement& select = *statement_.select;
    if (select.union_parts != nullptr || select.distinct || !select.group_by.empty() ||
        select.items.size() != found.size())
      return found;  // a different number of items: there are stars among them
    for (size_t i = 0; i < found.size(); ++i) {
      const bool number = is_numeric(table().columns[bound_->targets[i]].type);
      found[i] = number && is_byte_literal(*select.items[i].expression);
    }
    return found;
  }

  // The rows are read first: the statement may read the table it writes.
  Task<Status> insert_selected() {
    RowBuffer buffer(true);
    COMMITD_CO_RETURN_IF_ERROR(co_await run_select(context_, *statement_.select, buffer));
    if (buffer.columns.size() != bound_->targets.size()) co_return column_count_error(1);
    AutoIncrement numbers(context_, table(), buffer.rows.size());
    const std::vector<bool> are_numbers = byte_literals_for_numbers();
    for (const Row& selected : buffer.rows) {
      row_.assign(table().columns.size(), Value());
      given_.assign(table().columns.size(), false);
      for (size_t i = 0; i < bound_->targets.size(); ++i) {
        given_[bound_->targets[i]] = true;
        const bool number = are_numbers[i] && !selected[i].is_null();
        COMMITD_CO_RETURN_IF_ERROR(
            put(bound_->targets[i], number ? number_of_bytes(selected[i].as_string()) : selected[i]));
      }
      COMMITD_CO_RETURN_IF_ERROR(complete_row(numbers));
      COMMITD_CO_RETURN_IF_ERROR(co_await store_row(numbers));
      numbers.row_done();
    }
    first_generated_ = numbers.first_generated();
    co_return Status();
  }

  OkInfo answer() {
    OkInfo ok;
    ok.affected_rows = affected_;
    if (first_generated_ != 0) session_.last_insert_id = first_generated_;
    ok.last_insert_id = first_generated_ != 0 ? first_generated_ : explicit_number_;
    if (statement_.rows.size() > 1 || statement_.select != nullptr) {
      ok.info = fmt::format("Records: {}  Duplicates: {}  Warnings: {}", records_, duplicates_,
                            session_.diagnostics.count());
    }
    return ok;
  }

  StatementContext& context_;
  SessionState& session_;
  const ast::InsertStatement& statement_;
  StoreContext store_;
  ChangeBinding<BoundInsert> bound_;
  std::vector<std::pair<size_t, Value>> defaults_;  // of the columns that are no targets
  Row row_;
  std::vector<bool> given_;
  uint64_t affected_ = 0, records_ = 0, duplicates_ = 0;
  uint64_t first_generated_ = 0, explicit_number_ = 0;
};

}  // namespace

Task<Result<OkInfo>> execute_insert(StatementContext& context, const ast::InsertStatement& statement) {
  Inserter inserter(context, statement);
  co_return co_await inserter.run();
}

}  // namespace commitd::sql
