#include "sql/plan_cache/point_select.h"

#include "sql/executor/statement_frame.h"
#include "sql/executor/statement_meter.h"
#include "sql/expression/conversion.h"
#include "storage/record/key_codec.h"
#include "txn/point_read.h"

namespace commitd::sql {
namespace {

// It would be a transaction of its own, and no SET TRANSACTION or LOCK TABLES has a say in it.
bool is_on_its_own(SessionState& session) {
  return session.settings.autocommit && !session.in_explicit_transaction && session.transaction &&
         !session.transaction->active() && !session.transaction->depends_on_unacknowledged() &&
         !session.next_isolation && !session.next_read_only && !session.table_locks.tables_locked();
}

enum class Outcome { Row, NoRow, AnotherWay };

class PointSelect {
 public:
  PointSelect(SessionState& session, CachedSelect& kept)
      : session_(session),
        kept_(kept),
        level_(kept.planned().plan.levels[0]),
        buffers_(kept.buffers()),
        evaluation_(session) {
    evaluation_.rows.assign(1, nullptr);
  }

  Outcome read() {
    const Outcome outcome = find_row();
    // The definition by which the row was decoded is still the one it was written by.
    if (outcome == Outcome::AnotherWay || evaluation_.failed()) return Outcome::AnotherWay;
    return kept_.has_present_table(session_) ? outcome : Outcome::AnotherWay;
  }

  // From the transaction's snapshot, under the table's lock.
  Task<Result<Outcome>> read(txn::Transaction& transaction) {
    const Outcome wanted = find_key();
    if (wanted != Outcome::Row) co_return wanted;
    txn::FoundRow& found = buffers_.found;
    const TablePtr& table = kept_.planned().bound->scope.sources[0].definition;
    auto read = co_await transaction.get(table, buffers_.key, txn::ReadMode::Snapshot, found);
    if (!read.ok()) co_return std::move(read).error();
    const Outcome outcome = *read ? take(found.values) : Outcome::NoRow;
    COMMITD_CO_RETURN_IF_ERROR(evaluation_.status());
    co_return outcome;
  }

  void count() const {
    if (looked_up_) session_.status.add(StatusVariable::HandlerReadKey);
    if (examined_) ++session_.rows_examined;
  }

 private:
  // Row: there may be one with this key.
  Outcome find_key() {
    switch (point_key(level_.path, kept_.table(), evaluation_, buffers_.key)) {
      case PointKey::NotExact:
        return Outcome::AnotherWay;
      case PointKey::NoRow:
        return Outcome::NoRow;
      case PointKey::Found:
        break;
    }
    looked_up_ = true;
    return Outcome::Row;
  }

  Outcome find_row() {
    const TableDef& table = kept_.table();
    if (const Outcome wanted = find_key(); wanted != Outcome::Row) return wanted;
    const std::string key = index_key_prefix(table, table.clustered(), buffers_.key);
    const auto found = txn::read_alone(*session_.server.transactions, key, buffers_.stored);
    if (!found.ok() || *found == txn::PointRead::DefinitionMayChange) return Outcome::AnotherWay;
    if (*found == txn::PointRead::NotThere) return Outcome::NoRow;
    if (!decode(table)) return Outcome::AnotherWay;
    return take(buffers_.row);
  }

  Outcome take(const Row& row) {
    examined_ = true;
    evaluation_.rows[0] = row.data();
    if (!matches()) return Outcome::NoRow;
    project();
    return Outcome::Row;
  }

  // Its errors are told by the other way.
  bool decode(const TableDef& table) {
    std::string scratch;
    const auto image = image_of_stored_row(table, buffers_.stored, scratch);
    if (!image.ok()) return false;
    if (const auto& wanted = kept_.wanted_columns()) return wanted->decode(*image, buffers_.row).ok();
    return decode_leading_row(table, *image, buffers_.row).ok();
  }

  bool matches() {
    Value scratch;
    for (const Expression* condition : level_.match) {
      if (!is_true(condition->evaluate(evaluation_, scratch))) return false;
    }
    return true;
  }

  void project() {
    const Expressions& items = kept_.planned().bound->items;
    buffers_.output.resize(items.size());
    Value scratch;
    for (size_t i = 0; i < items.size(); ++i) {
      buffers_.output[i] = items[i]->evaluate(evaluation_, scratch);
      conform_digits(buffers_.output[i], items[i]->type());
    }
  }

  SessionState& session_;
  CachedSelect& kept_;
  const JoinLevel& level_;
  CachedSelect::Buffers& buffers_;
  Evaluation evaluation_;
  bool looked_up_ = false, examined_ = false;
};

// Behind the columns.
void send(SessionState& session, CachedSelect& kept, bool found, ResultSink& sink) {
  if (found && session.settings.select_limit > 0) sink.send_row(kept.buffers().output);
  session.found_rows = found ? 1 : 0;
}

}  // namespace

bool run_alone(SessionState& session, CachedSelect& kept, ResultSink& sink) {
  if (!kept.holds(session) || !kept.is_point() || !is_on_its_own(session)) return false;
  start_statement(session, kept.select());
  StatementMeter meter(session, kept.select(), sink);
  PointSelect select(session, kept);
  const Outcome outcome = select.read();
  if (outcome == Outcome::AnotherWay) {
    meter.withdraw();
    return false;
  }
  count_statement(session, kept.select());
  CachedSelect::count_reuse();
  select.count();
  session.status.add(StatusVariable::HandlerCommit);
  begin_kept_rows(sink, kept.columns());
  send(session, kept, outcome == Outcome::Row, sink);
  if (tells_of_statements(session)) tell_of_statement(session, kept.select(), false);
  Answer rows{true, {}};
  end_statement(session, kept.select(), rows, sink, false);
  kept.shrink();
  return true;
}

Task<Result<bool>> run_point(StatementContext& context, CachedSelect& kept, ResultSink& sink) {
  SessionState& session = context.session;
  if (!kept.is_point() || kept.planned().plan.mode != txn::ReadMode::Snapshot) co_return false;
  if (!is_silent_point(kept.planned().plan.levels[0].path, kept.table())) co_return false;
  PointSelect select(session, kept);
  const auto outcome = co_await select.read(context.transaction());
  if (!outcome.ok()) co_return outcome.error();
  if (*outcome == Outcome::AnotherWay) co_return false;
  select.count();
  send(session, kept, *outcome == Outcome::Row, sink);
  co_return true;
}

}  // namespace commitd::sql
