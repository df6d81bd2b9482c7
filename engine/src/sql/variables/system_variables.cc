#include "sql/variables/system_variables.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "base/decimal.h"
#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/session_settings.h"
#include "sql/variables/persisted_variables.h"

namespace commitd::sql {
namespace {

std::string normalized(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Error bad_value(const VariableDefinition& variable, const Value& value) {
  return make_error(er::kWrongValueForVar, "Variable '{}' can't be set to the value of '{}'", variable.name,
                    value.to_text());
}

Error bad_type(const VariableDefinition& variable) {
  return make_error(er::kWrongTypeForVar, "Incorrect argument type to variable '{}'", variable.name);
}

std::optional<double> whole_number(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Int:
      return static_cast<double>(value.as_int());
    case Value::Kind::UInt:
      return static_cast<double>(value.as_uint());
    case Value::Kind::Decimal:
      if (value.as_decimal().scale == 0) return static_cast<double>(value.as_decimal().unscaled);
      return {};
    default:
      return {};
  }
}

// What a number in text says, with the suffixes of option files.
std::optional<Value> parse_number(std::string_view text) {
  bool negative = text.starts_with('-');
  uint64_t magnitude = 0;
  auto [end, problem] = std::from_chars(text.data() + negative, text.data() + text.size(), magnitude);
  if (problem != std::errc{}) return {};
  std::string_view suffix(end, text.data() + text.size() - end);
  if (equal_words(suffix, "k"))
    magnitude <<= 10;
  else if (equal_words(suffix, "m"))
    magnitude <<= 20;
  else if (equal_words(suffix, "g"))
    magnitude <<= 30;
  else if (!suffix.empty())
    return {};
  return negative ? Value::integer(-static_cast<int64_t>(magnitude)) : Value::unsigned_integer(magnitude);
}

Result<Value> convert_boolean(const VariableDefinition& variable, const Value& value) {
  if (value.kind() == Value::Kind::String) {
    for (const char* yes : {"ON", "TRUE", "YES", "1"})
      if (equal_words(value.as_string(), yes)) return Value::integer(1);
    for (const char* no : {"OFF", "FALSE", "NO", "0"})
      if (equal_words(value.as_string(), no)) return Value::integer(0);
    return bad_value(variable, value);
  }
  auto number = whole_number(value);
  if (!number) return bad_type(variable);
  if (*number != 0 && *number != 1) return bad_value(variable, value);
  return Value::integer(*number != 0);
}

// MySQL clamps numbers into the variable's range (with a warning) instead of refusing them.
Result<Value> convert_integer(const VariableDefinition& variable, const Value& value) {
  if (value.kind() == Value::Kind::UInt) {
    return Value::unsigned_integer(
        std::clamp<uint64_t>(value.as_uint(), std::max<int64_t>(variable.min, 0), variable.max));
  }
  if (!whole_number(value)) return bad_type(variable);
  int64_t number =
      value.kind() == Value::Kind::Int ? value.as_int() : static_cast<int64_t>(value.as_decimal().unscaled);
  if (number < variable.min) number = variable.min;
  if (number >= 0)
    return Value::unsigned_integer(std::min<uint64_t>(static_cast<uint64_t>(number), variable.max));
  return Value::integer(number);
}

Result<Value> convert_real(const VariableDefinition& variable, const Value& value) {
  double number = 0;
  if (value.kind() == Value::Kind::Double)
    number = value.as_double();
  else if (value.kind() == Value::Kind::Decimal)
    number = to_double(value.as_decimal());
  else if (const auto whole = whole_number(value))
    number = *whole;
  else
    return bad_type(variable);
  return Value::real(
      std::clamp(number, static_cast<double>(variable.min), static_cast<double>(variable.max)));
}

Result<Value> convert_enum(const VariableDefinition& variable, const Value& value) {
  if (value.kind() == Value::Kind::String) {
    for (const auto& choice : variable.choices)
      if (equal_words(value.as_string(), choice)) return Value::string(choice);
    // ON and OFF also mean the first two choices of ON/OFF-like enums given by number.
    return bad_value(variable, value);
  }
  auto number = whole_number(value);
  if (!number || *number < 0 || *number >= static_cast<double>(variable.choices.size()))
    return bad_value(variable, value);
  return Value::string(variable.choices[static_cast<size_t>(*number)]);
}

// The members that a text names, as bits; nullopt with the word that is none in `unknown`.
std::optional<uint64_t> bits_of_set(const VariableDefinition& variable, std::string_view text,
                                    std::string& unknown) {
  uint64_t bits = 0;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (word.empty()) continue;
    const auto choice = std::find_if(variable.choices.begin(), variable.choices.end(),
                                     [&](const auto& c) { return equal_words(c, word); });
    if (choice == variable.choices.end()) {
      unknown = word;
      return std::nullopt;
    }
    bits |= uint64_t{1} << (choice - variable.choices.begin());
  }
  return bits;
}

Result<Value> set_of_bits(const VariableDefinition& variable, uint64_t bits) {
  if (const uint64_t absent = bits & variable.absent; absent != 0)
    return bad_value(variable,
                     Value::string(variable.choices[static_cast<size_t>(std::countr_zero(absent))]));
  std::string unknown;
  for (const auto& [name, members] : variable.groups) {
    const uint64_t group = bits_of_set(variable, name, unknown).value_or(0);
    if ((bits & group) != 0) bits |= bits_of_set(variable, members, unknown).value_or(0);
  }
  std::string names;
  for (size_t bit = 0; bit < variable.choices.size(); ++bit) {
    if ((bits >> bit & 1) != 0) names += (names.empty() ? "" : ",") + variable.choices[bit];
  }
  return Value::string(std::move(names));
}

Result<Value> convert_set(const VariableDefinition& variable, const Value& value) {
  if (value.kind() != Value::Kind::String) {
    auto number = whole_number(value);
    if (!number || *number < 0 || *number >= std::exp2(variable.choices.size()))
      return bad_value(variable, value);
    return set_of_bits(variable, static_cast<uint64_t>(*number));
  }
  std::string unknown;
  const auto bits = bits_of_set(variable, value.as_string(), unknown);
  if (!bits) return bad_value(variable, Value::string(std::move(unknown)));
  return set_of_bits(variable, *bits);
}

// The value, in the words of Flags.
std::string flags_text(const VariableDefinition& variable, uint64_t bits) {
  std::string text;
  for (size_t bit = 0; bit < variable.choices.size(); ++bit) {
    const bool on = (bits >> bit & 1) != 0;
    text += fmt::format("{}{}={}", bit == 0 ? "" : ",", variable.choices[bit], on ? "on" : "off");
  }
  return text;
}

// What a text changes of Flags. Each may be named once; "default" alone is that of all that are not named.
class FlagChanges {
 public:
  // What is wrong from there on; empty: nothing.
  std::string_view read(const VariableDefinition& variable, std::string_view text) {
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(','));
      if (!take(variable, word)) return text;
      text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return {};
  }
  uint64_t applied_to(uint64_t before, uint64_t initial) const {
    const uint64_t rest = all_default_ ? initial : before;
    return on_ | (default_ & initial) | (rest & ~(on_ | off_ | default_));
  }

