#include "sql/query/table_reader.h"

#include <algorithm>

#include "base/error_codes.h"
#include "sql/expression/conversion.h"
#include "sql/expression/operators.h"
#include "sql/federated/remote_rows.h"
#include "sql/query/join_order.h"
#include "txn/column_choice.h"

namespace commitd::sql {
namespace {

// How MySQL counts the first row asked for: by key, or from an end of the index.
StatusVariable first_step(const txn::IndexRange& range, bool backwards) {
  if (range.lower || range.upper) return StatusVariable::HandlerReadKey;
  return backwards ? StatusVariable::HandlerReadLast : StatusVariable::HandlerReadFirst;
}

StatusVariable next_step(const JoinLevel& level) {
  return level.path.backwards ? StatusVariable::HandlerReadPrev : StatusVariable::HandlerReadNext;
}

class JoinReader {
 public:
  JoinReader(StatementContext& context, const JoinPlan& plan, Evaluation& evaluation, RowConsumer& consumer,
             std::vector<txn::FoundRow>* found)
      : context_(context),
        plan_(plan),
        evaluation_(evaluation),
        consumer_(consumer),
        matched_(plan.nests.size()),
        rows_left_(plan.most_rows),
        found_(found == nullptr ? own_found_ : *found) {
    found_.resize(plan.levels.size());
    evaluation_.rows.assign(plan.levels.size(), nullptr);
  }

  // False: the consumer has enough.
  Task<Result<bool>> run(size_t number) {
    if (number == plan_.levels.size()) return deliver(nullptr);
    return enter(number, 0);
  }

 private:
  // `known`: one that is known to hold.
  bool holds(const std::vector<const Expression*>& conditions, const Expression* known = nullptr) {
    Value scratch;
    for (const Expression* condition : conditions) {
      if (condition != known && !is_true(condition->evaluate(evaluation_, scratch))) return false;
    }
    return true;
  }

  Task<Result<bool>> deliver(txn::FoundRow* last) {
    auto more = consumer_.consume(evaluation_, last);
    if (more.ok() && consumer_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await consumer_.flush());
    co_return more;
  }

  // Reads a level; the nests that begin there come first, from the outermost.
  Task<Result<bool>> enter(size_t number, size_t depth) {
    const JoinLevel& level = plan_.levels[number];
    if (depth == level.begins.size()) co_return co_await read(number);
    const size_t nest = level.begins[depth];
    matched_[nest] = false;
    auto more = co_await enter(number, depth + 1);
    if (!more.ok() || !*more || matched_[nest]) co_return more;
    const JoinNest& bounds = plan_.nests[nest];
    for (size_t i = bounds.first; i <= bounds.last; ++i) evaluation_.rows[i] = nullptr;
    if (!holds(plan_.filters[nest])) co_return true;
    const auto& ends = plan_.levels[bounds.last].ends;
    const auto own = static_cast<size_t>(std::find(ends.begin(), ends.end(), nest) - ends.begin());
    co_return co_await leave(bounds.last, own + 1, nullptr);
  }

  Task<Result<bool>> read(size_t number) {
    const JoinLevel& level = plan_.levels[number];
    if (level.source->rows) co_return co_await read_materialised(number, *level.source->rows);
    auto keys = key_ranges(level.path, *level.source->definition, evaluation_);
    if (!keys.ok()) co_return std::move(keys).error();
    if (is_remote(*level.source->definition)) co_return co_await read_remote(number, *keys);
    if (keys->point) co_return co_await read_point(number, *keys);
    co_return co_await read_ranges(number, *keys);
  }

  // The rows up to this level join: through the nests that end here, from number `from`, and on to the next
  // level.
  Task<Result<bool>> leave(size_t number, size_t from, txn::FoundRow* last) {
    const auto& ends = plan_.levels[number].ends;
    for (size_t i = from; i < ends.size(); ++i) {
      matched_[ends[i]] = true;
      if (!holds(plan_.filters[ends[i]])) co_return true;
    }
    if (number + 1 == plan_.levels.size()) co_return co_await deliver(last);
    co_return co_await run(number + 1);
  }

  Status check() {
    if (evaluation_.failed()) return evaluation_.status();
    return context_.turn.count(context_.session);
  }
  bool turn_is_over() const { return context_.turn.is_over(); }

