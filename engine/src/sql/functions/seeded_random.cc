// RAND(seed): MySQL's own generator, so that a seed gives the numbers that it gives there.
#include "sql/expression/conversion.h"
#include "sql/expression/operands.h"
#include "sql/functions/functions.h"

namespace commitd::sql {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : first_(static_cast<uint32_t>(seed * 0x10001 + 55555555) % kMost),
        second_(static_cast<uint32_t>(seed * 0x10000001) % kMost) {}
  double next() {
    first_ = (first_ * 3 + second_) % kMost;
    second_ = (first_ + second_ + 33) % kMost;
    return static_cast<double>(first_) / static_cast<double>(kMost);
  }

 private:
  static constexpr uint64_t kMost = 0x3FFFFFFF;
  uint64_t first_, second_;
};

// A constant seeds once, for all rows; anything else for each row anew.
class SeededRandom : public OneOperand {
 public:
  explicit SeededRandom(ExpressionPtr seed) : OneOperand(std::move(seed)) { type_ = ValueType::real(); }
  const Value& evaluate(Evaluation& evaluation, Value& scratch) const override {
    if (!generator_ || !operand_->is_constant()) {
      Value seed_scratch;
      const Value& seed = operand_->evaluate(evaluation, seed_scratch);
      generator_.emplace(seed.is_null() ? 0 : to_bits(seed));
    }
    scratch = Value::real(generator_->next());
    return scratch;
  }

 private:
  mutable std::optional<Generator> generator_;
};

}  // namespace

ExpressionPtr make_seeded_random(ExpressionPtr seed) {
  return std::make_unique<SeededRandom>(std::move(seed));
}

}  // namespace commitd::sql
