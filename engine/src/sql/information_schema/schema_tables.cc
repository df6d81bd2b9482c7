// information_schema: databases, tables, columns and indexes.
#include "base/charset/collation.h"
#include "sql/ddl/ddl.h"
#include "sql/information_schema/virtual_table.h"

namespace commitd::sql {
namespace {

using namespace virtual_column;
constexpr const char* kSchema = "information_schema";

std::vector<std::string> visible_databases(SessionState& session) {
  std::vector<std::string> names = {"information_schema"};
  if (session.server.catalog) {
    for (auto& name : session.server.catalog->databases()) {
      if (session.account.is_operator() || (session.record && session.record->sees_database(name)))
        names.push_back(std::move(name));
    }
  }
  names.emplace_back("performance_schema");
  return names;
}

std::vector<TablePtr> tables_of(SessionState& session, const std::string& db) {
  if (!is_virtual_database(db)) return session.server.catalog->tables(db);
  std::vector<TablePtr> tables;
  for (const auto* table : virtual_tables(db)) tables.push_back(table->definition);
  return tables;
}

// Calls `each` for every table the session may see.
template <class Each>
void for_each_table(SessionState& session, Each each) {
  for (const auto& db : visible_databases(session)) {
    for (const auto& table : tables_of(session, db)) each(*table);
  }
}

std::string charset_name(uint16_t collation) {
  return std::string(charset_info(collation_or_binary(collation).charset).name);
}
std::string collation_name(uint16_t collation) {
  return std::string(collation_or_binary(collation).name);
}

std::vector<Row> schemata_rows(SessionState& session) {
  std::vector<Row> rows;
  for (const auto& name : visible_databases(session)) {
    uint16_t collation = 33;
    if (session.server.catalog) {
      if (auto database = session.server.catalog->find_database(name)) collation = database->collation;
    }
    rows.push_back({text_value("def"), text_value(name), text_value(charset_name(collation)),
                    text_value(collation_name(collation)), Value::null(), text_value("NO")});
  }
  return rows;
}

std::vector<Row> tables_rows(SessionState& session) {
  std::vector<Row> rows;
  for_each_table(session, [&](const TableDef& table) {
    bool is_virtual = is_virtual_database(table.db);
    Value next = Value::null();
    for (const auto& column : table.columns) {
      if (column.auto_increment && session.server.engine)
        next = number_value(session.server.engine->peek_auto_increment(table.id));
    }
    rows.push_back({text_value("def"),
                    text_value(table.db),
                    text_value(table.name),
                    text_value(is_virtual ? "SYSTEM VIEW" : "BASE TABLE"),
                    text_value(table.engine),
                    number_value(10),
                    text_value("Dynamic"),
                    Value::null(),
                    number_value(0),
                    number_value(0),
                    number_value(0),
                    number_value(0),
                    number_value(0),
                    std::move(next),
                    Value::null(),
                    Value::null(),
                    Value::null(),
                    text_value(collation_name(table.default_collation)),
                    Value::null(),
                    text_value(""),
                    text_value(table.comment)});
  });
  return rows;
}

std::string_view data_type(std::string_view column_type) {
  return column_type.substr(0, column_type.find_first_of("( "));
}

std::string key_of_column(const TableDef& table, size_t ordinal) {
  std::string key;
  for (const auto& index : table.indexes) {
    if (index.columns.empty() || index.columns[0].column != ordinal) {
      if (index.primary) {
        for (const auto& part : index.columns) {
          if (part.column == ordinal) return "PRI";
        }
      }
      continue;
    }
    if (index.primary) return "PRI";
    if (index.unique && index.columns.size() == 1)
      key = "UNI";
    else if (key.empty())
      key = "MUL";
  }
  return key;
}

std::string extra_of_column(const ColumnDef& column) {
  if (column.auto_increment) return "auto_increment";
  std::string extra;
  if (column.default_current_timestamp) extra = "DEFAULT_GENERATED";
  if (column.on_update_current_timestamp)
    extra += std::string(extra.empty() ? "" : " ") + "on update CURRENT_TIMESTAMP";
  return extra;
}

Row column_row(const TableDef& table, size_t ordinal) {
  const ColumnDef& column = table.columns[ordinal];
  std::string type = ddl::column_type_text(column);
  bool has_characters =
      column.type == FieldType::VarChar || column.type == FieldType::String || is_blob(column.type);
  bool decimal = column.type == FieldType::NewDecimal;
  bool temporal = column.type == FieldType::DateTime2 || column.type == FieldType::Timestamp2 ||
                  column.type == FieldType::Time2;
  bool integer = column.type == FieldType::Tiny || column.type == FieldType::Short ||
                 column.type == FieldType::Int24 || column.type == FieldType::Long ||
                 column.type == FieldType::LongLong;
  auto default_text = ddl::column_default_text(column);
  uint32_t per_character =
      ddl::has_charset(column) ? charset_info(collation_or_binary(column.collation).charset).max_bytes : 1;
  bool blob = is_blob(column.type);
  return {text_value("def"),
          text_value(table.db),
          text_value(table.name),
          text_value(column.name),
          number_value(ordinal + 1),
          default_text ? text_value(*default_text) : Value::null(),
          text_value(column.nullable ? "YES" : "NO"),
          text_value(data_type(type)),
          has_characters ? number_value(column.length) : Value::null(),
          has_characters ? number_value(uint64_t{column.length} * (blob ? 1 : per_character)) : Value::null(),
          decimal   ? number_value(column.length)
          : integer ? number_value(column.type == FieldType::LongLong ? 19 : 10)
                    : Value::null(),
          decimal   ? number_value(column.decimals)
          : integer ? number_value(0)
                    : Value::null(),
          temporal ? number_value(column.decimals) : Value::null(),
          ddl::has_charset(column) ? text_value(charset_name(column.collation)) : Value::null(),
          ddl::has_charset(column) ? text_value(collation_name(column.collation)) : Value::null(),
          text_value(type),
          text_value(key_of_column(table, ordinal)),
          text_value(extra_of_column(column)),
          text_value("select,insert,update,references"),
          text_value(column.comment),
          text_value(""),
          Value::null()};
}

}  // namespace

std::vector<Row> columns_rows_of(const TableDef& table) {
  std::vector<Row> rows;
  for (size_t i = 0; i < table.columns.size(); ++i) rows.push_back(column_row(table, i));
  return rows;
}

namespace {

std::vector<Row> columns_rows(SessionState& session) {
  std::vector<Row> rows;
  for_each_table(session, [&](const TableDef& table) {
    for (Row& row : columns_rows_of(table)) rows.push_back(std::move(row));
  });
  return rows;
}

std::vector<Row> statistics_rows(SessionState& session) {
  std::vector<Row> rows;
  for_each_table(session, [&](const TableDef& table) {
    for (const auto& index : table.indexes) {
      for (size_t i = 0; i < index.columns.size(); ++i) {
        const auto& column = table.columns[index.columns[i].column];
        uint32_t prefix = index.columns[i].prefix_length;
        rows.push_back({text_value("def"), text_value(table.db), text_value(table.name),
                        number_value(index.unique ? 0 : 1), text_value(table.db), text_value(index.name),
                        number_value(i + 1), text_value(column.name),
                        text_value(index.columns[i].descending ? "D" : "A"), Value::null(),
                        prefix ? number_value(prefix) : Value::null(), Value::null(),
                        text_value(column.nullable ? "YES" : ""), text_value("BTREE"), text_value(""),
                        text_value(index.comment), text_value("YES"), Value::null()});
      }
    }
  });
  return rows;
}

std::vector<Row> key_column_usage_rows(SessionState& session) {
  std::vector<Row> rows;
  for_each_table(session, [&](const TableDef& table) {
    for (const auto& index : table.indexes) {
      if (!index.unique) continue;
      for (size_t i = 0; i < index.columns.size(); ++i) {
        rows.push_back({text_value("def"), text_value(table.db), text_value(index.name), text_value("def"),
                        text_value(table.db), text_value(table.name),
                        text_value(table.columns[index.columns[i].column].name), number_value(i + 1),
                        Value::null(), Value::null(), Value::null(), Value::null()});
      }
    }
  });
  return rows;
}

std::vector<Row> table_constraints_rows(SessionState& session) {
  std::vector<Row> rows;
  for_each_table(session, [&](const TableDef& table) {
    for (const auto& index : table.indexes) {
      if (!index.unique || index.columns.empty()) continue;
      rows.push_back({text_value("def"), text_value(table.db), text_value(index.name), text_value(table.db),
                      text_value(table.name), text_value(index.primary ? "PRIMARY KEY" : "UNIQUE"),
                      text_value("YES")});
    }
    for (const auto& check : table.checks) {
      rows.push_back({text_value("def"), text_value(table.db), text_value(check.name), text_value(table.db),
                      text_value(table.name), text_value("CHECK"),
                      text_value(check.enforced ? "YES" : "NO")});
    }
  });
  return rows;
}

std::vector<Row> check_constraints_rows(SessionState& session) {
  std::vector<Row> rows;
  for_each_table(session, [&](const TableDef& table) {
    for (const auto& check : table.checks) {
      rows.push_back({text_value("def"), text_value(table.db), text_value(check.name),
                      text_value("(" + check.expression + ")")});
    }
  });
  return rows;
}

}  // namespace

std::vector<VirtualTable> schema_tables() {
  return {
      {virtual_definition(kSchema, "SCHEMATA",
                          {text("CATALOG_NAME"), text("SCHEMA_NAME"), text("DEFAULT_CHARACTER_SET_NAME"),
                           text("DEFAULT_COLLATION_NAME"), text("SQL_PATH"), text("DEFAULT_ENCRYPTION", 3)}),
       schemata_rows},
      {virtual_definition(kSchema, "TABLES",
                          {text("TABLE_CATALOG"),
                           text("TABLE_SCHEMA"),
                           text("TABLE_NAME"),
                           text("TABLE_TYPE"),
                           text("ENGINE"),
                           number("VERSION"),
                           text("ROW_FORMAT"),
                           number("TABLE_ROWS"),
                           number("AVG_ROW_LENGTH"),
                           number("DATA_LENGTH"),
                           number("MAX_DATA_LENGTH"),
                           number("INDEX_LENGTH"),
                           number("DATA_FREE"),
                           number("AUTO_INCREMENT"),
                           datetime("CREATE_TIME"),
                           datetime("UPDATE_TIME"),
                           datetime("CHECK_TIME"),
                           text("TABLE_COLLATION"),
                           number("CHECKSUM"),
                           text("CREATE_OPTIONS", 256),
                           text("TABLE_COMMENT", 2048)}),
       tables_rows},
      {virtual_definition(kSchema, "COLUMNS",
                          {text("TABLE_CATALOG"),
                           text("TABLE_SCHEMA"),
                           text("TABLE_NAME"),
                           text("COLUMN_NAME"),
                           number("ORDINAL_POSITION"),
                           long_text("COLUMN_DEFAULT"),
                           text("IS_NULLABLE", 3),
                           text("DATA_TYPE"),
                           signed_number("CHARACTER_MAXIMUM_LENGTH"),
                           signed_number("CHARACTER_OCTET_LENGTH"),
                           number("NUMERIC_PRECISION"),
                           number("NUMERIC_SCALE"),
                           number("DATETIME_PRECISION"),
                           text("CHARACTER_SET_NAME"),
                           text("COLLATION_NAME"),
                           long_text("COLUMN_TYPE"),
                           text("COLUMN_KEY", 3),
                           text("EXTRA", 256),
                           text("PRIVILEGES", 154),
                           text("COLUMN_COMMENT", 1024),
                           long_text("GENERATION_EXPRESSION"),
                           number("SRS_ID")}),
       columns_rows},
      {virtual_definition(
           kSchema, "STATISTICS",
           {text("TABLE_CATALOG"), text("TABLE_SCHEMA"), text("TABLE_NAME"), signed_number("NON_UNIQUE"),
            text("INDEX_SCHEMA"), text("INDEX_NAME"), number("SEQ_IN_INDEX"), text("COLUMN_NAME"),
            text("COLLATION", 1), signed_number("CARDINALITY"), signed_number("SUB_PART"), text("PACKED"),
            text("NULLABLE", 3), text("INDEX_TYPE", 11), text("COMMENT", 8), text("INDEX_COMMENT", 2048),
            text("IS_VISIBLE", 3), long_text("EXPRESSION")}),
       statistics_rows},
      {virtual_definition(
           kSchema, "KEY_COLUMN_USAGE",
           {text("CONSTRAINT_CATALOG"), text("CONSTRAINT_SCHEMA"), text("CONSTRAINT_NAME"),
            text("TABLE_CATALOG"), text("TABLE_SCHEMA"), text("TABLE_NAME"), text("COLUMN_NAME"),
            number("ORDINAL_POSITION"), number("POSITION_IN_UNIQUE_CONSTRAINT"),
            text("REFERENCED_TABLE_SCHEMA"), text("REFERENCED_TABLE_NAME"), text("REFERENCED_COLUMN_NAME")}),
       key_column_usage_rows},
      {virtual_definition(
           kSchema, "TABLE_CONSTRAINTS",
           {text("CONSTRAINT_CATALOG"), text("CONSTRAINT_SCHEMA"), text("CONSTRAINT_NAME"),
            text("TABLE_SCHEMA"), text("TABLE_NAME"), text("CONSTRAINT_TYPE", 11), text("ENFORCED", 3)}),
       table_constraints_rows},
      {virtual_definition(kSchema, "CHECK_CONSTRAINTS",
                          {text("CONSTRAINT_CATALOG"), text("CONSTRAINT_SCHEMA"), text("CONSTRAINT_NAME"),
                           long_text("CHECK_CLAUSE")}),
       check_constraints_rows},
  };
}

}  // namespace commitd::sql
