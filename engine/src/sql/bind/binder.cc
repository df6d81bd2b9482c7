#include "sql/bind/binder.h"

#include <algorithm>
#include <utility>

#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "base/temporal.h"
#include "sql/expression/bit_text.h"
#include "sql/expression/byte_literal.h"
#include "sql/expression/charset_conversion.h"
#include "sql/expression/collations.h"
#include "sql/expression/conversion.h"
#include "sql/expression/literal.h"
#include "sql/expression/operators.h"
#include "sql/expression/typed_literal.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

using ast::ExprKind;
using ast::Op;

// Texts that stand in a statement go by the connection's collation.
ValueType literal_type(const Value& value, uint16_t connection_collation) {
  ValueType type = type_of_value(value);
  if (value.kind() == Value::Kind::String && !value.is_binary()) type.collation = connection_collation;
  return type;
}

Error unknown_charset(std::string_view name) {
  return make_error(er::kUnknownCharacterSet, "Unknown character set: '{}'", name);
}

// Its value is that of the present execution. Of its type only that counts which the values of all executions
// have in common (executor/cached_select.h).
class ParameterReference : public Expression {
 public:
  ParameterReference(const Value& value, uint16_t collation) : value_(value) {
    type_ = literal_type(value, collation);
  }
  const Value& evaluate(Evaluation&, Value&) const override { return value_; }
  bool is_constant() const override { return true; }

 private:
  const Value& value_;
};

}  // namespace

std::optional<Value> literal_value(const ast::Expr& tree, std::span<const Value> parameters) {
  if (tree.kind == ExprKind::Parameter)
    return tree.parameter < parameters.size() ? parameters[tree.parameter] : Value::null();
  return literal_value(tree);
}

Result<ExpressionPtr> Binder::bind(const ast::Expr& tree, std::string_view clause) {
  clause_ = clause;
  root_ = &tree;
  error_.reset();
  ExpressionPtr bound = node(tree);
  if (error_) return *std::move(error_);
  const bool is_condition = clause == "where clause" || clause == "on clause" || clause == "having clause";
  return is_condition ? number_behind_text(std::move(bound)) : std::move(bound);
}

ExpressionPtr Binder::fail(Error error) {
  if (!error_) error_ = std::move(error);
  return null();
}

Expressions Binder::nodes(const ast::List<ast::Expr*>& trees) {
  Expressions result;
  for (const ast::Expr* tree : trees) result.push_back(node(*tree));
  return result;
}

void Binder::check_collations(const Expressions& operands, std::string_view operation) {
  std::vector<const Expression*> compared;
  for (const ExpressionPtr& operand : operands) compared.push_back(operand.get());
  if (auto mixed = illegal_mix(compared, operation)) fail(*std::move(mixed));
}

ExpressionPtr Binder::comparison(Op op, ExpressionPtr left, ExpressionPtr right) {
  static constexpr std::string_view kNames[] = {"=", "<=>", "<>", "<", "<=", ">", ">="};
  const Expression* both[] = {left.get(), right.get()};
  const bool texts = left->type().is_string() && right->type().is_string();
  if (texts) {
    if (auto mixed = illegal_mix(both, kNames[static_cast<size_t>(op) - static_cast<size_t>(Op::Equal)]))
      return fail(*std::move(mixed));
  }
  return make_comparison(op, std::move(left), std::move(right));
}

// A date that must not be NULL may be the zero date, which IS NULL finds in WHERE: as NULL was said by ODBC.
ExpressionPtr Binder::null_test(const ast::Expr& tree) {
  ExpressionPtr operand = node(*tree.arguments[0]);
  const auto* column = dynamic_cast<const ColumnReference*>(operand.get());
  const ColumnDef* definition = column == nullptr ? nullptr : column->definition();
  // An outer join makes NULLs of a table's columns, whatever their definition says; those of a derived table
  // have none.
  const bool nullable = definition == nullptr ? operand->type().nullable : definition->nullable;
  const FieldType type = operand->type().type;
  const bool zero_too = !tree.negated && clause_ == "where clause" && column != nullptr && !nullable &&
                        (type == FieldType::Date || type == FieldType::DateTime);
  if (!zero_too) return make_is_null(std::move(operand), tree.negated);
  ExpressionPtr is_zero =
      make_comparison(Op::Equal, operand->copy(), std::make_unique<Constant>(Value::temporal(Temporal())));
  return make_logic(Op::Or, std::move(is_zero), make_is_null(std::move(operand), false));
}

