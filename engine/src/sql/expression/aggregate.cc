#include "sql/expression/aggregate.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <absl/container/flat_hash_set.h>

#include "base/charset/utf8.h"
#include "base/decimal.h"
#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/json_aggregate.h"
#include "sql/expression/kept_memory.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

using What = AggregateCall::What;

// Skips NULLs and, for DISTINCT, what was seen before.
class Filtered : public AggregateState {
 public:
  explicit Filtered(const AggregateCall& call) : call_(call) {}
  void add(Evaluation& evaluation) final {
    if (call_.arguments.size() == 1 && !call_.distinct) {
      Value scratch;
      const Value& value = call_.arguments[0]->evaluate(evaluation, scratch);
      if (!value.is_null()) take({&value, 1}, evaluation);
      return;
    }
    values_.resize(call_.arguments.size());
    for (size_t i = 0; i < values_.size(); ++i) {
      Value scratch;
      values_[i] = call_.arguments[i]->evaluate(evaluation, scratch);
      if (values_[i].is_null()) return;
    }
    if (call_.distinct) {
      std::string key;
      for (size_t i = 0; i < values_.size(); ++i) {
        const ValueType& type = call_.arguments[i]->type();
        conform_digits(values_[i], type);  // as columns of a temporary table would hold them
        append_group_key(key, values_[i], type.collation);
      }
      const size_t key_size = key.size();
      if (!seen_.insert(std::move(key)).second) return;
      memory_.keep(key_size, evaluation);
    }
    take(values_, evaluation);
  }

 protected:
  virtual void take(std::span<const Value> values, Evaluation& evaluation) = 0;
  const AggregateCall& call_;

 private:
  std::vector<Value> values_;
  absl::flat_hash_set<std::string> seen_;
  KeptMemory memory_;
};

class Count : public Filtered {
 public:
  using Filtered::Filtered;
  Value result() override { return Value::integer(count_); }

 private:
  void take(std::span<const Value>, Evaluation&) override { ++count_; }
  int64_t count_ = 0;
};

class Sum : public Filtered {
 public:
  Sum(const AggregateCall& call, bool average) : Filtered(call), average_(average) {}
  Value result() override {
    if (count_ == 0) return Value::null();
    if (!average_) return total();
    return arithmetic(ast::Op::Divide, total(), Value::integer(count_), *evaluation_, "avg");
  }

 private:
  // Sums of integers are decimals: they do not overflow where the numbers themselves would.
  Value total() const {
    Value integers = Value::decimal({integers_, 0});
    if (others_ == 0) return integers;
    if (others_ == count_) return sum_;
    return arithmetic(ast::Op::Add, sum_, integers, *evaluation_, "sum");
  }
  void take(std::span<const Value> values, Evaluation& evaluation) override {
    evaluation_ = &evaluation;
    const Value& value = values[0];
    ++count_;
    if (value.kind() == Value::Kind::Int) {
      integers_ += value.as_int();
    } else if (value.kind() == Value::Kind::UInt) {
      integers_ += value.as_uint();
    } else {
      const bool exact = value.kind() == Value::Kind::Decimal;
      const Value number = exact ? value : Value::real(to_double(value));
      sum_ = others_ == 0 ? number : arithmetic(ast::Op::Add, sum_, number, evaluation, "sum");
      ++others_;
    }
  }
  bool average_;
  __int128 integers_ = 0;  // no number of rows makes 38 digits of them
  Value sum_;              // of what is no integer
  int64_t count_ = 0, others_ = 0;
  Evaluation* evaluation_ = nullptr;
};

class Extreme : public Filtered {
 public:
  Extreme(const AggregateCall& call, bool maximum) : Filtered(call), maximum_(maximum) {}
  Value result() override { return best_; }

 private:
  void take(std::span<const Value> values, Evaluation&) override {
    if (!best_.is_null()) {
      const auto order = compare_values(values[0], best_, call_.arguments[0]->type().collation);
      if (maximum_ ? order <= 0 : order >= 0) return;
    }
    best_ = values[0];
  }
  bool maximum_;
  Value best_;
};

