#include "sql/expression/json_aggregate.h"

#include "base/json/errors.h"
#include "sql/expression/conversion.h"
#include "sql/expression/json_value.h"
#include "sql/expression/kept_memory.h"

namespace commitd::sql {
namespace {

// NULLs are elements and members too; a group without rows has no document.
class JsonGroup : public AggregateState {
 public:
  explicit JsonGroup(const AggregateCall& call) : call_(call) {}

 protected:
  json::Node argument(size_t number, Evaluation& evaluation) {
    evaluation_ = &evaluation;
    Value scratch;
    Value value = call_.arguments[number]->evaluate(evaluation, scratch);
    conform_digits(value, call_.arguments[number]->type());
    memory_.keep(memory_of({&value, 1}), evaluation);
    return json_of(value, call_.arguments[number]->type());
  }
  Value document(const json::Node& node) {
    return evaluation_ == nullptr ? Value::null() : json_value(node, *evaluation_);
  }
  const AggregateCall& call_;

 private:
  Evaluation* evaluation_ = nullptr;  // of the rows; none yet without rows
  KeptMemory memory_;
};

class JsonArray : public JsonGroup {
 public:
  using JsonGroup::JsonGroup;
  void add(Evaluation& evaluation) override { elements_.push_back(argument(0, evaluation)); }
  Value result() override { return document(json::Node(elements_)); }

 private:
  json::Array elements_;
};

class JsonObject : public JsonGroup {
 public:
  using JsonGroup::JsonGroup;
  void add(Evaluation& evaluation) override {
    Value scratch;
    const Value& key = call_.arguments[0]->evaluate(evaluation, scratch);
    if (key.is_null()) return evaluation.fail(json::null_key());
    std::string name = to_text(key);
    members_[std::move(name)] = argument(1, evaluation);
  }
  Value result() override { return document(json::Node(members_)); }

 private:
  json::Object members_;
};

}  // namespace

std::unique_ptr<AggregateState> start_json_array(const AggregateCall& call) {
  return std::make_unique<JsonArray>(call);
}

std::unique_ptr<AggregateState> start_json_object(const AggregateCall& call) {
  return std::make_unique<JsonObject>(call);
}

}  // namespace commitd::sql