  // Answers are kept for as long as the same is asked: an inner table that is read from end to end is fetched
  // once.
  Task<Result<bool>> read_remote(size_t number, const KeyRanges& keys) {
    if (keys.ranges.empty()) co_return true;
    const JoinLevel& level = plan_.levels[number];
    remote_.resize(plan_.levels.size());
    RemoteAnswer& answer = remote_[number];
    const auto& columns = plan_.mode == txn::ReadMode::Snapshot ? level.read_columns : std::nullopt;
    RemoteQuestion question(*context_.session.server.catalog, *level.source->definition, columns,
                            *level.path.index, keys.ranges);
    if (!question.at.ok() || answer.select != question.select)
      COMMITD_CO_RETURN_IF_ERROR(co_await ask_remote(context_, question, answer));
    co_return co_await read_materialised(number, answer.rows);
  }

  Task<Result<bool>> read_materialised(size_t number, const std::vector<Row>& rows) {
    const JoinLevel& level = plan_.levels[number];
    for (const Row& row : rows) {
      examine();
      evaluation_.rows[level.number] = row.data();
      const bool joins = holds(level.match);
      COMMITD_CO_RETURN_IF_ERROR(check());
      if (turn_is_over()) co_await context_.turn.give_up();
      if (!joins) continue;
      auto more = co_await leave(number, 0, nullptr);
      if (!more.ok() || !*more) co_return more;
    }
    co_return true;
  }

  txn::Transaction& transaction_of(const JoinLevel& level) {
    if (plan_.mode == txn::ReadMode::Snapshot) return context_.transaction();
    txn::Transaction& transaction = context_.transaction_for(*level.source->definition);
    transaction.set_locked_rows(plan_.locked_rows);
    return transaction;
  }

  // MySQL estimates beforehand how many rows the whole join has; here they are counted.
  void examine() {
    ++context_.session.rows_examined;
    if (rows_left_-- != 0) return;
    evaluation_.fail(
        make_error(er::kTooBigSelect,
                   "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use "
                   "SET SQL_BIG_SELECTS=1 or SET MAX_JOIN_SIZE=# if the SELECT is okay"));
  }

  // `step`: how the row that was asked for is counted, and then how the next one will be.
  void count(size_t number, StatusVariable& step) {
    context_.session.status.add(step);
    step = next_step(plan_.levels[number]);
  }

  // The level's row is now this one. Says whether it joins the rows of the levels before.
  bool take(size_t number, const txn::FoundRow& row, const Expression* known) {
    const JoinLevel& level = plan_.levels[number];
    examine();
    evaluation_.rows[level.number] = row.values.data();
    return holds(level.match, known);
  }

  Task<Result<bool>> read_point(size_t number, KeyRanges& keys) {
    const JoinLevel& level = plan_.levels[number];
    txn::FoundRow& row = found_[number];
    context_.session.status.add(StatusVariable::HandlerReadKey);
    auto found = co_await transaction_of(level).get_by_unique(level.source->definition, *level.path.index,
                                                              keys.ranges[0].lower->values, plan_.mode, row);
    if (!found.ok()) co_return std::move(found).error();
    if (!*found) co_return true;
    const bool joins = take(number, row, nullptr);
    COMMITD_CO_RETURN_IF_ERROR(check());
    if (turn_is_over()) co_await context_.turn.give_up();
    if (!joins) co_return true;
    co_return co_await leave(number, 0, &row);
  }

  // Why rows are not read on for a moment.
  enum class Pause : uint8_t { AtEnd, Enough, ToFlush, TurnIsOver };

  // The last table's rows in a snapshot: nothing but a full buffer has to be waited for.
  Result<Pause> read_snapshot(size_t number, txn::Cursor& cursor, const Expression* known,
                              StatusVariable& step) {
    txn::FoundRow& row = found_[number];
    for (;;) {
      const Result<bool> found = cursor.next(row);
      count(number, step);
      if (!found.ok()) return found.error();
      if (!*found) return Pause::AtEnd;
      const bool joins = take(number, row, known);
      COMMITD_RETURN_IF_ERROR(check());
      if (joins) {
        const Result<bool> more = consumer_.consume(evaluation_, &row);
        if (!more.ok()) return more.error();
        if (!*more) return Pause::Enough;
        if (consumer_.wants_flush()) return Pause::ToFlush;
      }
      if (turn_is_over()) return Pause::TurnIsOver;
    }
  }