class Bits : public Filtered {
 public:
  explicit Bits(const AggregateCall& call)
      : Filtered(call), bits_(call.what == What::BitAnd ? UINT64_MAX : 0) {}
  Value result() override { return Value::unsigned_integer(bits_); }

 private:
  void take(std::span<const Value> values, Evaluation&) override {
    const uint64_t value = to_bits(values[0]);
    if (call_.what == What::BitAnd)
      bits_ &= value;
    else if (call_.what == What::BitOr)
      bits_ |= value;
    else
      bits_ ^= value;
  }
  uint64_t bits_;
};

// Welford's method: one pass, numerically stable.
class Spread : public Filtered {
 public:
  using Filtered::Filtered;
  Value result() override {
    const bool sample = call_.what == What::SampleDeviation || call_.what == What::SampleVariance;
    const int64_t degrees = sample ? count_ - 1 : count_;
    if (degrees <= 0) return Value::null();
    const double variance = squares_ / static_cast<double>(degrees);
    if (!std::isfinite(variance)) {
      evaluation_->fail(make_error(er::kDataOutOfRange, "DOUBLE value is out of range in 'variance'"));
      return Value::null();
    }
    const bool root = call_.what == What::Deviation || call_.what == What::SampleDeviation;
    return Value::real(root ? std::sqrt(variance) : variance);
  }

 private:
  void take(std::span<const Value> values, Evaluation& evaluation) override {
    evaluation_ = &evaluation;
    const double value = to_double(values[0]);
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
  }
  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
  Evaluation* evaluation_ = nullptr;
};

constexpr uint16_t kCutValueGroupConcat = 1260;  // ER_CUT_VALUE_GROUP_CONCAT

class GroupConcat : public Filtered {
 public:
  using Filtered::Filtered;
  Value result() override {
    if (parts_.empty()) return Value::null();
    std::stable_sort(parts_.begin(), parts_.end(), [&](const Part& l, const Part& r) {
      for (size_t i = 0; i < call_.order.size(); ++i) {
        const auto order = order_values(l.keys[i], r.keys[i], call_.order[i].first->type().collation);
        if (order != 0) return call_.order[i].second ? order > 0 : order < 0;
      }
      return false;
    });
    std::string text;
    size_t taken = 0;
    for (; taken < parts_.size() && text.size() <= call_.max_length; ++taken) {
      if (taken > 0) text += call_.separator;
      text += parts_[taken].text;
    }
    const bool is_cut = text.size() > call_.max_length;
    if (is_cut && evaluation_ != nullptr)
      evaluation_->warn(make_error(kCutValueGroupConcat, "Row {} was cut by GROUP_CONCAT()", taken));
    if (is_cut) text.resize(valid_utf8_prefix(std::string_view(text).substr(0, call_.max_length)));
    return Value::string(std::move(text));
  }

 private:
  struct Part {
    std::string text;
    std::vector<Value> keys;
  };
  void take(std::span<const Value> values, Evaluation& evaluation) override {
    evaluation_ = &evaluation;
    Part part;
    for (size_t i = 0; i < values.size(); ++i) part.text += to_text(values[i], call_.arguments[i]->type());
    for (const auto& [expression, descending] : call_.order) {
      Value scratch;
      part.keys.push_back(expression->evaluate(evaluation, scratch));
    }
    memory_.keep(part.text.size() + memory_of(part.keys), evaluation);
    parts_.push_back(std::move(part));
  }
  std::vector<Part> parts_;
  KeptMemory memory_;
  Evaluation* evaluation_ = nullptr;
};

class AnyValue : public AggregateState {
 public:
  explicit AnyValue(const AggregateCall& call) : call_(call) {}
  void add(Evaluation& evaluation) override {
    Value scratch;
    if (!taken_) value_ = call_.arguments[0]->evaluate(evaluation, scratch);
    taken_ = true;
  }
  Value result() override { return value_; }

