// ALTER TABLE, CREATE INDEX and DROP INDEX. Adding columns at the end, index changes, renames and defaults
// touch the definition only (and fill new indexes); anything that changes how stored rows look writes the
// rows anew.
#include <algorithm>
#include <numeric>
#include <set>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "base/temporal.h"
#include "base/text_case.h"
#include "sql/ast/definitions.h"
#include "sql/ddl/planning.h"
#include "sql/expression/conversion.h"
#include "sql/variables/system_variables.h"
#include "storage/table_engines.h"
#include "txn/row_writes.h"

namespace commitd::sql::ddl {
namespace {

using What = ast::AlterAction::What;

Error not_of_its_engine(std::string_view table) {
  return make_error(er::kIllegalHa, "Table storage engine for '{}' doesn't have this option", table);
}

// What ALTER can do where the rows are on another server.
bool only_renames(const ast::AlterTableStatement& statement) {
  return std::all_of(statement.actions.begin(), statement.actions.end(), [](const ast::AlterAction& action) {
    return action.what == What::RenameTable || action.what == What::Nothing;
  });
}

class Alteration {
 public:
  Alteration(TablePtr old_table, Context& context)
      : old_(std::move(old_table)),
        context_(context),
        change_(context.catalog),
        entries_(context.engine, *old_, change_.writes()),
        table_(*old_) {
    source_.resize(old_->columns.size());
    std::iota(source_.begin(), source_.end(), 0);
  }

  Status apply(const ast::AlterAction& action);
  Result<Effect> finish();

 private:
  Status add_column(const ast::AlterAction& action);
  Status drop_column(std::string_view name);
  Status modify_column(const ast::AlterAction& action);
  Status rename_column(std::string_view from, std::string_view to);
  Status set_default(const ast::AlterAction& action);
  Status drop_index(std::string_view name);
  Status rename_index(std::string_view from, std::string_view to);
  Status rename_table(const ast::TableName& to);
  Status move_column(int from, size_t to);
  Status change_check(const ast::AlterAction& action);
  Status drop_constraint(std::string_view name);
  Status convert_charset(const ast::TableOptions& options);
  Result<Row> make_row(const Row& old_row);
  Status check_added_date(const ColumnDef& column, const Value& value) const;
  void find_numbered_column();
  Result<Value> number_or_value(const Value& value, const ColumnDef& column);
  Status verify_rows();
  Status set_options(const ast::TableOptions& options);
  int ordinal_or_none(std::string_view name) const;
  Result<int> ordinal_of(std::string_view name) const;
  std::vector<IndexDef>::iterator index_named(std::string_view name);
  Status check_index_names() const;
  Result<size_t> position(const ast::AlterAction& action) const;
  void move_index_columns(const std::function<int(int)>& new_ordinal);
  Status rebuild(Effect& effect);
  Status change_auto_increment();