 private:
  bool take(const VariableDefinition& variable, std::string_view word) {
    if (equal_words(word, "default")) return !std::exchange(all_default_, true);
    const size_t equals = std::min(word.find('='), word.size());
    const auto choice = std::ranges::find_if(
        variable.choices, [&](const auto& name) { return equal_words(name, word.substr(0, equals)); });
    if (choice == variable.choices.end() || equals == word.size()) return false;
    const uint64_t bit = uint64_t{1} << (choice - variable.choices.begin());
    if (((on_ | off_ | default_) & bit) != 0) return false;
    const std::string_view state = word.substr(equals + 1);
    uint64_t* const states = equal_words(state, "on")        ? &on_
                             : equal_words(state, "off")     ? &off_
                             : equal_words(state, "default") ? &default_
                                                             : nullptr;
    if (states != nullptr) *states |= bit;
    return states != nullptr;
  }

  uint64_t on_ = 0, off_ = 0, default_ = 0;
  bool all_default_ = false;
};

uint64_t bits_of_flags(const VariableDefinition& variable, const Value& value) {
  FlagChanges changes;
  changes.read(variable, value.as_string());
  return changes.applied_to(0, 0);
}

Result<Value> convert_flags(const VariableDefinition& variable, const Value& value, const Value& before) {
  if (value.kind() != Value::Kind::String) {
    auto number = whole_number(value);
    if (!number) return bad_type(variable);
    if (*number < 0 || *number >= std::exp2(variable.choices.size())) return bad_value(variable, value);
    return Value::string(flags_text(variable, static_cast<uint64_t>(*number)));
  }
  FlagChanges changes;
  const std::string_view wrong = changes.read(variable, value.as_string());
  if (!wrong.empty()) return bad_value(variable, Value::string(std::string(wrong)));
  return Value::string(flags_text(variable, changes.applied_to(bits_of_flags(variable, before),
                                                               bits_of_flags(variable, variable.initial))));
}

