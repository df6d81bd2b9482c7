// Syntax trees of expressions: what was written, before names are resolved. Everything lies in the
// statement's arena.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "base/value.h"

namespace commitd::sql::ast {

template <class T>
using List = std::pmr::vector<T>;

struct SelectStatement;
struct OrderItem;

enum class Op : uint8_t {
  None,
  Or,
  Xor,
  And,
  Not,
  Equal,
  NullSafeEqual,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  BitOr,
  BitAnd,
  BitXor,
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  IntDivide,
  Modulo,
  Negate,
  BitInvert,
  IsTrue,
  IsFalse,
  Concat,  // || under PIPES_AS_CONCAT
};

enum class CastType : uint8_t {
  None,
  Signed,
  Unsigned,
  Char,
  Binary,
  Decimal,
  Double,
  Float,
  Date,
  Time,
  DateTime,
  Year,
  Json
};

enum class ExprKind : uint8_t {
  Null,
  Boolean,
  Integer,
  Decimal,
  Float,
  String,
  Hex,
  Bits,
  Parameter,  // literals; `text` as written (String: its bytes)
  Column,     // [db.][table.]name
  Star,       // [db.][table.]*, COUNT(*)
  Default,    // DEFAULT in VALUES and SET; DEFAULT(column)
  UserVariable,
  SystemVariable,
  AssignVariable,
  Unary,
  Binary,
  IsNull,
  Like,
  Regexp,
  Between,
  In,
  InSelect,
  AnyOf,  // x op ANY (SELECT …); `op` compares
  AllOf,
  Exists,
  Subquery,
  Case,
  Function,
  Cast,
  Interval,
  Row,
  Collate,
};

enum class VariableScope : uint8_t { Unspecified, Session, Global, Persist, PersistOnly };

struct Expr {
  explicit Expr(ExprKind kind_of, std::pmr::memory_resource* memory) : kind(kind_of), arguments(memory) {}

  ExprKind kind;
  Op op = Op::None;
  bool negated = false;      // NOT LIKE, NOT IN, IS NOT NULL …
  bool distinct = false;     // COUNT(DISTINCT …)
  bool has_else = false;     // CASE: the last argument is the ELSE branch
  bool has_operand = false;  // CASE x WHEN …: the first argument is x
  VariableScope scope = VariableScope::Unspecified;
  CastType cast = CastType::None;
  uint32_t cast_length = 0;
  uint8_t cast_decimals = 0;
  bool cast_has_length = false;
  bool typed_literal = false;  // DATE '2020-01-01' and its like, which is written as a cast
  bool or_text = false;        // {d 'text'}: a text, where it is no date
  uint16_t height = 0;         // of the tree below: what walks it recurses so deep
  uint32_t parameter = 0;      // ordinal of the placeholder
  std::string_view
      text;  // literal, column, variable, function (upper case), interval unit, collation or character set
  std::string_view table, db;
  std::string_view source;  // as written in the statement: the heading of a result column
  List<Expr*> arguments;
  SelectStatement* select = nullptr;
  List<OrderItem>* order = nullptr;  // GROUP_CONCAT
  std::string_view separator = ",";
};

struct OrderItem {
  Expr* expression = nullptr;
  bool descending = false;
};

}  // namespace commitd::sql::ast
