// Definitions as SQL text: SHOW CREATE TABLE, and the pieces of it that SHOW COLUMNS and information_schema
// print.
#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "sql/ddl/ddl.h"

namespace commitd::sql::ddl {
namespace {

std::string quoted_name(std::string_view name) {
  std::string out = "`";
  for (char c : name) out += c == '`' ? "``" : std::string(1, c);
  return out + "`";
}

std::string quoted_text(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    switch (c) {
      case '\'':
        out += "''";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\0':
        out += "\\0";
        break;
      default:
        out += c;
    }
  }
  return out + "'";
}

std::string labels_text(const ColumnDef& column) {
  std::string out;
  for (const auto& label : column.labels) out += (out.empty() ? "" : ",") + quoted_text(label);
  return "(" + out + ")";
}

std::string fraction(const ColumnDef& column) {
  return column.decimals ? fmt::format("({})", column.decimals) : "";
}

bool is_binary(const ColumnDef& column) {
  return column.collation == kBinaryCollation;
}

std::string integer_text(std::string_view name, const ColumnDef& column) {
  // Display widths went out with MySQL 8.0.19, but for TINYINT(1), which says "Boolean".
  std::string out(name);
  if (column.type == FieldType::Tiny && column.length == 1) out += "(1)";
  return column.is_unsigned ? out + " unsigned" : out;
}

std::string real_text(std::string_view name, const ColumnDef& column) {
  std::string out(name);
  if (has_fixed_decimals(column)) out += fmt::format("({},{})", column.length, column.decimals);
  return column.is_unsigned ? out + " unsigned" : out;
}

std::string hexadecimal(std::string_view bytes) {
  std::string out = "0x";
  for (const unsigned char byte : bytes) out += fmt::format("{:02X}", byte);
  return out;
}

std::string bits(uint64_t value) {
  return fmt::format("b'{:b}'", value);
}

// Bytes that are no text anywhere are written as a number, bits always.
bool is_number_default(const ColumnDef& column) {
  if (column.type == FieldType::Bit) return true;
  if (!is_binary(column)) return false;
  const std::string bytes = column.default_value->to_text();
  return valid_utf8_prefix(bytes) != bytes.size();
}

std::string default_literal(const ColumnDef& column) {
  if (column.default_value->is_null()) return "NULL";
  const std::string text = *column_default_text(column);
  return is_number_default(column) ? text : quoted_text(text);
}

// Where a value is required, the absence of a default is none.
bool has_default(const ColumnDef& column) {
  return column.default_value && !is_blob(column.type) &&
         (column.nullable || !column.default_value->is_null());
}

std::string column_text(const ColumnDef& column, uint16_t table_collation) {
  std::string out = quoted_name(column.name) + " " + column_type_text(column);
  if (has_charset(column) && column.collation != table_collation) {
    const auto& collation = collation_or_binary(column.collation);
    out += fmt::format(" CHARACTER SET {} COLLATE {}", charset_info(collation.charset).name, collation.name);
  }
  bool timestamp = column.type == FieldType::Timestamp2;
  if (!column.nullable)
    out += " NOT NULL";
  else if (timestamp)
    out += " NULL";
  if (column.auto_increment) out += " AUTO_INCREMENT";
  if (column.default_current_timestamp)
    out += " DEFAULT CURRENT_TIMESTAMP" + fraction(column);
  else if (has_default(column))
    out += " DEFAULT " + default_literal(column);
  if (column.on_update_current_timestamp) out += " ON UPDATE CURRENT_TIMESTAMP" + fraction(column);
  if (!column.comment.empty()) out += " COMMENT " + quoted_text(column.comment);
  return out;
}

std::string index_text(const TableDef& table, const IndexDef& index) {
  std::string parts;
  for (const auto& part : index.columns) {
    if (!parts.empty()) parts += ",";
    parts += quoted_name(table.columns[part.column].name);
    if (part.prefix_length) parts += fmt::format("({})", part.prefix_length);
    if (part.descending) parts += " DESC";
  }
  std::string out = index.primary ? "PRIMARY KEY (" + parts + ")"
                                  : fmt::format("{}KEY {} ({})", index.unique ? "UNIQUE " : "",
                                                quoted_name(index.name), parts);
  if (!index.comment.empty()) out += " COMMENT " + quoted_text(index.comment);
  return out;
}

}  // namespace