// As in MySQL, a max_join_size that is set holds until sql_big_selects is set.
void set_big_selects(std::span<Value> values) {
  values[kSqlBigSelects] = Value::integer(values[kMaxJoinSize].as_uint() == UINT64_MAX);
}

}  // namespace

void SystemVariables::define(VariableDefinition definition) {
  size_t ordinal = find(definition.name);
  auto initial = definition.initial;
  auto aliases = definition.aliases;
  std::string name = normalized(definition.name);
  if (ordinal == kNone) {
    ordinal = definitions_.size();
    definitions_.push_back(std::move(definition));
    values_.push_back(std::move(initial));
    origins_.emplace_back();
  } else {
    definitions_[ordinal] = std::move(definition);
    values_[ordinal] = std::move(initial);
  }
  session_defaults_.clear();
  by_name_[name] = ordinal;
  for (const auto& alias : aliases) by_name_[normalized(alias)] = ordinal;
}

size_t SystemVariables::find(std::string_view name) const {
  auto found = by_name_.find(normalized(name));
  return found == by_name_.end() ? kNone : found->second;
}

std::vector<std::string> SystemVariables::names() const {
  std::vector<std::string> out;
  for (const auto& [name, ordinal] : by_name_) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

Value SystemVariables::global(size_t ordinal) const {
  if (definitions_[ordinal].read) return definitions_[ordinal].read();
  std::lock_guard lock(mutex_);
  return values_[ordinal];
}

// What sessions have values of is never computed: `read` is for global variables.
std::shared_ptr<const SessionDefaults> SystemVariables::session_defaults(const Collation* names) const {
  std::lock_guard lock(mutex_);
  auto& made = session_defaults_[names == nullptr ? 0 : names->id];
  if (made == nullptr) {
    SessionValues globals;
    std::copy_n(values_.begin(), globals.size(), globals.begin());
    made = make_session_defaults(globals, names);
  }
  return made;
}

Value SystemVariables::global(std::string_view name) const {
  return global(find(name));
}

Result<Value> SystemVariables::convert(size_t ordinal, const Value& value, const Value& before) const {
  const VariableDefinition& variable = definitions_[ordinal];
  auto converted = convert_to_type(variable, value, before);
  if (converted.ok() && variable.fixed && converted->to_text() != variable.initial.to_text())
    return bad_value(variable, Value::string(to_text(ordinal, *converted)));
  return converted;
}

Result<Value> SystemVariables::convert_to_type(const VariableDefinition& variable, const Value& value,
                                               const Value& before) {
  switch (variable.type) {
    case VariableType::Boolean:
      return convert_boolean(variable, value);
    case VariableType::Integer:
      return convert_integer(variable, value);
    case VariableType::Real:
      return convert_real(variable, value);
    case VariableType::Enum:
      return convert_enum(variable, value);
    case VariableType::Set:
      return convert_set(variable, value);
    case VariableType::Flags:
      return convert_flags(variable, value, before);
    case VariableType::String:
      if (value.is_null() || value.kind() == Value::Kind::String) return value;
      return bad_type(variable);
  }
  return bad_type(variable);
}

Status SystemVariables::store(size_t ordinal, const Value& value) {
  auto converted = convert(ordinal, value, global(ordinal));
  if (!converted.ok()) return std::move(converted).error();
  if (const auto& hook = definitions_[ordinal].on_update) COMMITD_RETURN_IF_ERROR(hook(*converted));
  std::lock_guard lock(mutex_);
  values_[ordinal] = std::move(*converted);
  if (ordinal == kMaxJoinSize) set_big_selects(values_);
  session_defaults_.clear();
  return {};
}

Status SystemVariables::set_global(size_t ordinal, const Value& value) {
  const auto& variable = definitions_[ordinal];
  if (variable.scope == VariableScope::Session) {
    return make_error(er::kLocalVariable,
                      "Variable '{}' is a SESSION variable and can't be used with SET GLOBAL", variable.name);
  }
  if (!variable.dynamic || (variable.read && !variable.on_update)) {
    return make_error(er::kIncorrectGlobalLocalVar, "Variable '{}' is a read only variable", variable.name);
  }
  return store(ordinal, value);
}

VariableOrigin SystemVariables::origin(size_t ordinal) const {
  std::lock_guard lock(mutex_);
  return origins_[ordinal];
}

void SystemVariables::set_origin(size_t ordinal, VariableOrigin origin) {
  std::lock_guard lock(mutex_);
  origins_[ordinal] = std::move(origin);
}

Status SystemVariables::set_persisted(size_t ordinal, const std::string& text, VariableOrigin origin) {
  COMMITD_RETURN_IF_ERROR(store_text(ordinal, text));
  set_origin(ordinal, std::move(origin));
  return {};
}

Status SystemVariables::set_at_start(std::string_view name, const std::string& text) {
  size_t ordinal = find(name);
  if (ordinal == kNone) return make_error(er::kUnknownSystemVariable, "Unknown system variable '{}'", name);
  COMMITD_RETURN_IF_ERROR(store_text(ordinal, text));
  set_origin(ordinal, {VariableOrigin::Source::CommandLine, 0, "", ""});
  return {};
}

Status SystemVariables::store_text(size_t ordinal, const std::string& text) {
  auto type = definitions_[ordinal].type;
  if (type == VariableType::Integer || type == VariableType::Enum) {
    if (auto number = parse_number(text)) return store(ordinal, *number);
  }
  if (type == VariableType::Real) {
    double number = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem == std::errc{} && end == text.data() + text.size())
      return store(ordinal, Value::real(number));
  }
  return store(ordinal, Value::string(text));
}

