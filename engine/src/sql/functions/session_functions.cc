// Functions that answer from the session or the server.
#include "base/charset/collation.h"
#include "base/charset/utf8.h"
#include "base/error_codes.h"
#include "gtid/gtid_set.h"
#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"
#include "sql/process_list.h"
#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using Values = std::span<const Value>;

Value version(Evaluation& e, Values) {
  return Value::string(e.session().version_prefix + e.session().server.version);
}
Value database(Evaluation& e, Values) {
  const std::string& name = e.session().database;
  return name.empty() ? Value::null() : Value::string(name);
}
Value user(Evaluation& e, Values) {
  return Value::string(e.session().account.user + "@" + e.session().client_host);
}
Value current_user(Evaluation& e, Values) {
  return Value::string(e.session().account.user + "@" + e.session().account.host);
}
Value connection_id(Evaluation& e, Values) {
  return Value::unsigned_integer(e.session().connection_id);
}
Value row_count(Evaluation& e, Values) {
  return Value::integer(e.session().row_count);
}
Value found_rows(Evaluation& e, Values) {
  return Value::integer(static_cast<int64_t>(e.session().previous_found_rows));
}
Value uuid(Evaluation&, Values) {
  return Value::string(Uuid::random().to_string());
}

Value last_insert_id(Evaluation& e, Values a) {
  if (!a.empty()) {
    e.session().last_insert_id = a[0].is_null() ? 0 : to_bits(a[0]);
    if (a[0].is_null()) return Value::null();
  }
  return Value::unsigned_integer(e.session().last_insert_id);
}

std::optional<GtidSet> gtid_set(Evaluation& e, const Value& value) {
  auto parsed = GtidSet::parse(to_text(value));
  if (parsed.ok()) return *std::move(parsed);
  e.fail(make_error(er::kMalformedGtidSetSpecification, "Malformed GTID set specification '{}'.",
                    to_text(value)));
  return std::nullopt;
}

Value gtid_subset(Evaluation& e, Values a) {
  const auto part = gtid_set(e, a[0]), whole = gtid_set(e, a[1]);
  return part && whole ? Value::integer(whole->contains(*part)) : Value::null();
}

Value gtid_subtract(Evaluation& e, Values a) {
  auto whole = gtid_set(e, a[0]);
  const auto part = gtid_set(e, a[1]);
  if (!whole || !part) return Value::null();
  whole->subtract(*part);
  return Value::string(whole->to_string());
}

const Collation& argument_collation(const Evaluation& e, const Value& argument) {
  const bool text = argument.is_null() || (argument.kind() == Value::Kind::String && !argument.is_binary());
  return collation_or_binary(text ? e.collation : kBinaryCollation);
}
Value charset(Evaluation& e, Values a) {
  return Value::string(std::string(charset_info(argument_collation(e, a[0]).charset).name));
}
Value collation(Evaluation& e, Values a) {
  return Value::string(std::string(argument_collation(e, a[0]).name));
}

// The locks, and that they can be asked for this name.
NamedLocks* named_locks(Evaluation& e, const Value& name) {
  if (Status status = check_lock_name(name); !status.ok()) {
    e.fail(status.error());
    return nullptr;
  }
  return &e.session().server.processes->named_locks();
}
Value is_free_lock(Evaluation& e, Values a) {
  NamedLocks* locks = named_locks(e, a[0]);
  return locks == nullptr ? Value::null() : Value::integer(!locks->holder(to_text(a[0])));
}
Value is_used_lock(Evaluation& e, Values a) {
  NamedLocks* locks = named_locks(e, a[0]);
  const auto holder = locks == nullptr ? std::nullopt : locks->holder(to_text(a[0]));
  return holder ? Value::unsigned_integer(*holder) : Value::null();
}
Value release_lock(Evaluation& e, Values a) {
  NamedLocks* locks = named_locks(e, a[0]);
  const auto given =
      locks == nullptr ? std::nullopt : locks->give_back(to_text(a[0]), e.session().connection_id);
  return given ? Value::integer(*given) : Value::null();
}
Value release_all_locks(Evaluation& e, Values) {
  return Value::unsigned_integer(
      e.session().server.processes->named_locks().give_all_back(e.session().connection_id));
}

ValueType unsigned_type(std::span<const ValueType>) {
  return ValueType::integer(21, true);
}
ValueType gtid_type(std::span<const ValueType> types) {
  return ValueType::text(types[0].length);
}

constexpr FunctionSpec kFunctions[] = {
    {"VERSION", 0, 0, true, version, text_type},
    {"DATABASE", 0, 0, true, database, text_type},
    {"SCHEMA", 0, 0, true, database, text_type},
    {"USER", 0, 0, true, user, text_type},
    {"SESSION_USER", 0, 0, true, user, text_type},
    {"SYSTEM_USER", 0, 0, true, user, text_type},
    {"CURRENT_USER", 0, 0, true, current_user, text_type},
    {"CONNECTION_ID", 0, 0, true, connection_id, unsigned_type},
    {"LAST_INSERT_ID", 0, 1, false, last_insert_id, unsigned_type},
    {"ROW_COUNT", 0, 0, true, row_count, integer_type},
    {"FOUND_ROWS", 0, 0, true, found_rows, integer_type},
    {"UUID", 0, 0, true, uuid, text_type},
    {"GTID_SUBSET", 2, 2, true, gtid_subset, boolean_type},
    {"GTID_SUBTRACT", 2, 2, true, gtid_subtract, gtid_type},
    {"CHARSET", 1, 1, false, charset, text_type},
    {"COLLATION", 1, 1, false, collation, text_type},
    {"IS_FREE_LOCK", 1, 1, false, is_free_lock, integer_type},
    {"IS_USED_LOCK", 1, 1, false, is_used_lock, unsigned_type},
    {"RELEASE_LOCK", 1, 1, false, release_lock, integer_type},
    {"RELEASE_ALL_LOCKS", 0, 0, true, release_all_locks, unsigned_type},
};

}  // namespace

Status check_lock_name(const Value& name) {
  constexpr size_t kLongest = 64;
  const std::string text = name.to_text();
  if (!name.is_null() && !text.empty() && character_count(text) <= kLongest) return {};
  return make_error(er::kUserLockWrongName, "Incorrect user-level lock name '{}'.", text);
}

std::span<const FunctionSpec> session_functions() {
  return kFunctions;
}

}  // namespace commitd::sql
