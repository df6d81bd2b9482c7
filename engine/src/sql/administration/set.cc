#include "sql/administration/set.h"

#include <algorithm>

#include "base/charset/collation.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/administration/next_gtid.h"
#include "sql/expression/conversion.h"
#include "sql/query/precompute.h"
#include "sql/variables/persisted_variables.h"
#include "storage/table_engines.h"

namespace commitd::sql {
namespace {

Status assign_text(SessionState& session, size_t ordinal, std::string_view text) {
  session.tracker.variable_changed(ordinal);
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

Error cannot_be_null(const SessionState& session, size_t ordinal) {
  return make_error(er::kWrongValueForVar, "Variable '{}' can't be set to the value of 'NULL'",
                    session.server.variables->definition(ordinal).name);
}

// Values that need more than the registry's check, whatever their scope.
Status check_value(const SessionState& session, size_t ordinal, const Value& value) {
  switch (ordinal) {
    case kTimeZone:
      if (value.kind() == Value::Kind::String && parse_time_zone(value.as_string())) return {};
      return make_error(er::kUnknownTimeZone, "Unknown or incorrect time zone: '{}'", value.to_text());
    case kCharacterSetClient:
    case kCharacterSetConnection:
      if (value.is_null()) return cannot_be_null(session, ordinal);
      [[fallthrough]];
    case kCharacterSetResults:
      if (value.is_null() || find_charset(to_text(value)) != nullptr) return {};
      return make_error(er::kUnknownCharacterSet, "Unknown character set: '{}'", value.to_text());
    case kDefaultStorageEngine:
      if (storage::find_table_engine(to_text(value)) != nullptr) return {};
      return make_error(er::kUnknownStorageEngine, "Unknown storage engine '{}'", value.to_text());
    case kCollationConnection:
    case kCollationServer:
      if (value.is_null()) return cannot_be_null(session, ordinal);
      if (find_collation(to_text(value)) != nullptr) return {};
      return make_error(er::kUnknownCollation, "Unknown collation: '{}'", value.to_text());
    default:
      return {};
  }
}

// And those that matter to the session only.
Status check_session_value(SessionState& session, size_t ordinal, const Value& value) {
  COMMITD_RETURN_IF_ERROR(check_value(session, ordinal, value));
  switch (ordinal) {
    case kGtidNext:
      return set_next_gtid(session, to_text(value));
    case kTimestamp: {  // 0: that of the clock again
      const double seconds = value.kind() == Value::Kind::String ? 0 : to_double(value);
      if (seconds == 0 || (seconds >= 1 && seconds <= INT32_MAX)) return {};
      return make_error(er::kWrongValueForVar, "Variable 'timestamp' can't be set to the value of '{}'",
                        to_text(value));
    }
    case kMaxAllowedPacket:
      return make_error(
          er::kSessionVariableIsReadOnly,
          "SESSION variable 'max_allowed_packet' is read-only. Use SET GLOBAL to assign the value");
    case kSqlLogBin:
      if (!session.transaction || !session.transaction->active())
        return session.require(privilege::kSuper, "SUPER");
      return make_error(er::kStoredFunctionPreventsSwitchSqlLogBin,
                        "Cannot modify @@session.sql_log_bin inside a transaction");
    default:
      return {};
  }
}

// Numbers outside a variable's range are taken as its nearest end, and said to be.
void warn_if_clamped(SessionState& session, size_t ordinal, const Value& value) {
  const auto& variables = *session.server.variables;
  if (variables.definition(ordinal).type != VariableType::Integer) return;
  auto taken = variables.convert(ordinal, value, value);
  if (!taken.ok() || to_text(*taken) == to_text(value) || to_double(*taken) == to_double(value)) return;
  session.diagnostics.warn(make_error(er::kTruncatedWrongValue, "Truncated incorrect {} value: '{}'",
                                      variables.definition(ordinal).name, to_text(value)));
}

VariableOrigin origin_here(const SessionState& session, VariableOrigin::Source source) {
  return {source, static_cast<uint64_t>(session.statement_microseconds), session.account.user,
          session.client_host};
}

Status set_global(SessionState& session, size_t ordinal, const std::optional<Value>& value) {
  COMMITD_RETURN_IF_ERROR(
      session.require(privilege::kSystemVariablesAdmin, "SUPER or SYSTEM_VARIABLES_ADMIN"));
  SystemVariables& variables = *session.server.variables;
  if (value) COMMITD_RETURN_IF_ERROR(check_value(session, ordinal, *value));
  COMMITD_RETURN_IF_ERROR(value ? variables.set_global(ordinal, *value) : variables.reset_global(ordinal));
  if (value) warn_if_clamped(session, ordinal, *value);
  if (const auto& warning = variables.definition(ordinal).warning) {
    if (std::string text = warning(variables.global(ordinal)); !text.empty())
      session.diagnostics.warn({er::kWrongArguments, std::move(text)});
  }
  variables.set_origin(ordinal, origin_here(session, VariableOrigin::Source::Dynamic));
  return {};
}

// SET PERSIST sets and keeps; SET PERSIST_ONLY only keeps for the next start. What
// cannot be set at run time is an option's business.
Status set_persist(SessionState& session, size_t ordinal, const std::optional<Value>& value, bool only) {
  SystemVariables& variables = *session.server.variables;
  const VariableDefinition& definition = variables.definition(ordinal);
  if (definition.scope == VariableScope::Session || !definition.persistent || !definition.dynamic) {
    return make_error(er::kIncorrectGlobalLocalVar, "Variable '{}' is a non persistent{} variable",
                      definition.name, definition.dynamic ? "" : " read only");
  }
  if (!only) {
    COMMITD_RETURN_IF_ERROR(set_global(session, ordinal, value));
  } else {
    COMMITD_RETURN_IF_ERROR(session.require(privilege::kSystemVariablesAdmin,
                                            "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN"));
  }
  const Value wanted = value ? *value : definition.initial;
  COMMITD_RETURN_IF_ERROR(check_value(session, ordinal, wanted));
  auto taken = variables.convert(ordinal, wanted, variables.global(ordinal));
  if (!taken.ok()) return std::move(taken).error();
  if (only) warn_if_clamped(session, ordinal, wanted);
  const VariableOrigin origin = origin_here(session, VariableOrigin::Source::Persisted);
  return variables.persisted().set(
      definition.name, {variables.to_text(ordinal, *taken), origin.microseconds, origin.user, origin.host});
}

// Collations and locales may be given by their numbers, as mysqlbinlog does.
Value name_of_number(const VariableDefinition& variable, const Value& value) {
  if (value.kind() == Value::Kind::String || value.is_null()) return value;
  if (variable.name.starts_with("collation_")) {
    const Collation* collation = find_collation(static_cast<uint16_t>(to_bits(value)));
    if (collation != nullptr) return Value::string(std::string(collation->name));
  }
  if (variable.name == "lc_time_names" && to_bits(value) == 0) return Value::string("en_US");
  return value;
}

// Turning autocommit on commits what is open.
Task<Status> set_session(SessionState& session, size_t ordinal, const std::optional<Value>& value) {
  const Value wanted = value ? name_of_number(session.server.variables->definition(ordinal), *value)
                             : session.server.variables->global(ordinal);
  COMMITD_CO_RETURN_IF_ERROR(check_session_value(session, ordinal, wanted));
  const bool was_autocommit = session.settings.autocommit;
  const bool null_results = ordinal == kCharacterSetResults && wanted.is_null();
  COMMITD_CO_RETURN_IF_ERROR(session.variables.set(ordinal, null_results ? Value::string("binary") : wanted));
  warn_if_clamped(session, ordinal, wanted);
  session.refresh_settings();
  session.tracker.variable_changed(ordinal);
  session.tracker.state_changed();
  if (ordinal == kLastInsertId) session.last_insert_id = to_bits(wanted);
  if (ordinal == kAutocommit && !was_autocommit && session.settings.autocommit)
    co_return co_await commit_transaction(session);
  co_return Status();
}

// What one item assigns; the value DEFAULT is none.
struct Assigned {
  size_t ordinal = SystemVariables::kNone;  // of a system variable
  std::optional<Value> value;
};

Task<Result<Assigned>> assigned_by(StatementContext& context, const ast::SetItem& item) {
  Assigned assigned;
  if (item.what == ast::SetItem::What::SystemVariable) {
    assigned.ordinal = context.session.server.variables->find(item.name);
    if (assigned.ordinal == SystemVariables::kNone)
      co_return make_error(er::kUnknownSystemVariable, "Unknown system variable '{}'", item.name);
  }
  if (item.value != nullptr) {
    auto value = co_await evaluate(context, *item.value);
    if (!value.ok()) co_return std::move(value).error();
    assigned.value = *std::move(value);
  }
  co_return assigned;
}

Task<Status> set_variable(SessionState& session, const ast::SetItem& item, const Assigned& assigned) {
  const auto& [ordinal, value] = assigned;
  switch (item.scope) {
    case ast::VariableScope::Global:
      co_return set_global(session, ordinal, value);
    case ast::VariableScope::Persist:
      co_return set_persist(session, ordinal, value, false);
    case ast::VariableScope::PersistOnly:
      co_return set_persist(session, ordinal, value, true);
    default:
      co_return co_await set_session(session, ordinal, value);
  }
}

}  // namespace

Status reset_persist(SessionState& session, const ast::ResetPersistStatement& statement) {
  COMMITD_RETURN_IF_ERROR(session.require(privilege::kSystemVariablesAdmin,
                                          "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN"));
  PersistedVariables& persisted = session.server.variables->persisted();
  if (statement.name.empty()) return persisted.clear();
  const size_t ordinal = session.server.variables->find(statement.name);
  auto removed = persisted.remove(ordinal == SystemVariables::kNone
                                      ? std::string(statement.name)
                                      : session.server.variables->definition(ordinal).name);
  if (removed.ok() || !statement.if_exists) return removed;
  session.diagnostics.warn(std::move(removed).error());
  return {};
}

Status set_names(SessionState& session, std::string_view charset_name, std::string_view collation_name) {
  const CharsetInfo* charset = find_charset(charset_name);
  if (charset == nullptr)
    return make_error(er::kUnknownCharacterSet, "Unknown character set: '{}'", charset_name);
  std::string_view collation = charset->default_collation;
  if (!collation_name.empty()) {
    const Collation* found = find_collation(collation_name);
    if (found == nullptr) return make_error(er::kUnknownCollation, "Unknown collation: '{}'", collation_name);
    if (found->charset != charset->charset) {
      return make_error(er::kCollationCharsetMismatch, "COLLATION '{}' is not valid for CHARACTER SET '{}'",
                        found->name, charset->name);
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

// All values are known before the first is assigned: SET @a = @b, @b = @a exchanges them.
Task<Status> execute_set(StatementContext& context, const ast::SetStatement& statement) {
  SessionState& session = context.session;
  std::vector<Assigned> values;
  for (const ast::SetItem& item : statement.items) {
    auto assigned = co_await assigned_by(context, item);
    if (!assigned.ok()) co_return std::move(assigned).error();
    values.push_back(*std::move(assigned));
  }
  size_t number = 0;
  for (const ast::SetItem& item : statement.items) {
    Assigned& assigned = values[number++];
    switch (item.what) {
      case ast::SetItem::What::Names:
      case ast::SetItem::What::CharacterSet:
        COMMITD_CO_RETURN_IF_ERROR(set_names(session, item.name, item.collation));
        break;
      case ast::SetItem::What::UserVariable: {
        Value value = *std::move(assigned.value);
        if (value.kind() == Value::Kind::Json) value = Value::string(value.to_text());
        session.user_variables[lower_case(item.name)] = std::move(value);
        session.tracker.state_changed();
        break;
      }
      case ast::SetItem::What::SystemVariable:
        COMMITD_CO_RETURN_IF_ERROR(co_await set_variable(session, item, assigned));
        break;
    }
  }
  co_return Status();
}

}  // namespace commitd::sql
