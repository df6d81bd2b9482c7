#include "replication/ack_tracker.h"

#include <algorithm>

namespace commitd::replication {

AckTracker::AckTracker(std::function<void(LogPosition)> acknowledge, std::function<void()> readers_changed)
    : acknowledge_(std::move(acknowledge)), readers_changed_(std::move(readers_changed)) {}

void AckTracker::configure(Voters voters, Quorum quorum) {
  std::lock_guard lock(mutex_);
  active_ = true;
  voters_ = voters;
  quorum_ = std::move(quorum);
  advance();
}

void AckTracker::announce_from(LogPosition position) {
  std::lock_guard lock(mutex_);
  floor_ = position;
  advance();
}

void AckTracker::stop() {
  std::lock_guard lock(mutex_);
  active_ = false;
  quorum_ = {};
  floor_ = {};
  servers_.clear();
  announced_ = {};
}

void AckTracker::pause() {
  std::lock_guard lock(mutex_);
  active_ = false;
}

AckTracker::Token AckTracker::attach(const Uuid& server, LogPosition held) {
  std::lock_guard lock(mutex_);
  const Token token = ++last_token_;
  servers_[server] = Server{held, token, {}};
  advance();
  readers_changed_();
  return token;
}

void AckTracker::acknowledged(Token token, LogPosition held) {
  std::lock_guard lock(mutex_);
  for (auto& [uuid, server] : servers_) {
    if (server.token != token) continue;
    if (held <= server.held) return;
    server.held = held;
    if (counts(uuid)) advance();
    return;
  }
}

void AckTracker::detach(Token token) {
  std::lock_guard lock(mutex_);
  for (auto& [uuid, server] : servers_) {
    if (server.token == token) server.token = 0;
  }
  readers_changed_();
}

std::optional<Clock::time_point> AckTracker::heard(Token token, Clock::time_point asked) {
  std::lock_guard lock(mutex_);
  std::vector<Clock::time_point> moments;
  bool known = false;
  for (auto& [uuid, server] : servers_) {
    if (server.token == token) {
      server.heard = asked;
      known = true;
    }
    if (active_ && counts(uuid) && server.heard) moments.push_back(*server.heard);
  }
  if (!known || quorum_.wait_count == 0 || moments.size() < quorum_.wait_count) return std::nullopt;
  const auto nth = moments.begin() + (quorum_.wait_count - 1);
  std::nth_element(moments.begin(), nth, moments.end(), std::greater<>());
  return *nth;
}

bool AckTracker::is_voter(const Uuid& server) const {
  std::lock_guard lock(mutex_);
  return active_ && counts(server);
}

size_t AckTracker::attached() const {
  std::lock_guard lock(mutex_);
  return static_cast<size_t>(
      std::count_if(servers_.begin(), servers_.end(), [](const auto& one) { return one.second.token != 0; }));
}

LogPosition AckTracker::announced() const {
  std::lock_guard lock(mutex_);
  return announced_;
}

bool AckTracker::is_held(LogPosition up_to) const {
  std::lock_guard lock(mutex_);
  return quorum_.wait_count == 0 || announced_ >= up_to;
}

AckTracker::Snapshot AckTracker::snapshot(const std::function<LogPosition()>& acknowledged) const {
  std::lock_guard lock(mutex_);
  const LogPosition watermark = acknowledged();
  Snapshot result;
  result.quorum = quorum_;
  result.active = active_;
  for (const auto& [uuid, server] : servers_) {
    if (server.token != 0) ++result.attached;
    if (!active_ || !counts(uuid)) continue;
    if (server.token != 0) result.attached_voters.push_back(uuid);
    if (server.held >= watermark) result.holders.push_back(uuid);
  }
  return result;
}

bool AckTracker::counts(const Uuid& server) const {
  return voters_ == Voters::Anybody ||
         std::binary_search(quorum_.members.begin(), quorum_.members.end(), server);
}

// The wait_count-th greatest position that voters hold is held by wait_count of them.
void AckTracker::advance() {
  if (!active_ || quorum_.wait_count == 0) return;
  std::vector<LogPosition> held;
  for (const auto& [uuid, server] : servers_) {
    if (counts(uuid)) held.push_back(server.held);
  }
  if (held.size() < quorum_.wait_count) return;
  const auto nth = held.begin() + (quorum_.wait_count - 1);
  std::nth_element(held.begin(), nth, held.end(), std::greater<>());
  if (*nth <= announced_ || *nth < floor_) return;
  announced_ = *nth;
  acknowledge_(announced_);
  readers_changed_();
}

}  // namespace commitd::replication
