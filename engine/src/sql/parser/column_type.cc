// Column definitions: type, attributes, defaults.
#include <algorithm>

#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/parser/grammar.h"

namespace commitd::sql {
namespace {

constexpr uint16_t kIllegalValueForType = 1367;  // ER_ILLEGAL_VALUE_FOR_TYPE

}  // namespace

void Grammar::type_length(ast::ColumnType& type) {
  if (!accept('(')) return;
  // What is too much must stay so; earlier versions, whose logs are read, took the lowest bits.
  const auto as_far_as = [this](uint64_t most, uint64_t number) {
    return executed_before_ ? number & most : std::min(number, most);
  };
  type.length = static_cast<uint32_t>(as_far_as(UINT32_MAX, unsigned_number()));
  if (accept(',')) type.decimals = static_cast<uint8_t>(as_far_as(UINT8_MAX, unsigned_number()));
  expect(')');
}

bool Grammar::charset_option(std::string_view& charset, std::string_view& collation) {
  if (accept(Word::Charset) || accept(Word::Character, Word::Set) || accept(Word::Char, Word::Set)) {
    accept('=');
    charset = string_or_identifier();
    return true;
  }
  if (accept(Word::Collate)) {
    accept('=');
    collation = string_or_identifier();
    return true;
  }
  return false;
}

void Grammar::type_attributes(ast::ColumnType& type) {
  for (;;) {
    const bool zerofill = accept(Word::ZeroFill);
    if (zerofill && !executed_before_) unsupported("ZEROFILL");
    if (zerofill || accept(Word::Unsigned))
      type.is_unsigned = true;
    else if (accept(Word::Signed))
      type.is_unsigned = false;
    else if (accept(Word::Binary))
      type.binary_attribute = true;
    else if (!charset_option(type.charset, type.collation))
      return;
  }
}

ast::ColumnType Grammar::column_type() {
  ast::ColumnType type;
  bool national = accept(Word::National);
  const Word word = peek().word;
  const std::string_view written = peek().text;
  advance();
  bool binary = false;
  switch (word) {
    case Word::TinyInt:
      type.type = FieldType::Tiny;
      break;
    case Word::SmallInt:
      type.type = FieldType::Short;
      break;
    case Word::MediumInt:
      type.type = FieldType::Int24;
      break;
    case Word::Int:
    case Word::Integer:
      type.type = FieldType::Long;
      break;
    case Word::BigInt:
      type.type = FieldType::LongLong;
      break;
    case Word::Bool:
    case Word::Boolean:
      type.type = FieldType::Tiny;
      type.length = 1;
      break;
    case Word::Bit:
      type.type = FieldType::Bit;
      break;
    case Word::Decimal:
    case Word::Numeric:
    case Word::Fixed:
      type.type = FieldType::NewDecimal;
      break;
    case Word::Float:
      type.type = FieldType::Float;
      break;
    case Word::Double:
      accept(Word::Precision);
      type.type = FieldType::Double;
      break;
    case Word::Real:
      type.type = options_.real_as_float ? FieldType::Float : FieldType::Double;
      break;
    case Word::Char:
    case Word::Character:
    case Word::NChar:
      type.type = accept_plain("varying") ? FieldType::VarChar : FieldType::String;
      break;
    case Word::VarChar:
      type.type = FieldType::VarChar;
      break;
    case Word::Binary:
      type.type = FieldType::String;
      binary = true;
      break;
    case Word::VarBinary:
      type.type = FieldType::VarChar;
      binary = true;
      break;
    case Word::TinyText:
      type.type = FieldType::TinyBlob;
      break;
    case Word::Text:
      type.type = FieldType::Blob;
      break;
    case Word::MediumText:
      type.type = FieldType::MediumBlob;
      break;
    case Word::LongText:
      type.type = FieldType::LongBlob;
      break;
    case Word::TinyBlob:
      type.type = FieldType::TinyBlob;
      binary = true;
      break;
    case Word::Blob:
      type.type = FieldType::Blob;
      binary = true;
      break;
    case Word::MediumBlob:
      type.type = FieldType::MediumBlob;
      binary = true;
      break;
    case Word::LongBlob:
      type.type = FieldType::LongBlob;
      binary = true;
      break;
    case Word::Date:
      type.type = FieldType::Date;
      break;
    case Word::Time:
      type.type = FieldType::Time2;
      break;
    case Word::DateTime:
      type.type = FieldType::DateTime2;
      break;
    case Word::Timestamp:
      type.type = FieldType::Timestamp2;
      break;
    case Word::Year:
      type.type = FieldType::Year;
      break;
    case Word::Json:
      type.type = FieldType::Json;
      break;
    case Word::Enum:
    case Word::Set: {
      type.type = word == Word::Enum ? FieldType::Enum : FieldType::Set;
      type.labels = arena_.make<ast::List<std::string_view>>(arena_.resource());
      expect('(');
      do {
        type.labels->push_back(string_literal());
        const std::string_view label = type.labels->back();
        if (word == Word::Set && label.find(',') != std::string_view::npos && !executed_before_)
          fail(make_error(kIllegalValueForType, "Illegal set '{}' value found during parsing", label));
      } while (accept(','));
      expect(')');
      break;
    }
    default:
      unsupported(written.empty() ? std::string_view("this column type") : written);
  }
  type_length(type);
  national |= word == Word::NChar;
  const bool of_characters = has_characters(type.type);
  if (national && !of_characters && !executed_before_) fail();
  if (national && of_characters) type.charset = "utf8mb3";
  if (binary) type.charset = "binary";
  type_attributes(type);
  return type;
}

void Grammar::current_timestamp_precision() {
  if (accept('(')) {
    if (!is(')')) unsigned_number();
    expect(')');
  }
}

bool Grammar::column_attribute(ast::ColumnSpec& column) {
  if (accept(Word::Not)) {
    expect(Word::Null);
    column.nullable = false;
  } else if (accept(Word::Null)) {
    column.nullable = true;
  } else if (accept(Word::Default)) {
    if (is('(')) unsupported("expressions as column defaults");
    if (accept(Word::CurrentTimestamp) || accept(Word::LocalTimestamp) || accept(Word::LocalTime) ||
        accept_plain("now")) {
      current_timestamp_precision();
      column.default_current_timestamp = true;
    } else {
      column.default_value = unary();
    }
  } else if (accept(Word::On)) {
    expect(Word::Update);
    if (!accept(Word::CurrentTimestamp) && !accept(Word::LocalTimestamp) && !accept(Word::LocalTime))
      expect_plain("now");
    current_timestamp_precision();
    column.on_update_current_timestamp = true;
  } else if (accept(Word::AutoIncrement)) {
    column.auto_increment = true;
  } else if (accept(Word::Unique)) {
    accept(Word::Key);
    column.unique = true;
  } else if (accept(Word::Primary)) {
    accept(Word::Key);
    column.primary = true;
  } else if (accept(Word::Key)) {
    column.primary = true;
  } else if (accept(Word::Comment)) {
    column.comment = string_literal();
  } else if (charset_option(column.type.charset, column.type.collation) || accept(Word::Visible)) {
    // The character set may also stand behind the other attributes; a column is visible anyhow.
  } else if (is(Word::References)) {
    unsupported("FOREIGN KEY");
  } else if (is(Word::Check) || is(Word::Constraint)) {
    column_check(column);
  } else if (accept_plain("generated") || is(Word::As)) {
    unsupported("generated columns");
  } else if (is(Word::Invisible)) {
    unsupported("INVISIBLE columns");
  } else if (is_plain(peek(), "column_format") || is(Word::Storage) || is_plain(peek(), "engine_attribute") ||
             is_plain(peek(), "srid")) {
    unsupported(peek().text);
  } else {
    return false;
  }
  return true;
}

void Grammar::column_definition(ast::ColumnSpec& column) {
  column.name = identifier();
  if (accept_plain("serial")) {
    column.type.type = FieldType::LongLong;
    column.type.is_unsigned = true;
    column.nullable = false;
    column.auto_increment = column.unique = true;
  } else {
    column.type = column_type();
  }
  while (column_attribute(column)) {
  }
}

}  // namespace commitd::sql
