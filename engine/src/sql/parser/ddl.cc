#include <algorithm>
#include <array>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/ast/definitions.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {
namespace {

constexpr std::string_view kAbsentTableOptions[] = {"autoextend_size", "compression",   "data",
                                                    "encryption",      "insert_method", "secondary_engine",
                                                    "tablespace",      "union"};

constexpr uint16_t kKeyPartIsZero = 1391;

constexpr std::array<std::string_view, 4> kAlgorithms = {"default", "instant", "inplace", "copy"};
constexpr std::array<std::string_view, 4> kLocks = {"default", "none", "shared", "exclusive"};

std::string_view absent_table_option(const Token& token) {
  const auto* found = std::find_if(std::begin(kAbsentTableOptions), std::end(kAbsentTableOptions),
                                   [&](std::string_view option) { return equal_words(token.text, option); });
  const bool known = token.kind == TokenKind::Identifier && found != std::end(kAbsentTableOptions);
  return known ? token.text : std::string_view();
}

}  // namespace

bool Grammar::if_exists() {
  if (!accept(Word::If)) return false;
  expect(Word::Exists);
  return true;
}

bool Grammar::if_not_exists() {
  if (!accept(Word::If)) return false;
  expect(Word::Not);
  expect(Word::Exists);
  return true;
}

ast::Statement* Grammar::database_statement(ast::StatementKind kind) {
  auto* database = arena_.make<ast::DatabaseStatement>(kind);
  advance();
  if (kind == ast::StatementKind::CreateDatabase) database->if_exists = if_not_exists();
  if (kind == ast::StatementKind::DropDatabase) database->if_exists = if_exists();
  if (kind != ast::StatementKind::AlterDatabase || at_identifier()) database->name = identifier();
  for (bool more = kind != ast::StatementKind::DropDatabase; more;) {
    accept(Word::Default);
    more = charset_option(database->charset, database->collation);
  }
  return database;
}

void Grammar::index_parts(ast::IndexSpec& index) {
  expect('(');
  do {
    ast::IndexPart part;
    if (is('(')) unsupported("functional indexes");
    part.column = identifier();
    if (accept('(')) {
      part.prefix_length = static_cast<uint32_t>(unsigned_number());
      if (part.prefix_length == 0 && !executed_before_)
        fail(make_error(kKeyPartIsZero, "Key part '{}' length cannot be 0", part.column));
      expect(')');
    }
    if (!accept(Word::Asc)) part.descending = accept(Word::Desc);
    index.parts.push_back(part);
  } while (accept(','));
  expect(')');
}

// How a definition is changed. There is one way for each change, whichever is asked for.
bool Grammar::change_option() {
  if (!is(Word::Algorithm) && !is(Word::Lock)) return false;
  const bool algorithm = accept(Word::Algorithm);
  if (!algorithm) expect(Word::Lock);
  accept('=');
  const std::string_view value = accept(Word::Default) ? std::string_view("default") : identifier();
  const auto& known = algorithm ? kAlgorithms : kLocks;
  const auto same = [&](std::string_view word) { return equal_words(value, word); };
  if (executed_before_ || std::ranges::any_of(known, same)) return true;
  fail(algorithm ? make_error(er::kUnknownAlterAlgorithm, "Unknown ALGORITHM '{}'", value)
                 : make_error(er::kUnknownAlterLock, "Unknown LOCK type '{}'", value));
  return true;
}

void Grammar::index_options(ast::IndexSpec& index) {
  for (;;) {
    if (accept(Word::Using)) {
      if (!accept(Word::Btree)) expect(Word::Hash);
    } else if (accept(Word::Comment)) {
      index.comment = string_literal();
    } else if (accept(Word::KeyBlockSize)) {
      accept('=');
      unsigned_number();
    } else if (is(Word::Invisible)) {
      unsupported("INVISIBLE indexes");
    } else if (!change_option() && !accept(Word::Visible)) {
      return;
    }
  }
}

// [CONSTRAINT name] PRIMARY KEY | UNIQUE [KEY] | KEY | INDEX | CHECK …; false when something else (a column)
// stands here. `check` has an expression afterwards when it was one.
bool Grammar::index_definition(ast::IndexSpec& index, ast::CheckSpec& check) {
  const bool constraint = accept(Word::Constraint);
  if (constraint && at_identifier()) index.name = check.name = identifier();
  if (is(Word::Foreign)) unsupported("FOREIGN KEY");
  if (check_definition(check)) return true;
  if (is(Word::Fulltext) || is(Word::Spatial)) unsupported("FULLTEXT and SPATIAL indexes");
  if (accept(Word::Primary)) {
    expect(Word::Key);
    index.primary = index.unique = true;
    index.name = "PRIMARY";
  } else if (accept(Word::Unique)) {
    if (!accept(Word::Key)) accept(Word::Index);
    index.unique = true;
  } else if (!accept(Word::Key) && !accept(Word::Index)) {
    if (constraint) fail();
    return false;
  }
  if (at_identifier()) {
    const std::string_view name = identifier();
    if (!index.primary) index.name = name;
  }
  index_options(index);
  index_parts(index);
  index_options(index);
  return true;
}

