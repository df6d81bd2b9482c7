#include "sql/shown_session.h"

#include <mutex>

namespace commitd::sql {
namespace {

const observe::WaitEvent& shown_waits() {
  static const observe::WaitEvent event("wait/synch/mutex/sql/THD::LOCK_thd_query");
  return event;
}

std::string_view lock_wait_state(const txn::LockOwner& owner) {
  switch (owner.wait()) {
    case txn::LockOwner::Wait::Table:
      return "Waiting for table metadata lock";
    case txn::LockOwner::Wait::Row:
      return "Waiting for row lock";
    case txn::LockOwner::Wait::Replicas:
      return "Waiting for replicas to catch up";
    case txn::LockOwner::Wait::Commit:
      return "waiting for handler commit";
    default:
      return "";
  }
}

}  // namespace

ShownSession::ShownSession(const SessionState& session) : session_(session), mutex_(shown_waits()) {}

void ShownSession::show_client() {
  const std::lock_guard lock(mutex_);
  shown_.user = session_.account.user;
  shown_.host = session_.client_host;
  shown_.db = session_.database;
}

void ShownSession::show_command(std::string_view command, std::string_view text) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  command_ = command;
  text_ = text;
  since_ = now;
  if (shown_.db != session_.database) shown_.db = session_.database;
}

void ShownSession::show_state(std::string_view state) {
  const std::lock_guard lock(mutex_);
  shown_.state = state;
}

ProcessInfo ShownSession::describe() const {
  const std::lock_guard lock(mutex_);
  ProcessInfo info = shown_;
  info.id = session_.connection_id;
  info.command = command_;
  info.info = text_;
  if (info.state.empty()) info.state = lock_wait_state(session_.lock_owner);
  info.seconds =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - since_).count());
  return info;
}

}  // namespace commitd::sql
