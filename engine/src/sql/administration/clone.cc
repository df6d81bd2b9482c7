#include "sql/administration/clone.h"

#include "base/error_codes.h"
#include "sql/clone_control.h"
#include "sql/maintenance.h"

namespace commitd::sql {
namespace {

Task<Status> clone_local(SessionState& session, std::string directory) {
  COMMITD_CO_RETURN_IF_ERROR(require_data(session));
  if (!session.has_privilege(privilege::kSuper))
    COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kBackupAdmin, "BACKUP_ADMIN"));
  Maintenance* maintenance = session.server.maintenance;
  if (maintenance == nullptr) co_return make_error(er::kNotSupportedYet, "This server makes no backups");
  auto made = co_await maintenance->backup(std::move(directory));
  if (!made.ok()) co_return std::move(made).error();
  co_return Status();
}

Result<CloneRequest> request_of(const SessionState& session, const ast::CloneStatement& statement) {
  if (statement.host.empty() || statement.port == 0 || statement.port > UINT16_MAX)
    return make_error(er::kWrongArguments, "CLONE INSTANCE needs a host and a port from 1 to 65535");
  CloneRequest request;
  request.connection_id = session.connection_id;
  request.user = statement.user;
  request.host = statement.host;
  request.password = statement.password;
  request.port = static_cast<uint16_t>(statement.port);
  request.directory = statement.directory;
  request.any_donor = session.account.is_operator();
  request.tls = static_cast<CloneRequest::Tls>(statement.tls);
  return request;
}

}  // namespace

Task<Status> execute_clone(SessionState& session, const ast::CloneStatement& statement) {
  if (session.transaction) COMMITD_CO_RETURN_IF_ERROR(co_await implicit_commit(session));
  if (statement.local) {
    std::string directory(statement.directory);
    co_return co_await clone_local(session, std::move(directory));
  }
  if (!session.account.is_operator())
    COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kSuper, "SUPER or CLONE_ADMIN"));
  auto request = request_of(session, statement);
  if (!request.ok()) co_return std::move(request).error();
  Maintenance* maintenance = session.server.maintenance;
  CloneControl* clones = maintenance == nullptr ? nullptr : maintenance->clones();
  if (clones == nullptr) co_return make_error(er::kNotSupportedYet, "This server is not cloned into");
  std::function<bool()> interrupted = [&session] { return session.interrupted(); };
  co_return co_await clones->clone(*std::move(request), session.engine_data, std::move(interrupted));
}

}  // namespace commitd::sql
