// Names, databases, character sets and engines: what every DDL statement resolves first.
#include <algorithm>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/ast/statement.h"
#include "sql/ddl/planning.h"
#include "storage/table_engines.h"

namespace commitd::sql::ddl {
namespace {

constexpr size_t kMaxNameLength = 64, kMostBytesOfCharacter = 3;  // names are utf8mb3

}  // namespace

Status check_name(std::string_view name, Named what) {
  struct Wrong {
    uint16_t number;
    std::string_view kind;
  };
  static constexpr Wrong kWrong[] = {{1103, "table"}, {1102, "database"}, {1166, "column"}, {1280, "index"}};
  const Wrong& wrong = kWrong[static_cast<size_t>(what)];
  if (name.empty() || name.back() == ' ')
    return make_error(wrong.number, "Incorrect {} name '{}'", wrong.kind, name);
  if (character_count(name) > kMaxNameLength || name.size() > kMaxNameLength * kMostBytesOfCharacter)
    return make_error(er::kTooLongIdent, "Identifier name '{}' is too long", name);
  return {};
}

Result<std::string> database_of(const ast::TableName& name, std::string_view default_db) {
  std::string_view db = name.db.empty() ? default_db : name.db;
  if (db.empty()) return make_error(er::kNoDb, "No database selected");
  return std::string(db);
}

Result<TablePtr> existing_table(const Context& context, const ast::TableName& name) {
  auto db = database_of(name, context.default_db);
  if (!db.ok()) return std::move(db).error();
  auto table = context.catalog.find_table(*db, name.name);
  if (!table) return make_error(er::kNoSuchTable, "Table '{}.{}' doesn't exist", *db, name.name);
  return table;
}

Status refuse_system_database(std::string_view db) {
  if (equal_words(db, "information_schema") || equal_words(db, "performance_schema")) {
    return make_error(er::kDbAccessDenied, "Access denied: database '{}' cannot be changed", db);
  }
  return {};
}

Result<uint16_t> resolve_collation(std::string_view charset_name, std::string_view collation_name,
                                   uint16_t inherited) {
  const CharsetInfo* charset = nullptr;
  if (!charset_name.empty()) {
    charset = find_charset(charset_name);
    if (!charset) return make_error(er::kUnknownCharacterSet, "Unknown character set: '{}'", charset_name);
  }
  if (!collation_name.empty()) {
    const Collation* collation = find_collation(collation_name);
    if (!collation) return make_error(er::kUnknownCollation, "Unknown collation: '{}'", collation_name);
    if (charset && collation->charset != charset->charset) {
      return make_error(er::kCollationCharsetMismatch, "COLLATION '{}' is not valid for CHARACTER SET '{}'",
                        collation_name, charset_name);
    }
    return collation->id;
  }
  if (charset) return find_collation(charset->default_collation)->id;
  return inherited;
}

Result<std::string> resolve_engine(std::string_view engine, std::string_view table,
                                   Diagnostics& diagnostics) {
  if (engine.empty()) return std::string(storage::table_engines()[0].name);
  const storage::TableEngine* found = storage::find_table_engine(engine);
  if (found == nullptr) return make_error(er::kUnknownStorageEngine, "Unknown storage engine '{}'", engine);
  if (equal_words(engine, "InnoDB")) {
    diagnostics.note(make_error(er::kWarnUsingOtherHandler,
                                "Using storage engine {} for table '{}': it takes InnoDB's place",
                                found->name, table));
  }
  return std::string(storage::engine_name_as_written(engine));
}

int column_ordinal(const TableDef& table, std::string_view name) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (equal_words(table.columns[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace commitd::sql::ddl
