// Bound expressions: names resolved, types known, ready to be evaluated for row after row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "storage/record/table_def.h"

namespace commitd::sql {

struct SessionState;

// What is known about a value before it is computed: for column metadata and for choosing the arithmetic.
struct ValueType {
  FieldType type = FieldType::VarString;
  uint16_t collation = 63;
  uint32_t length = 0;  // characters (strings) or digits
  uint8_t decimals = 0;
  bool is_unsigned = false;
  bool nullable = true;
  // Whose collation a comparison takes: that of a COLLATE clause before that of a column before that of
  // anything else.
  enum class Strength : uint8_t { Weak, Column, Explicit } strength = Strength::Weak;
  bool is_boolean = false;  // TRUE, FALSE or the result of a predicate: an integer, but true or false as JSON

  static ValueType integer(uint32_t digits = 21, bool is_unsigned = false) {
    return {FieldType::LongLong, 63, digits, 0, is_unsigned, true, Strength::Weak};
  }
  static ValueType real() { return {FieldType::Double, 63, 23, 31, false, true, Strength::Weak}; }
  static ValueType decimal(uint32_t precision, uint8_t scale) {
    return {FieldType::NewDecimal, 63, precision, scale, false, true, Strength::Weak};
  }
  static ValueType text(uint32_t length, uint16_t collation = 45) {
    return {FieldType::VarString, collation, length, 0, false, true, Strength::Weak};
  }
  static ValueType boolean() {
    ValueType type = integer(1);
    type.is_boolean = true;
    return type;
  }
  static ValueType json();
  static ValueType datetime(uint8_t decimals = 0) {
    return {FieldType::DateTime, 63, 19, decimals, false, true, Strength::Weak};
  }

  bool is_string() const {
    return type == FieldType::VarString || type == FieldType::VarChar || type == FieldType::String ||
           is_blob() || has_labels(type) || type == FieldType::Json;
  }
  bool is_blob() const { return commitd::is_blob(type); }
  bool is_integer() const {
    return type == FieldType::Tiny || type == FieldType::Short || type == FieldType::Int24 ||
           type == FieldType::Long || type == FieldType::LongLong || type == FieldType::Year ||
           type == FieldType::Bit;
  }
  bool is_temporal() const {
    return type == FieldType::Date || type == FieldType::DateTime || type == FieldType::DateTime2 ||
           type == FieldType::Timestamp || type == FieldType::Timestamp2 || type == FieldType::Time ||
           type == FieldType::Time2;
  }
};
ValueType type_of_column(const ColumnDef& column);
ValueType type_of_value(const Value& value);

// Where an expression finds its inputs while it is evaluated. The first error ends the statement; evaluation
// itself goes on with NULL.
class Evaluation {
 public:
  // `strict`: a value that has to be cut or is undefined is an error, no warning.
  explicit Evaluation(SessionState& session, bool strict = false) : session_(session), strict_(strict) {}

  SessionState& session() { return session_; }
  // rows[source][column]; a null pointer is the row of NULLs of an outer join.
  std::vector<const Value*> rows;
  const Value* aggregates = nullptr;  // results of the group's aggregate functions
  uint16_t collation = 45;            // of the texts given to the function that is called
  Evaluation* outer = nullptr;        // of the statement around a subquery
  const Value* inserted = nullptr;    // the row that was to be inserted: VALUES(column)

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  void warn(Error error);  // fails where it is strict
  bool failed() const { return error_.has_value(); }
  Status status() const { return error_ ? Status(*error_) : Status(); }

 private:
  SessionState& session_;
  bool strict_;
  std::optional<Error> error_;
};

class Expression {
 public:
  virtual ~Expression() = default;
  // The result lies in `scratch` or where it was found; valid until the inputs or `scratch` change.
  virtual const Value& evaluate(Evaluation& evaluation, Value& scratch) const = 0;
  // Its value is the same for all rows of a statement.
  virtual bool is_constant() const { return false; }
  // The ENUM or SET column whose label it is: a number, too. nullptr: it is none.
  virtual const ColumnDef* labels() const { return nullptr; }
  // A second one; nullptr where there can be only one.
  virtual std::unique_ptr<Expression> copy() const { return nullptr; }
  const ValueType& type() const { return type_; }

  // Sources (bits) whose columns it reads.
  uint64_t sources = 0;
  bool has_aggregate = false;

 protected:
  ValueType type_;
};
using ExpressionPtr = std::unique_ptr<Expression>;
using Expressions = std::vector<ExpressionPtr>;

class Constant : public Expression {
 public:
  explicit Constant(Value value) : value_(std::move(value)) { type_ = type_of_value(value_); }
  Constant(Value value, ValueType type) : value_(std::move(value)) { type_ = type; }
  const Value& evaluate(Evaluation&, Value&) const override { return value_; }
  bool is_constant() const override { return true; }
  ExpressionPtr copy() const override { return std::make_unique<Constant>(*this); }
  const Value& value() const { return value_; }

 private:
  Value value_;
};

class ColumnReference : public Expression {
 public:
  ColumnReference(size_t source, size_t column, ValueType type, const ColumnDef* definition)
      : source_(source), column_(column), definition_(definition) {
    type_ = type;
    sources = uint64_t{1} << source;
  }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    const Value* row = evaluation.rows[source_];
    if (row != nullptr) return row[column_];
    scratch = Value::null();
    return scratch;
  }
  const ColumnDef* labels() const override {
    return definition_ != nullptr && has_labels(definition_->type) ? definition_ : nullptr;
  }
  ExpressionPtr copy() const override { return std::make_unique<ColumnReference>(*this); }
  size_t source() const { return source_; }
  size_t column() const { return column_; }
  const ColumnDef* definition() const { return definition_; }  // nullptr: of a derived or virtual table

 private:
  size_t source_, column_;
  const ColumnDef* definition_;
};

}  // namespace commitd::sql