bool has_charset(const ColumnDef& column) {
  return has_characters(column.type) && !is_binary(column);
}

std::string column_type_text(const ColumnDef& column) {
  bool binary = is_binary(column);
  switch (column.type) {
    case FieldType::Tiny:
      return integer_text("tinyint", column);
    case FieldType::Short:
      return integer_text("smallint", column);
    case FieldType::Int24:
      return integer_text("mediumint", column);
    case FieldType::Long:
      return integer_text("int", column);
    case FieldType::LongLong:
      return integer_text("bigint", column);
    case FieldType::Float:
      return real_text("float", column);
    case FieldType::Double:
      return real_text("double", column);
    case FieldType::NewDecimal:
      return fmt::format("decimal({},{}){}", column.length, column.decimals,
                         column.is_unsigned ? " unsigned" : "");
    case FieldType::VarChar:
      return fmt::format("{}({})", binary ? "varbinary" : "varchar", column.length);
    case FieldType::String:
      return fmt::format("{}({})", binary ? "binary" : "char", column.length);
    case FieldType::TinyBlob:
      return binary ? "tinyblob" : "tinytext";
    case FieldType::Blob:
      return binary ? "blob" : "text";
    case FieldType::MediumBlob:
      return binary ? "mediumblob" : "mediumtext";
    case FieldType::LongBlob:
      return binary ? "longblob" : "longtext";
    case FieldType::Date:
      return "date";
    case FieldType::Time2:
      return "time" + fraction(column);
    case FieldType::DateTime2:
      return "datetime" + fraction(column);
    case FieldType::Timestamp2:
      return "timestamp" + fraction(column);
    case FieldType::Year:
      return "year";
    case FieldType::Enum:
      return "enum" + labels_text(column);
    case FieldType::Set:
      return "set" + labels_text(column);
    case FieldType::Bit:
      return fmt::format("bit({})", column.length);
    case FieldType::Json:
      return "json";
    default:
      return "unknown";
  }
}

std::optional<std::string> column_default_text(const ColumnDef& column) {
  if (column.default_current_timestamp) return "CURRENT_TIMESTAMP" + fraction(column);
  if (!column.default_value || column.default_value->is_null()) return std::nullopt;
  if (column.type == FieldType::Bit) return bits(column.default_value->as_uint());
  const std::string text = column.default_value->to_text();
  return is_number_default(column) ? hexadecimal(text) : text;
}

std::string show_create_table(const TableDef& table, uint64_t next_auto_increment) {
  std::string out = "CREATE TABLE " + quoted_name(table.name) + " (\n";
  std::string separator = "  ";
  for (const auto& column : table.columns) {
    out += separator + column_text(column, table.default_collation);
    separator = ",\n  ";
  }
  for (const auto& index : table.indexes) {
    if (!index.columns.empty()) out += separator + index_text(table, index);
  }
  for (const auto& check : table.checks) {
    out += fmt::format("{}CONSTRAINT {} CHECK ({}){}", separator, quoted_name(check.name), check.expression,
                       check.enforced ? "" : " /*!80016 NOT ENFORCED */");
  }
  const auto& collation = collation_or_binary(table.default_collation);
  out += fmt::format("\n) ENGINE={}", table.engine);
  if (next_auto_increment > 1) out += fmt::format(" AUTO_INCREMENT={}", next_auto_increment);
  out += fmt::format(" DEFAULT CHARSET={}", charset_info(collation.charset).name);
  if (collation.name != charset_info(collation.charset).default_collation)
    out += fmt::format(" COLLATE={}", collation.name);
  if (!table.comment.empty()) out += " COMMENT=" + quoted_text(table.comment);
  if (!table.connection.empty()) out += " CONNECTION=" + quoted_text(table.connection);
  return out;
}

}  // namespace commitd::sql::ddl
