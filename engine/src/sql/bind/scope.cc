#include "sql/bind/scope.h"

#include <algorithm>

#include "base/charset/collation.h"
#include "base/error_codes.h"

namespace commitd::sql {
namespace {

namespace flag {
constexpr uint16_t kNotNull = 1, kPrimaryKey = 2, kUniqueKey = 4, kMultipleKey = 8, kBlob = 16,
                   kUnsigned = 32, kZeroFill = 64, kBinary = 128, kEnum = 256, kAutoIncrement = 512,
                   kTimestamp = 1024, kSet = 2048;
}

uint16_t key_flags(const TableDef& table, size_t column) {
  uint16_t flags = 0;
  for (const IndexDef& index : table.indexes) {
    for (size_t i = 0; i < index.columns.size(); ++i) {
      if (index.columns[i].column != column) continue;
      if (index.primary)
        flags |= flag::kPrimaryKey;
      else if (i == 0)
        flags |= index.unique && index.columns.size() == 1 ? flag::kUniqueKey : flag::kMultipleKey;
    }
  }
  return flags;
}

uint16_t definition_flags(const ColumnDef& column) {
  uint16_t flags = 0;
  if (column.auto_increment) flags |= flag::kAutoIncrement;
  if (column.type == FieldType::Enum) flags |= flag::kEnum;
  if (column.type == FieldType::Set) flags |= flag::kSet;
  if (column.type == FieldType::Timestamp2) flags |= flag::kTimestamp;
  return flags;
}

// Numbers of a table are announced without BINARY, those of expressions with it.
bool is_number_column(const Expression& expression) {
  const auto* reference = dynamic_cast<const ColumnReference*>(&expression);
  const bool stored = reference != nullptr && reference->definition() != nullptr;
  const ValueType& type = expression.type();
  return stored &&
         ((type.is_integer() && type.type != FieldType::Bit) || type.type == FieldType::NewDecimal ||
          type.type == FieldType::Float || type.type == FieldType::Double);
}

// Lives as long as somebody asks for labels by it.
std::shared_ptr<const ColumnDef> kept_definition(const Source& source, size_t column) {
  const SourceColumn& from = source.columns[column];
  return from.kept ? from.kept : std::shared_ptr<const ColumnDef>(source.definition, from.definition);
}

}  // namespace

bool same_name(std::string_view left, std::string_view right) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(),
                                                   [&](char l, char r) { return lower(l) == lower(r); });
}

Source Source::of_table(TablePtr table, std::string_view alias) {
  Source source;
  source.db = table->db;
  source.table = table->name;
  source.alias = alias.empty() ? table->name : std::string(alias);
  for (const ColumnDef& column : table->columns)
    source.columns.push_back({column.name, type_of_column(column), &column});
  source.definition = std::move(table);
  return source;
}

// With a column of a table that is seen.
bool Scope::is_merged(const Source& source, std::string_view column) const {
  return std::any_of(source.merged.begin(), source.merged.end(), [&](const auto& merged) {
    return merged.second >= first && merged.second < behind_last && same_name(merged.first, column);
  });
}

bool Scope::matches(const Source& source, std::string_view db, std::string_view table) {
  return (table.empty() || source.alias == table ||
          (source.definition && source.rows && same_name(source.alias, table))) &&
         (db.empty() || source.db == db);
}

bool Scope::has_source(std::string_view db, std::string_view table) const {
  return std::any_of(sources.begin(), sources.end(),
                     [&](const Source& source) { return matches(source, db, table); });
}

Result<Scope::Address> Scope::find(std::string_view db, std::string_view table, std::string_view column,
                                   std::string_view clause) const {
  std::string written;
  for (const std::string_view part : {db, table}) {
    if (!part.empty()) written.append(part).append(1, '.');
  }
  written.append(column);
  std::optional<Address> found;
  for (size_t s = first; s < std::min(behind_last, sources.size()); ++s) {
    if (!matches(sources[s], db, table)) continue;
    for (size_t c = 0; c < sources[s].columns.size(); ++c) {
      if (!same_name(sources[s].columns[c].name, column) || (table.empty() && is_merged(sources[s], column)))
        continue;
      if (found) return make_error(er::kNonUniqColumn, "Column '{}' in {} is ambiguous", written, clause);
      found = Address{s, c};
      break;
    }
  }
  if (!found) return make_error(er::kBadField, "Unknown column '{}' in '{}'", written, clause);
  return *found;
}

uint32_t more_than_digits(const ValueType& type) {
  if (type.type == FieldType::NewDecimal) return (type.decimals > 0 ? 1u : 0u) + (type.is_unsigned ? 0u : 1u);
  const bool fraction =
      type.is_temporal() && type.type != FieldType::Date && type.decimals > 0 && type.decimals <= 6;
  return fraction ? type.decimals + 1u : 0u;
}

ResultColumn describe_column(const Expression& expression, const Scope& scope, std::string name) {
  const ValueType& type = expression.type();
  ResultColumn column;
  column.name = std::move(name);
  column.type = type.type;
  column.decimals = type.decimals;
  const bool json = type.type == FieldType::Json;  // announced as bytes, as MySQL does
  const bool text = !json && type.is_string() && type.collation != kBinaryCollation;
  column.collation = text ? uint16_t{45} : kBinaryCollation;
  column.length = text ? static_cast<uint32_t>(std::min<uint64_t>(uint64_t{type.length} * 4, UINT32_MAX))
                       : type.length + more_than_digits(type);
  if (json) column.length = UINT32_MAX;
  column.value_collation = type.collation;
  column.collation_strength = static_cast<uint8_t>(type.strength);
  if (!type.nullable) column.flags |= flag::kNotNull;
  if (type.is_unsigned) column.flags |= flag::kUnsigned;
  if (!text && !is_number_column(expression)) column.flags |= flag::kBinary;
  if (type.is_blob() || json) column.flags |= flag::kBlob;
  if (type.type == FieldType::Year) column.flags |= flag::kUnsigned | flag::kZeroFill;
  if (const auto* reference = dynamic_cast<const ColumnReference*>(&expression)) {
    const Source& source = scope.sources[reference->source()];
    column.db = source.db;
    column.table = source.alias;
    column.original_table = source.table;
    column.original_name = source.columns[reference->column()].name;
    if (const ColumnDef* definition = reference->definition()) {
      column.flags |= definition_flags(*definition);
      if (has_labels(definition->type)) column.labels = kept_definition(source, reference->column());
    }
    if (source.definition && !source.rows) column.flags |= key_flags(*source.definition, reference->column());
  }
  return column;
}

}  // namespace commitd::sql
