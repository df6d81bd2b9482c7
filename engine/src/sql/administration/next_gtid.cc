#include "sql/administration/next_gtid.h"

#include "base/error_codes.h"
#include "sql/accounts/account_statements.h"
#include "sql/bind/scope.h"
#include "sql/ddl/ddl.h"
#include "sql/executor/statements.h"

namespace commitd::sql {
namespace {

using ast::StatementKind;

bool commits_by_itself(const ast::Statement& statement) {
  return ddl::is_ddl(statement.kind) || is_account_statement(statement.kind);
}

bool writes(const ast::Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::LoadData:
    case StatementKind::Binlog:
      return true;
    default:
      return commits_by_itself(statement);
  }
}

Error has_to_be_set_anew(const Gtid& gtid) {
  return make_error(
      er::kGtidNextTypeUndefinedGtid,
      "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value "
      "after a COMMIT or ROLLBACK. Please check GTID_NEXT variable manual page for detailed "
      "explanation. Current @@SESSION.GTID_NEXT is '{}'.",
      gtid.to_string());
}

}  // namespace

Status set_next_gtid(SessionState& session, std::string_view value) {
  if (session.transaction && session.transaction->active()) {
    return make_error(er::kCantSetVariableInTransaction,
                      "The system variable gtid_next cannot be set when there is an ongoing transaction.");
  }
  if (session.transaction) session.transaction->commit_under({});
  if (same_name(value, "AUTOMATIC")) {
    session.next_gtid = {};
    return {};
  }
  COMMITD_RETURN_IF_ERROR(session.require(
      privilege::kSuper, "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER"));
  if (same_name(value, "ANONYMOUS")) {
    return make_error(er::kCantSetGtidNextToAnonymousWhenGtidModeIsOn,
                      "@@SESSION.GTID_NEXT cannot be set to ANONYMOUS when @@GLOBAL.GTID_MODE = ON.");
  }
  auto gtid = Gtid::parse(value);
  if (!gtid.ok())
    return make_error(er::kMalformedGtidSpecification, "Malformed GTID specification '{}'.",
                      value.substr(0, 200));
  session.next_gtid = {*gtid, false};
  return {};
}

Result<GtidVerdict> judge_by_next_gtid(SessionState& session, const ast::Statement& statement) {
  const NextGtid& next = session.next_gtid;
  if (next.gtid.empty() || !session.transaction) return GtidVerdict::Execute;
  const bool is_commit = statement.kind == StatementKind::Commit;
  if (!is_commit && !writes(statement)) return GtidVerdict::Execute;
  if (next.used) return is_commit ? Result<GtidVerdict>(GtidVerdict::Execute) : has_to_be_set_anew(next.gtid);
  if (session.server.transactions->pipeline.has_executed(next.gtid))
    return is_commit ? GtidVerdict::Execute : GtidVerdict::Skip;
  // MySQL's way of leaving out what the applier has stopped at.
  if (is_commit && !session.transaction->has_writes() &&
      session.server.transactions->pipeline.skip_unappliable(next.gtid).ok()) {
    session.next_gtid.used = true;
    return GtidVerdict::Execute;
  }
  if (commits_by_itself(statement) && session.transaction->has_writes()) {
    return make_error(er::kCantDoImplicitCommitInTrxWhenGtidNextIsSet,
                      "Cannot execute statements with implicit commit inside a transaction when "
                      "@@SESSION.GTID_NEXT == '{}'",
                      next.gtid.to_string());
  }
  if (is_commit) begin_if_needed(session);  // one without any statement is logged too
  session.transaction->commit_under(next.gtid);
  return GtidVerdict::Execute;
}

Gtid last_committed_gtid(const SessionState& session) {
  return session.transaction ? session.transaction->last_gtid() : Gtid();
}

void note_used_gtid(SessionState& session, const Gtid& last_before) {
  NextGtid& next = session.next_gtid;
  if (next.gtid.empty() || last_before == next.gtid) return;
  if (last_committed_gtid(session) == next.gtid) next.used = true;
}

}  // namespace commitd::sql
