#include "sql/executor/set.h"

#include <algorithm>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "sql/executor/precompute.h"
#include "sql/expression/conversion.h"

namespace commitd::sql {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

Status assign_text(SessionState& session, size_t ordinal, std::string_view text) {
  return session.variables.set(ordinal, Value::string(std::string(text)));
}

Task<Result<Value>> evaluate(StatementContext& context, const ast::Expr& tree) {
  COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, &tree, true));
  const Scope nothing;
  Binder binder = context.binder(nothing);
  auto bound = binder.bind(tree, "field list");
  if (!bound.ok()) co_return std::move(bound).error();
  Evaluation evaluation(context.session);
  Value scratch;
  Value value = (*bound)->evaluate(evaluation, scratch);
  COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
  co_return value;
}

// Values that need more than the registry's check.
Status check_special(SessionState& session, size_t ordinal, const Value& value) {
  switch (ordinal) {
    case kTimeZone:
      if (value.kind() == Value::Kind::String && parse_time_zone(value.as_string())) return {};
      return make_error(1298, "Unknown or incorrect time zone: '{}'", value.to_text());
    case kCharacterSetClient:
    case kCharacterSetConnection:
    case kCharacterSetResults:
      if (value.is_null() || find_charset(to_text(value)) != nullptr) return {};
      return make_error(er::kUnknownCharacterSet, "Unknown character set: '{}'", value.to_text());
    case kCollationConnection:
      if (find_collation(to_text(value)) != nullptr) return {};
      return make_error(er::kUnknownCollation, "Unknown collation: '{}'", value.to_text());
    case kGtidNext:
      if (same_name(to_text(value), "AUTOMATIC")) return {};
      return make_error(
          er::kNotSupportedYet,
          "This version of MySQL doesn't yet support 'SET gtid_next' to anything but AUTOMATIC");
    case kSqlLogBin:
      if (!session.transaction || !session.transaction->active())
        return session.require(privilege::kSuper, "SUPER");
      return make_error(1694, "Cannot modify @@session.sql_log_bin inside a transaction");
    default:
      return {};
  }
}

Status set_global(SessionState& session, size_t ordinal, const std::optional<Value>& value) {
  COMMITD_RETURN_IF_ERROR(
      session.require(privilege::kSystemVariablesAdmin, "SUPER or SYSTEM_VARIABLES_ADMIN"));
  if (!value) return session.server.variables->reset_global(ordinal);
  return session.server.variables->set_global(ordinal, *value);
}

// Turning autocommit on commits what is open.
Task<Status> set_session(SessionState& session, size_t ordinal, const std::optional<Value>& value) {
  const Value wanted = value ? *value : session.server.variables->global(ordinal);
  COMMITD_CO_RETURN_IF_ERROR(check_special(session, ordinal, wanted));
  const bool was_autocommit = session.settings.autocommit;
  const bool null_results = ordinal == kCharacterSetResults && wanted.is_null();
  COMMITD_CO_RETURN_IF_ERROR(session.variables.set(ordinal, null_results ? Value::string("binary") : wanted));
  session.refresh_settings();
  if (ordinal == kLastInsertId) session.last_insert_id = to_bits(wanted);
  if (ordinal == kAutocommit && !was_autocommit && session.settings.autocommit)
    co_return co_await commit_transaction(session);
  co_return Status();
}

Task<Status> set_variable(StatementContext& context, const ast::SetItem& item) {
  SessionState& session = context.session;
  const size_t ordinal = session.server.variables->find(item.name);
  if (ordinal == SystemVariables::kNone)
    co_return make_error(er::kUnknownSystemVariable, "Unknown system variable '{}'", item.name);
  std::optional<Value> value;
  if (item.value != nullptr) {
    auto evaluated = co_await evaluate(context, *item.value);
    if (!evaluated.ok()) co_return std::move(evaluated).error();
    value = *std::move(evaluated);
  }
  switch (item.scope) {
    case ast::VariableScope::Global:
      co_return set_global(session, ordinal, value);
    case ast::VariableScope::Persist:
    case ast::VariableScope::PersistOnly:
      session.diagnostics.warn(
          make_error(er::kNotSupportedYet,
                     "The value is set, but not kept over a restart: put it into the option file"));
      co_return set_global(session, ordinal, value);
    default:
      co_return co_await set_session(session, ordinal, value);
  }
}

}  // namespace

Status set_names(SessionState& session, std::string_view charset_name, std::string_view collation_name) {
  const CharsetInfo* charset = find_charset(charset_name);
  if (charset == nullptr)
    return make_error(er::kUnknownCharacterSet, "Unknown character set: '{}'", charset_name);
  std::string_view collation = charset->default_collation;
  if (!collation_name.empty()) {
    const Collation* found = find_collation(collation_name);
    if (found == nullptr) return make_error(er::kUnknownCollation, "Unknown collation: '{}'", collation_name);
    if (found->charset != charset->charset) {
      return make_error(1253, "COLLATION '{}' is not valid for CHARACTER SET '{}'", found->name,
                        charset->name);
    }
    collation = found->name;
  }
  for (const size_t ordinal : {kCharacterSetClient, kCharacterSetConnection, kCharacterSetResults}) {
    COMMITD_RETURN_IF_ERROR(assign_text(session, ordinal, charset->name));
  }
  COMMITD_RETURN_IF_ERROR(assign_text(session, kCollationConnection, collation));
  session.refresh_settings();
  return {};
}

Task<Status> execute_set(StatementContext& context, const ast::SetStatement& statement) {
  for (const ast::SetItem& item : statement.items) {
    switch (item.what) {
      case ast::SetItem::What::Names:
      case ast::SetItem::What::CharacterSet:
        COMMITD_CO_RETURN_IF_ERROR(set_names(context.session, item.name, item.collation));
        break;
      case ast::SetItem::What::UserVariable: {
        auto value = co_await evaluate(context, *item.value);
        if (!value.ok()) co_return std::move(value).error();
        context.session.user_variables[lower(item.name)] = *std::move(value);
        break;
      }
      case ast::SetItem::What::SystemVariable:
        COMMITD_CO_RETURN_IF_ERROR(co_await set_variable(context, item));
        break;
    }
  }
  co_return Status();
}

}  // namespace commitd::sql
