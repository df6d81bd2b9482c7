// Control statements (engine/CONTROL.md), KILL and SHUTDOWN.
#include "sql/ast/administration.h"
#include "base/error_codes.h"
#include "sql/administration/clone.h"
#include "sql/administration/require_control.h"
#include "sql/bind/scope.h"
#include "sql/executor/statements.h"
#include "sql/process_list.h"

namespace commitd::sql {
namespace {

using What = ast::ControlInstanceStatement::What;

constexpr std::chrono::milliseconds kHandoverTimeout{10000};

Result<std::vector<Uuid>> parse_members(std::string_view text) {
  std::vector<Uuid> members;
  while (!text.empty()) {
    auto comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    auto uuid = Uuid::parse(word);
    if (!uuid) return make_error(er::kWrongArguments, "MEMBERS: '{}' is not a server UUID", word);
    members.push_back(*uuid);
  }
  return members;
}

// Members of a cluster know each other by the certificates that they serve with.
Status protect(FollowTarget& target, std::string_view name, const ServerContext& server) {
  if (name.empty()) return {};
  TlsFiles files = server.tls_files ? server.tls_files() : TlsFiles{};
  if (files.ca.empty() || files.certificate.empty())
    return make_error(
        er::kWrongArguments,
        "SOURCE_SSL_NAME: this server has no certificates of its own to show and to check others "
        "by: start it with --ssl-ca, --ssl-cert and --ssl-key");
  SourceOptions& options = target.options;
  options.tls = true;
  options.server_name = name;
  options.ca = std::move(files.ca);
  options.certificate = std::move(files.certificate);
  options.key = std::move(files.key);
  return {};
}

Result<FollowTarget> follow_target(const ast::ControlInstanceStatement& statement,
                                   const ServerContext& server) {
  auto uuid = Uuid::parse(statement.uuid);
  if (!uuid) return make_error(er::kWrongArguments, "SOURCE_UUID: '{}' is not a server UUID", statement.uuid);
  if (statement.host.empty() || statement.port == 0 || statement.port > UINT16_MAX) {
    return make_error(er::kWrongArguments, "FOLLOW needs SOURCE_HOST and a SOURCE_PORT from 1 to 65535");
  }
  FollowTarget target{std::string(statement.host), static_cast<uint16_t>(statement.port), *uuid,
                      std::string(statement.user), std::string(statement.password)};
  COMMITD_RETURN_IF_ERROR(protect(target, statement.source_name, server));
  return target;
}

std::chrono::milliseconds milliseconds(std::optional<uint64_t> given, std::chrono::milliseconds otherwise) {
  if (!given) return otherwise;
  return std::chrono::milliseconds(std::min<uint64_t>(*given, UINT32_MAX));
}

// Names are compared as those of variables' values are.
template <class Choice>
Status choose(std::string_view option, std::string_view given,
              std::initializer_list<std::pair<std::string_view, Choice>> choices, Choice& into) {
  if (given.empty()) return {};
  for (const auto& [name, choice] : choices) {
    if (!same_name(name, given)) continue;
    into = choice;
    return {};
  }
  return make_error(er::kWrongArguments, "{} cannot be '{}'", option, given);
}

// What is not said is as it is without semisync's variables in a cluster: a commit waits for ever.
Result<QuorumRequest> quorum_request(const ast::ControlInstanceStatement& statement) {
  auto members = parse_members(statement.members);
  if (!members.ok()) return std::move(members).error();
  QuorumRequest quorum;
  quorum.wait_count = static_cast<uint32_t>(std::min<uint64_t>(statement.wait_count, UINT32_MAX));
  quorum.members = std::move(*members);
  SemisyncTerms& terms = quorum.terms;
  terms.timeout = milliseconds(statement.timeout, terms.timeout);
  terms.lease = milliseconds(statement.lease, terms.lease);
  COMMITD_RETURN_IF_ERROR(choose("ON_TIMEOUT", statement.on_timeout,
                                 {{"async", OnSemisyncTimeout::Async},
                                  {"block", OnSemisyncTimeout::Block},
                                  {"error", OnSemisyncTimeout::Error}},
                                 terms.on_timeout));
  COMMITD_RETURN_IF_ERROR(choose(
      "WAIT_POINT", statement.wait_point,
      {{"AFTER_SYNC", WaitPoint::AfterSync}, {"AFTER_COMMIT", WaitPoint::AfterCommit}}, terms.wait_point));
  return quorum;
}

Task<Status> control(ServerContext& server, const ast::ControlInstanceStatement& statement) {
  InstanceControl& instance = *server.instance;
  if (statement.what == What::Initialize) co_return co_await instance.initialize();
  if (statement.what == What::Fence) co_return co_await instance.fence(statement.epoch);
  if (statement.what == What::Follow) {
    auto target = follow_target(statement, server);
    if (!target.ok()) co_return std::move(target).error();
    co_return co_await instance.follow(statement.epoch, std::move(*target));
  }
  if (statement.what == What::Handover)
    co_return co_await instance.hand_over(statement.epoch, milliseconds(statement.timeout, kHandoverTimeout));
  auto quorum = quorum_request(statement);
  if (!quorum.ok()) co_return std::move(quorum).error();
  if (statement.what == What::Promote)
    co_return co_await instance.promote(statement.epoch, std::move(*quorum));
  co_return co_await instance.set_quorum(statement.epoch, statement.version, std::move(*quorum));
}

class GivingRole {
 public:
  explicit GivingRole(SessionState& session) : session_(session) { session_.gives_role = true; }
  ~GivingRole() { session_.gives_role = false; }
  GivingRole(const GivingRole&) = delete;

 private:
  SessionState& session_;
};

Task<Result<OkInfo>> answer(Task<Status> task) {
  auto status = co_await task;
  if (!status.ok()) co_return std::move(status).error();
  co_return OkInfo{};
}

}  // namespace

Task<Result<OkInfo>> execute_control(SessionState& session, const ast::ControlInstanceStatement& statement) {
  if (statement.what == What::ReloadTls) {
    COMMITD_CO_RETURN_IF_ERROR(session.require(privilege::kConnectionAdmin, "CONNECTION_ADMIN"));
    if (session.server.reload_tls) COMMITD_CO_RETURN_IF_ERROR(session.server.reload_tls());
    co_return OkInfo{};
  }
  if (statement.what == What::Clone)
    co_return co_await answer(execute_clone(session, static_cast<const ast::CloneStatement&>(statement)));
  COMMITD_CO_RETURN_IF_ERROR(require_control(session));
  rollback_transaction(session);  // a role change must not wait for what this session left open
  const GivingRole giving(session);
  co_return co_await answer(control(session.server, statement));
}

Result<OkInfo> execute_kill(SessionState& session, uint64_t id, bool query_only) {
  ProcessList& processes = *session.server.processes;
  auto target = static_cast<uint32_t>(id);
  std::string owner = id <= UINT32_MAX ? processes.user_of(target) : "";
  if (owner.empty()) return make_error(er::kNoSuchThread, "Unknown thread id: {}", id);
  if (owner != session.account.user && !session.has_privilege(privilege::kSuper)) {
    return make_error(er::kKillDenied, "You are not owner of thread {}", id);
  }
  processes.kill(target, !query_only);
  return OkInfo{};
}

Result<OkInfo> execute_shutdown(SessionState& session) {
  COMMITD_RETURN_IF_ERROR(session.require(privilege::kShutdown, "SHUTDOWN"));
  session.server.request_shutdown();
  return OkInfo{};
}

}  // namespace commitd::sql