ExpressionPtr Binder::node(const ast::Expr& tree) {
  switch (tree.kind) {
    case ExprKind::Column:
      return column(tree);
    case ExprKind::UserVariable:
    case ExprKind::SystemVariable:
    case ExprKind::AssignVariable:
      return variable(tree);
    case ExprKind::Unary:
      return unary(tree);
    case ExprKind::Binary:
      return binary(tree);
    case ExprKind::IsNull:
      return null_test(tree);
    case ExprKind::Like: {
      std::string_view separator = tree.separator;
      const char32_t escape = separator.empty() ? U'\0' : take_character(separator);
      Expressions both = nodes(tree.arguments);
      check_collations(both, "like");
      return make_like(std::move(both[0]), std::move(both[1]), escape, tree.negated);
    }
    case ExprKind::Regexp: {
      Expressions both = nodes(tree.arguments);
      check_collations(both, "regexp_like");
      return make_regexp(std::move(both[0]), std::move(both[1]), tree.negated);
    }
    case ExprKind::Between: {
      Expressions all = nodes(tree.arguments);
      check_collations(all, "between");
      return make_between(std::move(all[0]), std::move(all[1]), std::move(all[2]), tree.negated);
    }
    case ExprKind::In:
      return in_list(tree);
    case ExprKind::InSelect:
    case ExprKind::AnyOf:
    case ExprKind::AllOf:
    case ExprKind::Exists:
    case ExprKind::Subquery:
      return subquery(tree);
    case ExprKind::Case:
      return case_of(tree);
    case ExprKind::Function:
      return function(tree);
    case ExprKind::Cast:
      return tree.typed_literal ? typed_literal(tree) : cast(tree);
    case ExprKind::Collate: {
      const Collation* collation = find_collation(tree.text);
      if (collation == nullptr)
        return fail(make_error(er::kUnknownCollation, "Unknown collation: '{}'", tree.text));
      ExpressionPtr operand = node(*tree.arguments[0]);
      const bool bytes = operand->type().is_string() && operand->type().collation == kBinaryCollation;
      if (bytes && collation->id != kBinaryCollation) {
        return fail(make_error(er::kCollationCharsetMismatch,
                               "COLLATION '{}' is not valid for CHARACTER SET 'binary'", tree.text));
      }
      return make_collate(std::move(operand), collation->id);
    }
    case ExprKind::Row:
      return fail(make_error(er::kOperandColumns, "Operand should contain 1 column(s)"));
    case ExprKind::Interval:
    case ExprKind::Star:
    case ExprKind::Default:
      return fail(make_error(er::kParse, "You have an error in your SQL syntax; '{}' is not allowed here",
                             tree.source));
    default:
      return literal(tree);
  }
}

ExpressionPtr Binder::literal(const ast::Expr& tree) {
  const uint16_t collation = session_.settings.connection_collation;
  if (parameters_stay && tree.kind == ExprKind::Parameter && tree.parameter < parameters_.size())
    return std::make_unique<ParameterReference>(parameters_[tree.parameter], collation);
  std::optional<Value> value = literal_value(tree, parameters_);
  if (tree.kind == ExprKind::Boolean && value)
    return std::make_unique<Constant>(*std::move(value), ValueType::boolean());
  if (value && is_byte_literal(tree)) return std::make_unique<ByteLiteral>(*std::move(value));
  if (!value) return null();
  ValueType type = literal_type(*value, collation);
  return std::make_unique<Constant>(*std::move(value), type);
}

ExpressionPtr Binder::cast(const ast::Expr& tree) {
  ExpressionPtr operand = node(*tree.arguments[0]);
  if (tree.cast != ast::CastType::Char || tree.text.empty()) return make_cast(std::move(operand), tree);
  const CharsetInfo* charset = find_charset(tree.text);
  if (charset == nullptr) return fail(unknown_charset(tree.text));
  if (!tree.cast_has_length) return make_charset_conversion(text_of_bits(std::move(operand)), *charset);
  return make_charset_conversion(make_cast(std::move(operand), tree), *charset);
}

// _latin1 'text'
ExpressionPtr Binder::introduced(const ast::Expr& tree) {
  const CharsetInfo* charset = find_charset(tree.text);
  if (charset == nullptr) return fail(unknown_charset(tree.text));
  const std::string bytes = literal_value(*tree.arguments[0])->as_string();
  auto text = text_of_bytes(bytes, charset->charset);
  if (!text) return fail(invalid_characters(bytes, *charset));
  ValueType type = type_of_value(Value::string(*text));
  type.collation = find_collation(charset->default_collation)->id;
  return std::make_unique<Constant>(Value::string(*std::move(text), charset->charset == Charset::Binary),
                                    type);
}