 private:
  const AggregateCall& call_;
  bool taken_ = false;
  Value value_;
};

}  // namespace

std::unique_ptr<AggregateState> AggregateCall::start() const {
  switch (what) {
    case What::Count:
      return std::make_unique<Count>(*this);
    case What::Sum:
      return std::make_unique<Sum>(*this, false);
    case What::Average:
      return std::make_unique<Sum>(*this, true);
    case What::Minimum:
      return std::make_unique<Extreme>(*this, false);
    case What::Maximum:
      return std::make_unique<Extreme>(*this, true);
    case What::GroupConcat:
      return std::make_unique<GroupConcat>(*this);
    case What::Deviation:
    case What::Variance:
    case What::SampleDeviation:
    case What::SampleVariance:
      return std::make_unique<Spread>(*this);
    case What::AnyValue:
      return std::make_unique<AnyValue>(*this);
    case What::JsonArray:
      return start_json_array(*this);
    case What::JsonObject:
      return start_json_object(*this);
    default:
      return std::make_unique<Bits>(*this);
  }
}

std::optional<AggregateCall::What> aggregate_named(std::string_view name) {
  static constexpr std::pair<std::string_view, What> kNames[] = {
      {"COUNT", What::Count},
      {"SUM", What::Sum},
      {"AVG", What::Average},
      {"MIN", What::Minimum},
      {"MAX", What::Maximum},
      {"BIT_AND", What::BitAnd},
      {"BIT_OR", What::BitOr},
      {"BIT_XOR", What::BitXor},
      {"ANY_VALUE", What::AnyValue},
      {"STD", What::Deviation},
      {"STDDEV", What::Deviation},
      {"STDDEV_POP", What::Deviation},
      {"STDDEV_SAMP", What::SampleDeviation},
      {"VAR_SAMP", What::SampleVariance},
      {"VARIANCE", What::Variance},
      {"VAR_POP", What::Variance},
      {"GROUP_CONCAT", What::GroupConcat},
      {"JSON_ARRAYAGG", What::JsonArray},
      {"JSON_OBJECTAGG", What::JsonObject},
  };
  for (const auto& [text, what] : kNames) {
    if (text == name) return what;
  }
  return std::nullopt;
}

// Sums of doubles have the digits behind the point that are known of what they add up.
ValueType sum_of_reals(const ValueType& argument, uint8_t more_digits) {
  ValueType type = ValueType::real();
  if (argument.type == FieldType::Double || argument.type == FieldType::Float)
    type.decimals = static_cast<uint8_t>(std::min(type.decimals + 0, argument.decimals + more_digits));
  return type;
}

ValueType aggregate_type(What what, const Expressions& arguments) {
  const ValueType argument = arguments.empty() ? ValueType::integer() : arguments[0]->type();
  const bool exact = argument.is_integer() || argument.type == FieldType::NewDecimal;
  ValueType type;
  switch (what) {
    case What::Count:
      type = ValueType::integer();
      type.nullable = false;
      return type;
    case What::Sum:
      return exact ? ValueType::decimal(std::min(argument.length + 22, 65u), argument.decimals)
                   : sum_of_reals(argument, 0);
    case What::Average:
      return exact ? ValueType::decimal(std::min(argument.length + 4, 65u),
                                        static_cast<uint8_t>(argument.decimals + 4))
                   : sum_of_reals(argument, 4);
    case What::Minimum:
    case What::Maximum:
    case What::AnyValue:
      type = argument;
      type.nullable = true;
      return type;
    case What::JsonArray:
    case What::JsonObject:
      return ValueType::json();
    case What::GroupConcat:
      return ValueType::text(1024);
    case What::Deviation:
    case What::Variance:
    case What::SampleDeviation:
    case What::SampleVariance:
      return ValueType::real();
    default:
      return ValueType::integer(21, true);
  }
}

}  // namespace commitd::sql