std::string SystemVariables::to_text(size_t ordinal, const Value& value) const {
  if (definitions_[ordinal].type == VariableType::Boolean && !value.is_null())
    return value.as_int() != 0 ? "ON" : "OFF";
  if (definitions_[ordinal].type == VariableType::Real && !value.is_null())
    return fmt::format("{:.6f}", value.as_double());
  return value.is_null() ? "" : value.to_text();
}

void SessionVariables::start(const Collation* names) {
  defaults_ = system_.session_defaults(names);
  values_ = &defaults_->values;
  own_.reset();
}

Value SessionVariables::read(size_t ordinal) const {
  return ordinal < kSessionVariableCount ? get(ordinal) : system_.global(ordinal);
}

Status SessionVariables::set(size_t ordinal, const Value& value) {
  const auto& variable = system_.definition(ordinal);
  if (variable.scope == VariableScope::Global || ordinal >= kSessionVariableCount) {
    return make_error(er::kGlobalVariable,
                      "Variable '{}' is a GLOBAL variable and should be set with SET GLOBAL", variable.name);
  }
  if (!variable.dynamic)
    return make_error(er::kIncorrectGlobalLocalVar, "Variable '{}' is a read only variable", variable.name);
  auto converted = system_.convert(ordinal, value, get(ordinal));
  if (!converted.ok()) return std::move(converted).error();
  if (own_ == nullptr) {
    own_ = std::make_unique<SessionValues>(*values_);
    values_ = own_.get();
  }
  (*own_)[ordinal] = std::move(*converted);
  if (ordinal == kMaxJoinSize) set_big_selects(*own_);
  return {};
}

}  // namespace commitd::sql