void Grammar::table_elements(ast::CreateTableStatement& create) {
  expect('(');
  do {
    ast::IndexSpec index(arena_.resource());
    ast::CheckSpec check;
    if (index_definition(index, check)) {
      if (check.expression != nullptr)
        create.checks.push_back(check);
      else
        create.indexes.push_back(std::move(index));
    } else {
      ast::ColumnSpec column;
      column_definition(column);
      create.columns.push_back(column);
    }
  } while (accept(',') && !failed());
  expect(')');
}

bool Grammar::table_option(ast::TableOptions& options) {
  accept(Word::Default);
  if (charset_option(options.charset, options.collation)) return true;
  if (accept(Word::Engine)) {
    accept('=');
    options.engine = string_or_identifier();
  } else if (accept(Word::Comment)) {
    accept('=');
    options.comment = string_literal();
  } else if (accept(Word::Connection)) {
    accept('=');
    options.connection = string_literal();
  } else if (accept(Word::AutoIncrement)) {
    accept('=');
    options.auto_increment = unsigned_number();
  } else if (accept(Word::RowFormat) || accept(Word::StatsPersistent) || accept_plain("stats_auto_recalc") ||
             accept_plain("stats_sample_pages") || accept(Word::KeyBlockSize) || accept(Word::MaxRows) ||
             accept(Word::MinRows) || accept(Word::AvgRowLength) || accept(Word::PackKeys) ||
             accept(Word::Checksum) || accept(Word::DelayKeyWrite)) {
    accept('=');
    advance();
  } else {
    if (const std::string_view absent = absent_table_option(peek()); !absent.empty()) unsupported(absent);
    return false;
  }
  return true;
}

void Grammar::table_options(ast::TableOptions& options) {
  while (table_option(options)) accept(',');
  if (is(Word::Partition)) unsupported("PARTITION BY");
}

ast::Statement* Grammar::create_table() {
  auto* create = node<ast::CreateTableStatement>();
  create->if_not_exists = if_not_exists();
  create->table = table_name();
  if (accept(Word::Like)) {
    create->like = table_name();
    return create;
  }
  if (is('(') && next_is(Word::Like)) {
    advance();
    advance();
    create->like = table_name();
    expect(')');
    return create;
  }
  if (!is('(')) unsupported("CREATE TABLE … SELECT");
  table_elements(*create);
  table_options(create->options);
  if (is(Word::As) || is(Word::Select)) unsupported("CREATE TABLE … SELECT");
  return create;
}

ast::Statement* Grammar::create_index(bool unique) {
  auto* alter = node<ast::AlterTableStatement>();
  alter->kind = ast::StatementKind::CreateIndex;
  expect(Word::Index);
  ast::AlterAction action(arena_.resource());
  action.what = ast::AlterAction::What::AddIndex;
  action.index.unique = unique;
  action.index.name = identifier();
  index_options(action.index);
  expect(Word::On);
  alter->table = table_name();
  index_parts(action.index);
  index_options(action.index);
  alter->actions.push_back(std::move(action));
  return alter;
}

ast::Statement* Grammar::drop_index() {
  auto* alter = node<ast::AlterTableStatement>();
  alter->kind = ast::StatementKind::DropIndex;
  ast::AlterAction action(arena_.resource());
  action.what = ast::AlterAction::What::DropIndex;
  action.name = accept(Word::Primary) ? "PRIMARY" : identifier();
  expect(Word::On);
  alter->table = table_name();
  while (change_option()) {
  }
  alter->actions.push_back(std::move(action));
  return alter;
}

ast::Statement* Grammar::drop_table(bool temporary) {
  auto* drop = node<ast::DropTableStatement>();
  drop->temporary = temporary;
  drop->if_exists = if_exists();
  do {
    drop->tables.push_back(table_name());
  } while (accept(','));
  accept_plain("restrict");
  accept_plain("cascade");
  return drop;
}

ast::Statement* Grammar::truncate() {
  advance();
  accept(Word::Table);
  auto* truncate = arena_.make<ast::TableStatement>(ast::StatementKind::TruncateTable);
  truncate->table = table_name();
  return truncate;
}

