#include "sql/executor/table_reader.h"

#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"

namespace commitd::sql {
namespace {

// Rows between two looks at the kill flag.
constexpr uint32_t kRowsBetweenChecks = 128;

class JoinReader {
 public:
  JoinReader(StatementContext& context, const JoinPlan& plan, Evaluation& evaluation, RowConsumer& consumer)
      : context_(context),
        plan_(plan),
        evaluation_(evaluation),
        consumer_(consumer),
        found_(plan.levels.size()) {
    evaluation_.rows.assign(plan.levels.size(), nullptr);
  }

  // False: the consumer has enough.
  Task<Result<bool>> run(size_t number) {
    if (number == plan_.levels.size()) co_return co_await deliver(nullptr);
    const JoinLevel& level = plan_.levels[number];
    bool matched = false;
    Result<bool> more = true;
    if (level.source->rows) {
      more = co_await read_materialised(number, matched);
    } else {
      auto keys = key_ranges(level.path, *level.source->definition, evaluation_);
      if (!keys.ok()) co_return std::move(keys).error();
      if (keys->point)
        more = co_await read_point(number, *keys, matched);
      else
        more = co_await read_ranges(number, *keys, matched);
    }
    if (!more.ok() || !*more || !level.outer || matched) co_return more;
    evaluation_.rows[number] = nullptr;
    if (!holds(level.filter)) co_return true;
    co_return co_await run(number + 1);
  }

 private:
  bool holds(const std::vector<const Expression*>& conditions) {
    Value scratch;
    for (const Expression* condition : conditions) {
      if (!is_true(condition->evaluate(evaluation_, scratch))) return false;
    }
    return true;
  }

  Task<Result<bool>> deliver(txn::FoundRow* last) {
    auto more = consumer_.consume(evaluation_, last);
    if (more.ok() && consumer_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await consumer_.flush());
    co_return more;
  }

  // The current row of this level joins: on to the next level.
  Task<Result<bool>> descend(size_t number, txn::FoundRow* last) {
    if (!holds(plan_.levels[number].filter)) co_return true;
    if (number + 1 == plan_.levels.size()) co_return co_await deliver(last);
    co_return co_await run(number + 1);
  }

  Status check() {
    if (++read_ % kRowsBetweenChecks == 0) COMMITD_RETURN_IF_ERROR(check_interrupted(context_.session));
    return evaluation_.status();
  }

  Task<Result<bool>> read_materialised(size_t number, bool& matched) {
    const JoinLevel& level = plan_.levels[number];
    for (const Row& row : *level.source->rows) {
      evaluation_.rows[number] = row.data();
      const bool joins = holds(level.match);
      COMMITD_CO_RETURN_IF_ERROR(check());
      if (!joins) continue;
      matched = true;
      auto more = co_await descend(number, nullptr);
      if (!more.ok() || !*more) co_return more;
    }
    co_return true;
  }

  Task<Result<bool>> read_point(size_t number, KeyRanges& keys, bool& matched) {
    const JoinLevel& level = plan_.levels[number];
    txn::FoundRow& row = found_[number];
    auto found = co_await context_.transaction().get_by_unique(level.source->definition, *level.path.index,
                                                               keys.ranges[0].lower->values, plan_.mode, row);
    if (!found.ok()) co_return std::move(found).error();
    if (!*found) co_return true;
    evaluation_.rows[number] = row.values.data();
    const bool joins = holds(level.match);
    COMMITD_CO_RETURN_IF_ERROR(check());
    if (!joins) co_return true;
    matched = true;
    co_return co_await descend(number, &row);
  }

  Task<Result<bool>> read_ranges(size_t number, KeyRanges& keys, bool& matched) {
    const JoinLevel& level = plan_.levels[number];
    const bool locking = plan_.mode != txn::ReadMode::Snapshot;
    const bool unlock_others =
        locking && context_.session.settings.isolation <= txn::Isolation::ReadCommitted;
    const bool last_level = number + 1 == plan_.levels.size();
    txn::FoundRow& row = found_[number];
    for (size_t i = 0; i < keys.ranges.size(); ++i) {
      const txn::IndexRange& range = keys.ranges[level.path.backwards ? keys.ranges.size() - 1 - i : i];
      auto cursor = context_.transaction().scan(level.source->definition, *level.path.index, range,
                                                plan_.mode, level.path.backwards);
      for (;;) {
        Result<bool> found = false;
        if (locking)
          found = co_await cursor->next_locked(row);
        else
          found = cursor->next(row);
        if (!found.ok()) co_return std::move(found).error();
        if (!*found) break;
        evaluation_.rows[number] = row.values.data();
        const bool joins = holds(level.match);
        COMMITD_CO_RETURN_IF_ERROR(check());
        if (!joins) {
          if (unlock_others) cursor->unlock_last();
          continue;
        }
        matched = true;
        Result<bool> more = true;
        if (last_level && level.filter.empty()) {  // the common case without a coroutine per row
          more = consumer_.consume(evaluation_, &row);
          if (more.ok() && consumer_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await consumer_.flush());
        } else {
          more = co_await descend(number, &row);
        }
        if (!more.ok() || !*more) co_return more;
      }
    }
    co_return true;
  }

  StatementContext& context_;
  const JoinPlan& plan_;
  Evaluation& evaluation_;
  RowConsumer& consumer_;
  std::vector<txn::FoundRow> found_;
  uint64_t read_ = 0;
};

// The level at which all sources of a condition are known; conditions without sources belong to the first.
size_t level_of(const Expression& condition) {
  size_t level = 0;
  for (uint64_t rest = condition.sources; rest > 1; rest >>= 1) ++level;
  return level;
}

}  // namespace

JoinPlan plan_join(const Scope& scope, const Expression* where, const std::vector<ExpressionPtr>& on,
                   const std::vector<bool>& outer, txn::ReadMode mode) {
  JoinPlan plan;
  plan.mode = mode;
  plan.levels.resize(scope.sources.size());
  for (size_t i = 0; i < plan.levels.size(); ++i) {
    plan.levels[i].source = &scope.sources[i];
    plan.levels[i].outer = outer[i];
    if (on[i]) split_conjunction(*on[i], plan.levels[i].match);
  }
  std::vector<const Expression*> conjuncts;
  if (where != nullptr) split_conjunction(*where, conjuncts);
  for (const Expression* conjunct : conjuncts) {
    JoinLevel& level = plan.levels[level_of(*conjunct)];
    (level.outer ? level.filter : level.match).push_back(conjunct);
  }
  for (size_t i = 0; i < plan.levels.size(); ++i) {
    JoinLevel& level = plan.levels[i];
    if (!level.source->rows)
      level.path = choose_path(*level.source->definition, i, level.match, (uint64_t{1} << i) - 1);
  }
  return plan;
}

Task<Status> read_rows(StatementContext& context, const JoinPlan& plan, Evaluation& evaluation,
                       RowConsumer& consumer) {
  JoinReader reader(context, plan, evaluation, consumer);
  auto more = co_await reader.run(0);
  if (!more.ok()) co_return std::move(more).error();
  co_return evaluation.status();
}

}  // namespace commitd::sql