  TablePtr old_;
  Context& context_;
  CatalogChange change_;
  NewEntries entries_;
  TableDef table_;
  std::vector<int> source_;                // old ordinal of each column, -1 = new
  std::vector<IndexDef> dropped_indexes_;  // erased unless the table is rebuilt anyway
  bool rebuild_ = false;
  bool columns_changed_ = false;
  bool verify_ = false;  // stored rows may break a CHECK constraint that holds from now on
  ddl::Context::RowCheck row_check_;
  std::optional<uint64_t> auto_increment_;
  // The column that becomes AUTO_INCREMENT. Its numbers follow from the rows alone, so that replicas, and a
  // start behind a crash, give the same ones.
  std::optional<size_t> numbered_;
  uint64_t next_number_ = 1;
  bool gave_numbers_ = false;
};

// Where the column is that had this name in front of the statement: so all its actions name columns. -1:
// there was none, or it is gone.
int Alteration::ordinal_or_none(std::string_view name) const {
  for (size_t i = 0; i < source_.size(); ++i) {
    const bool is_it =
        source_[i] >= 0 && equal_words(old_->columns[static_cast<size_t>(source_[i])].name, name);
    if (is_it) return static_cast<int>(i);
  }
  return context_.logged_by_commitd ? column_ordinal(table_, name) : -1;
}

Result<int> Alteration::ordinal_of(std::string_view name) const {
  const int ordinal = ordinal_or_none(name);
  if (ordinal < 0) return make_error(er::kBadField, "Unknown column '{}' in '{}'", name, table_.name);
  return ordinal;
}

Result<size_t> Alteration::position(const ast::AlterAction& action) const {
  if (action.first) return size_t{0};
  if (action.after.empty()) return table_.columns.size();
  const int ordinal = column_ordinal(table_, action.after);  // may be a new one
  if (ordinal < 0) return make_error(er::kBadField, "Unknown column '{}' in '{}'", action.after, table_.name);
  return static_cast<size_t>(ordinal) + 1;
}

void Alteration::move_index_columns(const std::function<int(int)>& new_ordinal) {
  for (auto& index : table_.indexes) {
    for (auto& part : index.columns) part.column = static_cast<uint16_t>(new_ordinal(part.column));
  }
}

Status Alteration::add_column(const ast::AlterAction& action) {
  auto column = make_column(action.column, table_.default_collation, context_);
  if (!column.ok()) return std::move(column).error();
  if (column_ordinal(table_, column->name) >= 0)
    return make_error(er::kDupFieldName, "Duplicate column name '{}'", column->name);
  auto at = position(action);
  if (!at.ok()) return std::move(at).error();
  bool needs_values = column->auto_increment || column->default_current_timestamp ||
                      (!column->nullable && !column->default_value);
  if (*at != table_.columns.size() || needs_values) rebuild_ = true;
  column->added_in_version = old_->version + 1;
  column->fill_value = column->default_value.value_or(Value::null());
  const std::string name = column->name;
  move_index_columns([&](int ordinal) { return ordinal + (ordinal >= static_cast<int>(*at)); });
  table_.columns.insert(table_.columns.begin() + static_cast<ptrdiff_t>(*at), std::move(*column));
  source_.insert(source_.begin() + static_cast<ptrdiff_t>(*at), -1);
  if (action.column.checks != nullptr) {
    for (const ast::CheckSpec& check : *action.column.checks)
      COMMITD_RETURN_IF_ERROR(add_check(table_, check, name, context_));
    verify_ = true;
  }
  if (!action.column.primary && !action.column.unique) return {};
  ast::IndexSpec spec(std::pmr::get_default_resource());
  spec.primary = action.column.primary;
  spec.unique = true;
  spec.parts.push_back({action.column.name, 0});
  rebuild_ = true;
  return add_index(table_, spec, new_index_id(table_, change_), context_);
}

Status Alteration::drop_column(std::string_view name) {
  const int ordinal = ordinal_or_none(name);
  if (ordinal < 0)
    return make_error(er::kCantDropFieldOrKey, "Can't DROP '{}'; check that column/key exists", name);
  COMMITD_RETURN_IF_ERROR(check_free_of_checks(table_, name));
  for (auto& index : table_.indexes) {
    std::erase_if(index.columns, [&](const auto& part) { return part.column == ordinal; });
  }
  bool primary_gone = table_.indexes[0].primary && table_.indexes[0].columns.empty();
  std::erase_if(table_.indexes, [&](const auto& index) {
    return index.columns.empty() && (primary_gone || &index != &table_.indexes[0]);
  });
  move_index_columns([&](int other) { return other - (other > ordinal); });
  table_.columns.erase(table_.columns.begin() + ordinal);
  source_.erase(source_.begin() + ordinal);
  rebuild_ = true;
  return {};
}

Status Alteration::modify_column(const ast::AlterAction& action) {
  std::string_view old_name = action.name.empty() ? action.column.name : action.name;
  auto ordinal = ordinal_of(old_name);
  if (!ordinal.ok()) return std::move(ordinal).error();
  auto column = make_column(action.column, table_.default_collation, context_);
  if (!column.ok()) return std::move(column).error();
  bool in_primary = std::any_of(table_.indexes[0].columns.begin(), table_.indexes[0].columns.end(),
                                [&](const auto& part) { return part.column == *ordinal; });
  if (in_primary) require_value(*column);
  if (!equal_words(column->name, old_name)) COMMITD_RETURN_IF_ERROR(check_free_of_checks(table_, old_name));
  const std::string name = column->name;
  table_.columns[*ordinal] = std::move(*column);
  columns_changed_ = rebuild_ = true;
  verify_ |= !table_.checks.empty();
  if (action.column.checks != nullptr) {
    for (const ast::CheckSpec& check : *action.column.checks)
      COMMITD_RETURN_IF_ERROR(add_check(table_, check, name, context_));
    verify_ = true;
  }
  if (!action.first && action.after.empty()) return {};
  auto to = position(action);
  if (!to.ok()) return std::move(to).error();
  return move_column(*ordinal, *to);
}

// Takes a column out and puts it in front of the one that is at `to` now.
Status Alteration::move_column(int from, size_t to) {
  const auto old_place = static_cast<size_t>(from);
  const size_t place = to > old_place ? to - 1 : to;
  auto column = std::move(table_.columns[old_place]);
  const int source = source_[old_place];
  table_.columns.erase(table_.columns.begin() + from);
  source_.erase(source_.begin() + from);
  table_.columns.insert(table_.columns.begin() + static_cast<ptrdiff_t>(place), std::move(column));
  source_.insert(source_.begin() + static_cast<ptrdiff_t>(place), source);
  move_index_columns([&](int ordinal) {
    if (ordinal == from) return static_cast<int>(place);
    int moved = ordinal - (ordinal > from);
    return moved + (moved >= static_cast<int>(place));
  });
  return {};
}

Status Alteration::change_check(const ast::AlterAction& action) {
  if (action.what == What::AddCheck) {
    verify_ = true;
    return add_check(table_, action.check, "", context_);
  }
  CheckDef* check = find_check(table_, action.name);
  if (check == nullptr) return check_not_found(action.name);
  if (action.what == What::EnforceCheck) {
    check->enforced = action.check.enforced;
    verify_ |= check->enforced;
  } else {
    table_.checks.erase(table_.checks.begin() + (check - table_.checks.data()));
  }
  return {};
}

// DROP CONSTRAINT names a CHECK or a unique key.
Status Alteration::drop_constraint(std::string_view name) {
  if (CheckDef* check = find_check(table_, name)) {
    table_.checks.erase(table_.checks.begin() + (check - table_.checks.data()));
    return {};
  }
  auto dropped = drop_index(name);
  if (dropped.ok()) return dropped;
  return make_error(er::kConstraintNotFound, "Constraint '{}' does not exist.", name);
}

// CONVERT TO CHARACTER SET: the table's default and all its columns of characters.
Status Alteration::convert_charset(const ast::TableOptions& options) {
  auto collation = resolve_collation(options.charset, options.collation, table_.default_collation);
  if (!collation.ok()) return std::move(collation).error();
  table_.default_collation = *collation;
  for (ColumnDef& column : table_.columns) {
    if (has_characters(column.type) && column.collation != kBinaryCollation) column.collation = *collation;
  }
  columns_changed_ = rebuild_ = true;
  verify_ |= !table_.checks.empty();
  return {};
}

Status Alteration::rename_column(std::string_view from, std::string_view to) {
  auto ordinal = ordinal_of(from);
  if (!ordinal.ok()) return std::move(ordinal).error();
  COMMITD_RETURN_IF_ERROR(check_name(to, Named::Column));
  COMMITD_RETURN_IF_ERROR(check_free_of_checks(table_, from));
  table_.columns[*ordinal].name = to;
  return {};
}

// Of a column that is added by the same statement, too.
Status Alteration::set_default(const ast::AlterAction& action) {
  auto ordinal = ordinal_of(action.name);
  const int added = column_ordinal(table_, action.name);
  const bool is_added = added >= 0 && source_[static_cast<size_t>(added)] < 0;
  if (!ordinal.ok() && !is_added) return std::move(ordinal).error();
  auto& column = table_.columns[static_cast<size_t>(ordinal.ok() ? *ordinal : added)];
  if (action.what == What::DropDefault) {
    column.default_value.reset();
    return {};
  }
  auto value = context_.column_default(*action.default_value, column);
  if (!value.ok()) return std::move(value).error();
  column.default_value = std::move(*value);
  return {};
}

// By the name that it had in front of the statement.
std::vector<IndexDef>::iterator Alteration::index_named(std::string_view name) {
  const auto named = [&](const IndexDef& index) { return equal_words(index.name, name); };
  const auto in_front = std::ranges::find_if(old_->indexes, named);
  if (in_front == old_->indexes.end())
    return context_.logged_by_commitd ? std::ranges::find_if(table_.indexes, named) : table_.indexes.end();
  return std::ranges::find_if(table_.indexes,
                              [&](const IndexDef& index) { return index.id == in_front->id; });
}

Status Alteration::check_index_names() const {
  if (context_.logged_by_commitd) return {};
  std::set<std::string> names;
  for (const IndexDef& index : table_.indexes) {
    if (!index.name.empty() && !names.insert(lower_case(index.name)).second)
      return make_error(er::kDupKeyName, "Duplicate key name '{}'", index.name);
  }
  return {};
}

Status Alteration::drop_index(std::string_view name) {
  const auto found = index_named(name);
  if (name.empty() || found == table_.indexes.end()) {
    return make_error(er::kCantDropFieldOrKey, "Can't DROP '{}'; check that column/key exists", name);
  }
  if (found->primary) rebuild_ = true;
  dropped_indexes_.push_back(*found);
  table_.indexes.erase(found);
  return {};
}

Status Alteration::rename_index(std::string_view from, std::string_view to) {
  COMMITD_RETURN_IF_ERROR(check_name(to, Named::Index));
  const auto index = index_named(from);
  if (index == table_.indexes.end() || index->primary)
    return make_error(er::kKeyDoesNotExist, "Key '{}' doesn't exist in table '{}'", from, table_.name);
  index->name = to;
  return {};
}

Status Alteration::rename_table(const ast::TableName& to) {
  auto db = database_of(to, table_.db);
  if (!db.ok()) return std::move(db).error();
  COMMITD_RETURN_IF_ERROR(check_name(to.name, Named::Table));
  if (!context_.catalog.has_database(*db)) return make_error(er::kBadDb, "Unknown database '{}'", *db);
  if (context_.catalog.find_table(*db, to.name))
    return make_error(er::kTableExists, "Table '{}' already exists", to.name);
  table_.db = *db;
  table_.name = to.name;
  return {};
}

Status Alteration::set_options(const ast::TableOptions& options) {
  if (!options.engine.empty()) {
    auto engine = resolve_engine(options.engine, table_.name, context_.diagnostics);
    if (!engine.ok()) return std::move(engine).error();
    if (storage::find_table_engine(*engine)->remote) return not_of_its_engine(table_.name);
    rebuild_ = rebuild_ || storage::find_table_engine(*engine) != &storage::engine_of(table_);
    table_.engine = std::move(*engine);
  }
  auto collation = resolve_collation(options.charset, options.collation, table_.default_collation);
  if (!collation.ok()) return std::move(collation).error();
  table_.default_collation = *collation;
  if (options.comment) {
    auto comment = comment_within(Commented::Table, table_.name, *options.comment, context_);
    if (!comment.ok()) return std::move(comment).error();
    table_.comment = *std::move(comment);
  }
  if (options.connection) table_.connection = *options.connection;
  if (options.auto_increment) auto_increment_ = *options.auto_increment;
  return {};
}

Status Alteration::apply(const ast::AlterAction& action) {
  switch (action.what) {
    case What::AddColumn:
      return add_column(action);
    case What::DropColumn:
      return drop_column(action.name);
    case What::ModifyColumn:
      return modify_column(action);
    case What::RenameColumn:
      return rename_column(action.name, action.new_name);
    case What::SetDefault:
    case What::DropDefault:
      return set_default(action);
    case What::AddIndex:
      if (action.index.primary) rebuild_ = true;
      return add_index(table_, action.index, new_index_id(table_, change_), context_);
    case What::DropIndex:
      return drop_index(action.name);
    case What::RenameIndex:
      return rename_index(action.name, action.new_name);
    case What::RenameTable:
      return rename_table(action.new_table);
    case What::AddCheck:
    case What::DropCheck:
    case What::EnforceCheck:
      return change_check(action);
    case What::DropConstraint:
      return drop_constraint(action.name);
    case What::ConvertCharset:
      return convert_charset(action.options);
    case What::Options:
      return set_options(action.options);
    case What::Nothing:
      return {};
  }
  return {};
}

Result<Row> Alteration::make_row(const Row& old_row) {
  Row row;
  for (size_t i = 0; i < source_.size(); ++i) {
    const auto& column = table_.columns[i];
    if (source_[i] < 0) {
      auto added = added_column_value(column);
      if (!added.ok()) return std::move(added).error();
      COMMITD_RETURN_IF_ERROR(check_added_date(column, *added));
      row.push_back(std::move(*added));
      continue;
    }
    const Value& value = old_row[static_cast<size_t>(source_[i])];
    const bool is_numbered = numbered_ == i;
    if (value.is_null() && !column.nullable && !is_numbered)
      return make_error(er::kInvalidUseOfNull, "Invalid use of NULL value");
    auto converted = is_numbered ? number_or_value(value, column) : context_.convert(value, column);
    if (!converted.ok()) return std::move(converted).error();
    row.push_back(std::move(*converted));
  }
  if (numbered_) next_number_ = std::max(next_number_, txn::next_after(table_, row));
  if (row_check_) COMMITD_RETURN_IF_ERROR(row_check_(row));
  return row;
}

// Where rows would get the zero date, for want of a default, that the sql_mode forbids.
Status Alteration::check_added_date(const ColumnDef& column, const Value& value) const {
  const uint64_t strict = sql_mode::kStrictTransTables | sql_mode::kStrictAllTables;
  const bool forbidden =
      (context_.sql_mode & sql_mode::kNoZeroDate) != 0 && (context_.sql_mode & strict) != 0;
  const bool is_date = column.type == FieldType::Date || column.type == FieldType::DateTime2;
  if (!forbidden || !is_date || value.is_null() || context_.logged_by_commitd || column.default_value ||
      !is_zero_date(value.as_temporal()))
    return {};
  return make_error(er::kTruncatedWrongValue, "Incorrect {} value: '{}' for column '{}' at row 1",
                    column.type == FieldType::Date ? "date" : "datetime", value.to_text(), column.name);
}

void Alteration::find_numbered_column() {
  if (context_.logged_by_commitd && !auto_increment_) return;
  for (size_t i = 0; i < source_.size(); ++i) {
    const bool becomes = table_.columns[i].auto_increment && source_[i] >= 0 &&
                         !old_->columns[static_cast<size_t>(source_[i])].auto_increment;
    if (becomes) numbered_ = i;
  }
  next_number_ = std::max<uint64_t>(auto_increment_.value_or(1), 1);
}

Result<Value> Alteration::number_or_value(const Value& value, const ColumnDef& column) {
  if (!value.is_null()) {
    auto converted = context_.convert(value, column);
    const bool zero_stays = (context_.sql_mode & sql_mode::kNoAutoValueOnZero) != 0;
    if (!converted.ok() || zero_stays || to_double(*converted) != 0) return converted;
  }
  gave_numbers_ = true;
  return context_.convert(Value::unsigned_integer(next_number_++), column);
}

// Where the rows stay as they are, they must obey the constraints all the same.
Status Alteration::verify_rows() {
  if (!row_check_) return {};
  return for_each_row(*old_, context_, [this](std::string_view, Row& row) -> Status {
    auto made = make_row(row);
    return made.ok() ? Status() : Status(std::move(made).error());
  });
}

// The altered table gets new ids throughout: old and new rows never meet, and the old ones go with the old
// table.
Status Alteration::rebuild(Effect& effect) {
  std::erase_if(table_.indexes, [](const auto& index) { return !index.primary && index.columns.empty(); });
  table_.id = change_.new_table_id();
  table_.version = 1;
  forget_instant_columns(table_);
  for (auto& index : table_.indexes) index.id = new_index_id(table_, change_);
  ensure_clustered_index(table_, change_);
  COMMITD_RETURN_IF_ERROR(check_table(table_));
  if (old_->has_primary_key()) COMMITD_RETURN_IF_ERROR(check_primary_key(table_, context_));
  for (const auto& column : table_.columns) {
    if (column.auto_increment && column_ordinal(*old_, column.name) < 0) {
      return make_error(er::kNotSupportedYet,
                        "This version of commitd doesn't yet support 'adding an AUTO_INCREMENT column to an "
                        "existing table'");
    }
  }
  find_numbered_column();
  auto copied = copy_rows(
      *old_, table_, [this](const Row& row) { return make_row(row); }, context_, entries_);
  if (!copied.ok()) return std::move(copied).error();
  effect.affected_rows = *copied;
  effect.numbered = gave_numbers_ && !auto_increment_;
  effect.rewritten = std::make_shared<const TableDef>(table_);
  effect.leaves_memory = storage::engine_of(*old_).in_memory && !storage::engine_of(table_).in_memory;
  change_.drop_table(*old_);
  const bool says_where = auto_increment_ && (!numbered_ || *auto_increment_ != 1);
  change_.writes().raise_auto_increment(
      table_.id, says_where ? *auto_increment_ : context_.engine.peek_auto_increment(old_->id));
  return {};
}

// Never below what the rows have. A counter that is lower here than where the statement first ran, since
// values that were given and rolled back are not logged, ends at the same number.
Status Alteration::change_auto_increment() {
  uint64_t next = std::max<uint64_t>(*auto_increment_, 1);
  if (next >= context_.engine.peek_auto_increment(table_.id)) {
    change_.writes().raise_auto_increment(table_.id, next);
    return {};
  }
  COMMITD_RETURN_IF_ERROR(for_each_row(*old_, context_, [&](std::string_view, Row& row) -> Status {
    next = std::max(next, txn::next_after(*old_, row));
    return {};
  }));
  change_.writes().restart_auto_increment(table_.id, next);
  return {};
}

Result<Effect> Alteration::finish() {
  Effect effect;
  if (table_.columns.empty())
    return make_error(er::kCantRemoveAllFields,
                      "You can't delete all columns with ALTER TABLE; use DROP TABLE instead");
  COMMITD_RETURN_IF_ERROR(check_index_names());
  if (columns_changed_) COMMITD_RETURN_IF_ERROR(fit_keys(table_, context_));
  if (verify_ && context_.row_check) {
    auto check = context_.row_check(table_);
    if (!check.ok()) return std::move(check).error();
    row_check_ = std::move(*check);
  }
  if (rebuild_) {
    COMMITD_RETURN_IF_ERROR(rebuild(effect));
  } else {
    COMMITD_RETURN_IF_ERROR(check_table(table_));
    COMMITD_RETURN_IF_ERROR(verify_rows());
    ++table_.version;
    for (const auto& index : dropped_indexes_) change_.erase_index(index);
    for (const auto& index : table_.indexes) {
      bool is_new = std::none_of(old_->indexes.begin(), old_->indexes.end(),
                                 [&](const auto& old_index) { return old_index.id == index.id; });
      if (is_new) COMMITD_RETURN_IF_ERROR(fill_index(*old_, table_, index, context_, entries_));
    }
    if (auto_increment_) COMMITD_RETURN_IF_ERROR(change_auto_increment());
  }
  entries_.name();
  change_.put_table(std::move(table_));
  Effect changed = finished(change_);
  effect.writes = std::move(changed.writes);
  effect.publish = std::move(changed.publish);
  return effect;
}

// What is dropped goes first, wherever it stands, and keys come behind the columns that they may be of:
// `ADD KEY k (b), DROP KEY k` makes another key of k.
enum class Stage : uint8_t { Drops, Columns, Keys };
constexpr Stage kStages[] = {Stage::Drops, Stage::Columns, Stage::Keys};

Stage stage_of(const ast::AlterAction& action) {
  switch (action.what) {
    case What::DropColumn:
    case What::DropIndex:
    case What::DropConstraint:
    case What::DropCheck:
      return Stage::Drops;
    case What::AddIndex:
    case What::AddCheck:
      return Stage::Keys;
    default:
      return Stage::Columns;
  }
}

Result<Effect> alter(const TablePtr& table, const ast::AlterTableStatement& statement, Context& context) {
  Alteration alteration(table, context);
  for (const Stage stage : kStages) {
    for (const auto& action : statement.actions)
      if (stage_of(action) == stage) COMMITD_RETURN_IF_ERROR(alteration.apply(action));
  }
  return alteration.finish();
}

Result<Effect> alter_as_written(const TablePtr& table, const ast::AlterTableStatement& statement,
                                Context& context) {
  Alteration alteration(table, context);
  for (const auto& action : statement.actions) COMMITD_RETURN_IF_ERROR(alteration.apply(action));
  return alteration.finish();
}

}  // namespace

Result<Effect> plan_alter_table(const ast::AlterTableStatement& statement, Context& context) {
  auto table = existing_table(context, statement.table);
  if (!table.ok()) return std::move(table).error();
  if (storage::engine_of(**table).remote && !only_renames(statement))
    return not_of_its_engine((*table)->name);
  auto effect = alter(*table, statement, context);
  if (effect.ok() || !context.executed_before) return effect;
  // Earlier versions did what was written first.
  auto as_written = alter_as_written(*table, statement, context);
  return as_written.ok() ? std::move(as_written) : std::move(effect);
}

}  // namespace commitd::sql::ddl
