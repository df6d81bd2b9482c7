#include "sql/query/precompute.h"

#include <algorithm>

#include "base/error_codes.h"
#include "gtid/gtid_set.h"
#include "sql/expression/conversion.h"
#include "sql/functions/functions.h"
#include "sql/process_list.h"
#include "sql/query/correlated.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);  // how soon a waiting function notices KILL

bool waits(const ast::Expr& tree) {
  return tree.kind == ast::ExprKind::Function &&
         (tree.text == "SLEEP" || tree.text == "WAIT_FOR_EXECUTED_GTID_SET" || tree.text == "GET_LOCK");
}

Deadline deadline_after(double seconds) {
  return Clock::now() + std::chrono::microseconds(static_cast<int64_t>(std::min(seconds, 3e8) * 1e6));
}

Task<Result<Value>> sleep_for(StatementContext& context, double seconds) {
  const Deadline end = deadline_after(seconds);
  while (Clock::now() < end) {
    if (!context.turn.look(context.session).ok()) co_return Value::integer(1);
    const Deadline next = std::min(end, Clock::now() + kPoll);
    co_await sleep_until(next);
  }
  co_return Value::integer(0);
}

// 0 when the set was executed, 1 at the timeout.
Task<Result<Value>> wait_for_gtids(SessionState& session, std::string text, double timeout) {
  auto set = GtidSet::parse(text);
  if (!set.ok())
    co_return make_error(er::kMalformedGtidSetSpecification, "Malformed GTID set specification '{}'.", text);
  if (session.server.transactions == nullptr)
    co_return make_error(er::kOptionPreventsStatement, "The server has no data yet");
  const Deadline end = timeout > 0 ? deadline_after(timeout) : kNoDeadline;
  for (;;) {
    const Deadline next = std::min(end, Clock::now() + kPoll);
    const bool executed = co_await session.server.transactions->pipeline.wait_executed(*set, next);
    if (executed) co_return Value::integer(0);
    if (Clock::now() >= end) co_return Value::integer(1);
    auto interrupted = check_interrupted(session);
    if (!interrupted.ok()) co_return std::move(interrupted).error();
  }
}

// 1 when the session has the lock, 0 at the timeout; a negative one never comes.
Task<Result<Value>> take_named_lock(SessionState& session, std::string name, double timeout) {
  NamedLocks& locks = session.server.processes->named_locks();
  const Deadline end = timeout < 0 ? kNoDeadline : deadline_after(timeout);
  for (;;) {
    if (locks.try_take(name, session.connection_id)) co_return Value::integer(1);
    if (Clock::now() >= end) co_return Value::integer(0);
    auto interrupted = check_interrupted(session);
    if (!interrupted.ok()) co_return std::move(interrupted).error();
    co_await sleep_until(std::min(end, Clock::now() + kPoll));
  }
}

Task<Result<Value>> waited_value(StatementContext& context, const ast::Expr& call) {
  std::vector<Value> values;
  const Scope nothing;
  Binder binder = context.binder(nothing);
  Evaluation evaluation(context.session);
  for (const ast::Expr* argument : call.arguments) {
    auto bound = binder.bind(*argument, "field list");
    if (!bound.ok()) co_return std::move(bound).error();
    Value scratch;
    values.push_back((*bound)->evaluate(evaluation, scratch));
  }
  COMMITD_CO_RETURN_IF_ERROR(evaluation.status());
  if (call.text == "SLEEP" && values.size() == 1) {
    if (values[0].is_null() || to_double(values[0]) < 0)
      co_return make_error(er::kWrongArguments, "Incorrect arguments to sleep.");
    co_return co_await sleep_for(context, to_double(values[0]));
  }
  if (call.text == "WAIT_FOR_EXECUTED_GTID_SET" && !values.empty() && values.size() <= 2) {
    if (values[0].is_null()) co_return Value::null();
    co_return co_await wait_for_gtids(context.session, to_text(values[0]),
                                      values.size() > 1 ? to_double(values[1]) : 0);
  }
  if (call.text == "GET_LOCK" && values.size() == 2) {
    COMMITD_CO_RETURN_IF_ERROR(check_lock_name(values[0]));
    co_return co_await take_named_lock(context.session, to_text(values[0]), to_double(values[1]));
  }
  co_return make_error(er::kWrongParamcountToNativeFct,
                       "Incorrect parameter count in the call to native function '{}'", call.text);
}

// Of a subquery of which the rows are known, or the tables opened: what is around it is bound for another
// time.
bool is_precomputed(const StatementContext& context, const ast::Expr& tree) {
  return context.precomputed.subqueries.contains(&tree) ||
         context.precomputed.correlated.contains(tree.select);
}

Task<Status> run_subquery(StatementContext& context, const ast::Expr& tree) {
  if (is_precomputed(context, tree)) co_return Status();
  RowBuffer buffer(true);
  auto status = co_await run_select(context, *tree.select, buffer);
  if (!status.ok()) {
    // A name that is none in the subquery may be one of the statement around it: that is seen when that is
    // bound.
    // What is unknown inside, or no place for an aggregate function, may be of the statement around it.
    const uint16_t code = status.error().code;
    if (code != er::kBadField && code != er::kInvalidGroupFuncUse) co_return status;
    co_return co_await open_correlated(context, *tree.select);
  }
  auto result = std::make_shared<SubqueryResult>();
  for (const ResultColumn& column : buffer.columns) {
    result->types.push_back(type_of_result(column));
    result->labels.push_back(column.labels);
  }
  result->rows = std::move(buffer.rows);
  context.precomputed.subqueries[&tree] = std::move(result);
  co_return Status();
}

}  // namespace

bool needs_precompute(const ast::Expr* tree) {
  if (tree == nullptr) return false;
  if (tree->select != nullptr || tree->order != nullptr || waits(*tree)) return true;
  return std::any_of(tree->arguments.begin(), tree->arguments.end(), needs_precompute);
}

Task<Status> precompute(StatementContext& context, const ast::Expr* tree, bool may_wait) {
  if (tree == nullptr) co_return Status();
  if (tree->order != nullptr) {
    for (const ast::OrderItem& item : *tree->order)
      COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, item.expression, may_wait));
  }
  for (const ast::Expr* argument : tree->arguments) {
    if (needs_precompute(argument))
      COMMITD_CO_RETURN_IF_ERROR(co_await precompute(context, argument, may_wait));
  }
  if (tree->select != nullptr) co_return co_await run_subquery(context, *tree);
  if (!waits(*tree) || context.precomputed.waited.contains(tree)) co_return Status();
  if (!may_wait) {
    co_return make_error(er::kNotSupportedYet,
                         "This version of MySQL doesn't yet support '{} in a statement that reads tables'",
                         tree->text);
  }
  if (context.describe_only) {  // a number, whichever
    context.precomputed.waited[tree] = Value::integer(0);
    co_return Status();
  }
  auto value = co_await waited_value(context, *tree);
  if (!value.ok()) co_return std::move(value).error();
  context.precomputed.waited[tree] = *std::move(value);
  co_return Status();
}

}  // namespace commitd::sql