  Task<Result<bool>> read_to_end(size_t number, txn::Cursor& cursor, const Expression* known,
                                 StatusVariable step) {
    for (;;) {
      const auto pause = read_snapshot(number, cursor, known, step);
      if (!pause.ok()) co_return pause.error();
      if (*pause == Pause::AtEnd || *pause == Pause::Enough) co_return *pause == Pause::AtEnd;
      if (*pause == Pause::ToFlush) COMMITD_CO_RETURN_IF_ERROR(co_await consumer_.flush());
      if (turn_is_over()) co_await context_.turn.give_up();
    }
  }

  // Where rows are locked or joined with those of further levels.
  Task<Result<bool>> read_waiting(size_t number, txn::Cursor& cursor, const Expression* known,
                                  StatusVariable step) {
    const JoinLevel& level = plan_.levels[number];
    const bool locking = plan_.mode != txn::ReadMode::Snapshot;
    const bool unlock_others = locking && context_.transaction().isolation() <= txn::Isolation::ReadCommitted;
    const bool last_level = number + 1 == plan_.levels.size();
    txn::FoundRow& row = found_[number];
    if (plan_.reads_past_locks && unlock_others) cursor.read_past_locks();
    for (;;) {
      Result<bool> found = false;
      if (locking)
        found = co_await cursor.next_locked(row);
      else
        found = cursor.next(row);
      count(number, step);
      if (!found.ok()) co_return std::move(found).error();
      if (!*found) co_return true;
      bool joins = take(number, row, known);
      COMMITD_CO_RETURN_IF_ERROR(check());
      if (joins && locking && cursor.is_unlocked()) {
        found = co_await cursor.lock_last(row);
        if (!found.ok()) co_return std::move(found).error();
        joins = *found && take(number, row, known);
        COMMITD_CO_RETURN_IF_ERROR(check());
      }
      if (!joins && unlock_others) cursor.unlock_last();
      if (turn_is_over()) co_await context_.turn.give_up();
      if (!joins) continue;
      Result<bool> more = true;
      if (last_level && level.ends.empty()) {  // the common case without a coroutine per row
        more = consumer_.consume(evaluation_, &row);
        if (more.ok() && consumer_.wants_flush()) COMMITD_CO_RETURN_IF_ERROR(co_await consumer_.flush());
      } else {
        more = co_await leave(number, 0, &row);
      }
      if (!more.ok() || !*more) co_return more;
    }
  }

  Task<Result<bool>> read_ranges(size_t number, KeyRanges& keys) {
    const JoinLevel& level = plan_.levels[number];
    const bool locking = plan_.mode != txn::ReadMode::Snapshot;
    const bool nothing_waits = !locking && number + 1 == plan_.levels.size() && level.ends.empty();
    for (size_t i = 0; i < keys.ranges.size(); ++i) {
      const txn::IndexRange& range = keys.ranges[level.path.backwards ? keys.ranges.size() - 1 - i : i];
      auto cursor = transaction_of(level).scan(level.source->definition, *level.path.index, range, plan_.mode,
                                               level.path.backwards);
      if (level.read_columns && !locking) txn::decode_only(*cursor, *level.read_columns);
      const StatusVariable step = first_step(range, level.path.backwards);
      Result<bool> more = true;
      if (nothing_waits)
        more = co_await read_to_end(number, *cursor, keys.implied, step);
      else
        more = co_await read_waiting(number, *cursor, keys.implied, step);
      if (!more.ok() || !*more) co_return more;
    }
    co_return true;
  }