ast::Statement* Grammar::rename_table() {
  advance();
  if (!accept(Word::Tables)) expect(Word::Table);
  auto* rename = node<ast::RenameTableStatement>();
  do {
    ast::RenameTableStatement::Rename one;
    one.from = table_name();
    expect(Word::To);
    one.to = table_name();
    rename->renames.push_back(one);
  } while (accept(','));
  return rename;
}

void Grammar::add_action(ast::AlterTableStatement& alter, ast::AlterAction& action) {
  using What = ast::AlterAction::What;
  if (is(Word::Partition)) unsupported("PARTITION");
  if (index_definition(action.index, action.check)) {
    action.what = action.check.expression != nullptr ? What::AddCheck : What::AddIndex;
    return;
  }
  accept(Word::Column);
  action.what = What::AddColumn;
  if (accept('(')) {  // ADD COLUMN (a INT, b INT)
    for (;;) {
      column_definition(action.column);
      if (!accept(',')) break;
      alter.actions.push_back(action);
      action.column = {};
    }
    expect(')');
    return;
  }
  column_definition(action.column);
  if (accept(Word::First))
    action.first = true;
  else if (accept(Word::After))
    action.after = identifier();
}

void Grammar::drop_action(ast::AlterTableStatement&, ast::AlterAction& action) {
  using What = ast::AlterAction::What;
  if (accept(Word::Primary)) {
    expect(Word::Key);
    action.what = What::DropIndex;
    action.name = "PRIMARY";
  } else if (accept(Word::Key) || accept(Word::Index)) {
    action.what = What::DropIndex;
    action.name = identifier();
  } else {
    if (is(Word::Foreign)) unsupported("FOREIGN KEY");
    if (is(Word::Check) || is(Word::Constraint)) {
      action.what = is(Word::Check) ? What::DropCheck : What::DropConstraint;
      advance();
    } else {
      accept(Word::Column);
      action.what = What::DropColumn;
    }
    action.name = identifier();
  }
}

void Grammar::alter_action(ast::AlterTableStatement& alter) {
  using What = ast::AlterAction::What;
  ast::AlterAction action(arena_.resource());
  if (accept(Word::Add)) {
    add_action(alter, action);
  } else if (accept(Word::Drop)) {
    drop_action(alter, action);
  } else if (is(Word::Modify) || is(Word::Change)) {
    const bool change = accept(Word::Change);
    if (!change) advance();
    accept(Word::Column);
    action.what = What::ModifyColumn;
    if (change) action.name = identifier();
    column_definition(action.column);
    if (!change) action.name = action.column.name;
    if ((action.column.primary || action.column.unique) && !executed_before_)
      unsupported("PRIMARY KEY and UNIQUE in MODIFY and CHANGE: ADD them");
    if (accept(Word::First))
      action.first = true;
    else if (accept(Word::After))
      action.after = identifier();
  } else if (accept(Word::Rename)) {
    if (accept(Word::Column) || is(Word::Index) || is(Word::Key)) {
      action.what = accept(Word::Index) || accept(Word::Key) ? What::RenameIndex : What::RenameColumn;
      action.name = identifier();
      expect(Word::To);
      action.new_name = identifier();
    } else {
      if (!accept(Word::To)) accept(Word::As);
      action.what = What::RenameTable;
      action.new_table = table_name();
    }
  } else if (accept(Word::Alter)) {
    if (is(Word::Check) || is(Word::Constraint)) {
      alter_check(action);
      alter.actions.push_back(std::move(action));
      return;
    }
    if (is(Word::Index)) unsupported("INVISIBLE indexes");
    accept(Word::Column);
    action.name = identifier();
    if (accept(Word::Set)) {
      expect(Word::Default);
      action.what = What::SetDefault;
      action.default_value = unary();
    } else {
      expect(Word::Drop);
      expect(Word::Default);
      action.what = What::DropDefault;
    }
  } else if (change_option() || accept(Word::Force)) {
    // Said of the whole statement; a rebuild changes nothing here.
  } else if (accept(Word::Enable) || accept(Word::Disable)) {
    expect(Word::Keys);
  } else if (accept(Word::Convert)) {
    expect(Word::To);
    action.what = What::ConvertCharset;
    if (!charset_option(action.options.charset, action.options.collation)) fail();
    charset_option(action.options.charset, action.options.collation);
  } else {
    if (is(Word::Order)) unsupported("ALTER TABLE … ORDER BY");
    if (is(Word::Partition) || is(Word::Discard)) unsupported("tablespaces and partitions");
    if (!table_option(action.options)) fail();
    action.what = What::Options;
    table_options(action.options);
  }
  alter.actions.push_back(std::move(action));
}

ast::Statement* Grammar::alter_table() {
  auto* alter = node<ast::AlterTableStatement>();
  alter->table = table_name();
  do {
    alter_action(*alter);
  } while (accept(','));
  return alter;
}

}  // namespace commitd::sql