// DATE '2020-02-30' is a mistake (1525), not NULL.
ExpressionPtr Binder::typed_literal(const ast::Expr& tree) {
  if (tree.cast == ast::CastType::Char || tree.cast == ast::CastType::Binary) return introduced(tree);
  const std::string_view text = tree.arguments[0]->text;
  auto value = literal_of_type(tree.cast, text, session_.settings.sql_mode);
  if (!value) {
    if (tree.or_text) return node(*tree.arguments[0]);
    const std::string_view name = tree.cast == ast::CastType::Date   ? "DATE"
                                  : tree.cast == ast::CastType::Time ? "TIME"
                                                                     : "DATETIME";
    return fail(make_error(er::kWrongValue, "Incorrect {} value: '{}'", name, text));
  }
  return std::make_unique<Constant>(*std::move(value));
}

ExpressionPtr Binder::unary(const ast::Expr& tree) {
  const ast::Expr& operand = *tree.arguments[0];
  switch (tree.op) {
    case Op::Not:
      return make_not(node(operand));
    case Op::IsTrue:
    case Op::IsFalse:
      return make_truth_test(node(operand), tree.op == Op::IsTrue, tree.negated);
    case Op::BitInvert:
      return make_bit_operation(Op::BitInvert, node(operand), nullptr);
    default:
      break;
  }
  // A negative number is a literal, so that comparisons with it can use an index.
  if (auto value = literal_value(tree)) return std::make_unique<Constant>(*std::move(value));
  return make_negation(node(operand));
}

ExpressionPtr Binder::binary(const ast::Expr& tree) {
  const ast::Expr& left = *tree.arguments[0];
  const ast::Expr& right = *tree.arguments[1];
  const bool compares = tree.op >= Op::Equal && tree.op <= Op::GreaterEqual;
  if (compares && (is_row(left) || is_row(right))) return row_comparison(tree.op, left, right);
  switch (tree.op) {
    case Op::Concat: {
      Expressions parts;
      parts.push_back(node(left));
      parts.push_back(node(right));
      return make_function(*find_function("CONCAT"), std::move(parts));
    }
    case Op::Or:
    case Op::And:
    case Op::Xor:
      return make_logic(tree.op, node(left), node(right));
    case Op::Equal:
    case Op::NullSafeEqual:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual:
    case Op::Greater:
    case Op::GreaterEqual:
      return comparison(tree.op, node(left), node(right));
    case Op::BitOr:
    case Op::BitAnd:
    case Op::BitXor:
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return make_bit_operation(tree.op, node(left), node(right));
    case Op::Add:
    case Op::Subtract:
      if (left.kind == ExprKind::Interval || right.kind == ExprKind::Interval) return date_arithmetic(tree);
      break;
    default:
      break;
  }
  return make_arithmetic(tree.op, node(left), node(right), std::string(tree.source));
}

ExpressionPtr Binder::date_arithmetic(const ast::Expr& tree) {
  const bool interval_first = tree.arguments[0]->kind == ExprKind::Interval;
  const ast::Expr& interval = *tree.arguments[interval_first ? 0 : 1];
  Expressions arguments;
  arguments.push_back(node(*tree.arguments[interval_first ? 1 : 0]));
  arguments.push_back(node(*interval.arguments[0]));
  arguments.push_back(std::make_unique<Constant>(Value::string(std::string(interval.text))));
  return make_function(*find_function(tree.op == Op::Subtract ? "DATE_SUB" : "DATE_ADD"),
                       std::move(arguments));
}

ExpressionPtr Binder::in_list(const ast::Expr& tree) {
  const ast::Expr& operand = *tree.arguments[0];
  if (is_row(operand)) {
    ExpressionPtr any;
    for (size_t i = 1; i < tree.arguments.size(); ++i) {
      ExpressionPtr equal = row_comparison(Op::Equal, operand, *tree.arguments[i]);
      any = any ? make_logic(Op::Or, std::move(any), std::move(equal)) : std::move(equal);
    }
    return tree.negated ? make_not(std::move(any)) : std::move(any);
  }
  Expressions list = nodes(tree.arguments);
  check_collations(list, " IN ");
  ExpressionPtr first = std::move(list.front());
  list.erase(list.begin());
  return make_in(std::move(first), std::move(list), tree.negated);
}

ExpressionPtr Binder::case_of(const ast::Expr& tree) {
  Expressions branches = nodes(tree.arguments);
  ExpressionPtr operand;
  if (tree.has_operand) {
    std::vector<const Expression*> compared{branches.front().get()};
    for (size_t i = 1; i + 1 < branches.size(); i += 2) compared.push_back(branches[i].get());
    if (auto mixed = illegal_mix(compared, "case")) return fail(*std::move(mixed));
    operand = std::move(branches.front());
    branches.erase(branches.begin());
  }
  return make_case(std::move(operand), std::move(branches), tree.has_else);
}

}  // namespace commitd::sql