  StatementContext& context_;
  const JoinPlan& plan_;
  Evaluation& evaluation_;
  RowConsumer& consumer_;
  std::vector<bool> matched_;  // per nest
  uint64_t rows_left_;         // to look at
  std::vector<txn::FoundRow> own_found_;
  std::vector<txn::FoundRow>& found_;
  std::vector<RemoteAnswer> remote_;  // per level
};

void add_levels(JoinPlan& plan, const Scope& scope, const std::vector<size_t>& order) {
  for (const size_t number : order) {
    JoinLevel& level = plan.levels.emplace_back();
    level.source = &scope.sources[number];
    level.number = number;
  }
}

void add_nests(JoinPlan& plan, const std::vector<JoinNest>& nests) {
  plan.nests = nests;
  plan.filters.resize(nests.size());
  for (size_t i = 0; i < nests.size(); ++i) {
    plan.levels[nests[i].first].begins.push_back(i);
    auto& ends = plan.levels[nests[i].last].ends;
    ends.insert(ends.begin(), i);
  }
}

// The level at which all sources of a condition are known; conditions without sources belong to the first.
size_t level_of(const JoinPlan& plan, const Expression& condition) {
  size_t found = 0;
  for (size_t i = 0; i < plan.levels.size(); ++i) {
    if ((condition.sources >> plan.levels[i].number & 1) != 0) found = i;
  }
  return found;
}

// A conjunct, and whose ON it comes from: -1 for WHERE and inner joins.
struct Placed {
  const Expression* conjunct;
  int nest;
};

std::vector<Placed> conjuncts_of(const std::vector<BoundCondition>& on, const Expression* where) {
  std::vector<Placed> all;
  std::vector<const Expression*> conjuncts;
  const auto add = [&](const Expression& condition, int nest) {
    conjuncts.clear();
    split_conjunction(condition, conjuncts);
    for (const Expression* conjunct : conjuncts) all.push_back({conjunct, nest});
  };
  for (const BoundCondition& condition : on) add(*condition.expression, condition.nest);
  if (where != nullptr) add(*where, -1);
  return all;
}

// Puts a conjunct where all its sources are known.
void place(JoinPlan& plan, const Placed& placed) {
  size_t level = level_of(plan, *placed.conjunct);
  if (placed.nest >= 0) level = std::max(level, plan.nests[static_cast<size_t>(placed.nest)].first);
  for (size_t i = 0; i < plan.nests.size(); ++i) {
    const JoinNest& inner = plan.nests[i];
    if (inner.parent != placed.nest || level < inner.first || level > inner.last) continue;
    plan.filters[i].push_back(placed.conjunct);
    return;
  }
  plan.levels[level].match.push_back(placed.conjunct);
}

std::vector<size_t> chosen_order(const Scope& scope, const std::vector<Placed>& placed) {
  std::vector<const Expression*> conjuncts;
  for (const Placed& one : placed) conjuncts.push_back(one.conjunct);
  return join_order(scope, conjuncts);
}

}  // namespace

JoinPlan plan_join(const Scope& scope, const std::vector<JoinNest>& nests,
                   const std::vector<BoundCondition>& on, const Expression* where, txn::ReadMode mode,
                   TableOrder order) {
  JoinPlan plan;
  plan.mode = mode;
  const std::vector<Placed> conjuncts = conjuncts_of(on, where);
  const bool chosen = order == TableOrder::Chosen && nests.empty();  // outer joins keep theirs
  add_levels(plan, scope, chosen ? chosen_order(scope, conjuncts) : written_order(scope));
  add_nests(plan, nests);
  for (const Placed& conjunct : conjuncts) place(plan, conjunct);
  uint64_t known = 0;
  for (JoinLevel& level : plan.levels) {
    if (!level.source->rows)
      level.path = choose_path(*level.source->definition, level.number, level.match, known);
    known |= uint64_t{1} << level.number;
  }
  return plan;
}

void count_paths(const JoinPlan& plan, StatusCounters& status) {
  for (size_t i = 0; i < plan.levels.size(); ++i) {
    const AccessPath& path = plan.levels[i].path;
    const bool first = i == 0;
    if (path.bounds.empty()) {
      status.add(first ? StatusVariable::SelectScan : StatusVariable::SelectFullJoin);
    } else if (first && !path.unique) {
      status.add(StatusVariable::SelectRange);
    }
  }
}

Task<Status> read_rows(StatementContext& context, const JoinPlan& plan, Evaluation& evaluation,
                       RowConsumer& consumer, std::vector<txn::FoundRow>* found) {
  for (const JoinLevel& level : plan.levels)
    context.session.table_scans += !level.source->rows && level.path.bounds.empty();
  if (plan.mode != txn::ReadMode::Snapshot) {
    context.transaction().set_locked_rows(plan.locked_rows);
  } else if (context.session.transaction && context.session.transaction->depends_on_unacknowledged()) {
    // A snapshot that is taken now must have what this transaction has seen under its locks.
    COMMITD_CO_RETURN_IF_ERROR(co_await context.session.transaction->settle());
  }
  JoinReader reader(context, plan, evaluation, consumer, found);
  auto more = co_await reader.run(0);
  if (!more.ok()) co_return std::move(more).error();
  co_return evaluation.status();
}

}  // namespace commitd::sql
