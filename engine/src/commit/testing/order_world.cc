#include "commit/testing/order_world.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "commit/commit_queue.h"

namespace commitd::binlog::testing {
namespace {

Uuid uuid_of(char who) {
  Uuid uuid{};
  uuid.bytes.fill(static_cast<uint8_t>(who));
  return uuid;
}
const Uuid kOwn = uuid_of('a'), kPeer = uuid_of('b');

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

std::string text(LogPosition position) {
  return fmt::format("{}:{}", position.file, position.offset);
}

}  // namespace

World::World(const Config& config)
    : config_(config), order_({kOwn, 0, log_end_, {}, 0, {{log_end_, 0, {}}, {}}}) {
  point_.position = persisted_point_.position = log_end_;
  set_gate();
}

template <class Step>
void World::step(std::vector<World>& to, const char* name, Step take) const {
  World world = *this;
  world.path_ += fmt::format("{} > ", name);
  try {
    take(world);
    world.check();
  } catch (const std::runtime_error& broken) {
    throw std::runtime_error(world.path_ + broken.what());
  }
  to.push_back(std::move(world));
}

std::vector<World> World::next() const {
  std::vector<World> to;
  add_engine_steps(to);
  if (role_ != Role::Undecided) add_log_steps(to);
  if (role_ != Role::Undecided && !config_.alone) add_peer_steps(to);
  add_role_steps(to);
  return to;
}

// --- the log thread ---

void World::add_log_steps(std::vector<World>& to) const {
  if (stage_ == Stage::Numbered) step(to, "write", [](World& w) { w.write(); });
  if (stage_ == Stage::Written) step(to, "durable", [](World& w) { w.make_durable(); });
  if (stage_ != Stage::None) {
    if (stage_ == Stage::Numbered) {
      step(to, "disk full", [](World& w) { w.fail_group(); });
    }
    return;
  }
  const size_t left = config_.most_transactions - ids_;
  if (role_ == Role::Master && epoch_due_) {
    if (left > 0) step(to, "epoch", [](World& w) { w.number_local({{.epoch = w.epoch_}}); });
  } else if (role_ == Role::Master && !frozen_) {
    if (left > 0) {
      step(to, "commit", [](World& w) { w.number_local({{}}); });
      step(to, "commit under a GTID", [](World& w) {
        w.number_local({{.gtid = {kOwn, w.order_.next_gno() + 1}}});
      });
      step(to, "commit, sql_log_bin=0", [](World& w) { w.number_local({{.id = -1}}); });
    }
    if (left > 1) step(to, "two commits", [](World& w) { w.number_local({{}, {}}); });
  } else if (role_ == Role::Replica && !handed_.empty()) {
    step(to, "received", [](World& w) { w.number_received(); });
  }
  if (config_.rotations > 0) step(to, "rotate", [](World& w) { w.rotate(); });
}

// An id of -1 stands for a transaction that is not shipped.
void World::number_local(std::vector<Entry> group) {
  GroupNumbers numbers = order_.numbers();
  for (Entry& entry : group) {
    const bool shipped = entry.id == 0;
    entry.id = ++ids_;
    if (shipped) require(numbers.give(entry.gtid) == GroupNumbers::Verdict::Given, "no GTID is given");
    if (entry.epoch != 0) epoch_due_ = false;
    if (config_.shown_first && entry.epoch == 0) of_sessions_.insert(entry.id);
  }
  group_ = std::move(group);
  group_next_gno_ = numbers.next();
  stage_ = Stage::Numbered;
}

void World::number_received() {
  GroupNumbers numbers = order_.numbers();
  std::vector<Entry> fresh;
  for (const Entry& entry : handed_) {
    if (numbers.take(entry.gtid)) fresh.push_back(entry);
  }
  handed_.clear();
  group_ = std::move(fresh);
  group_next_gno_ = config_.mistake == Mistake::ForgetsReceivedNumbers ? order_.next_gno() : numbers.next();
  stage_ = group_.empty() ? Stage::None : Stage::Numbered;
}

// Local commits fail; what was received goes back to the queue.
void World::fail_group() {
  if (role_ == Role::Replica) handed_.insert(handed_.begin(), group_.begin(), group_.end());
  group_.clear();
  stage_ = Stage::None;
}

void World::write() {
  for (Entry& entry : group_) {
    entry.start = log_end_;
    entry.end = {log_end_.file, log_end_.offset + 1};
    log_end_ = entry.end;
    log_.push_back(entry);
  }
  order_.written(log_end_, group_next_gno_);
  stage_ = Stage::Written;
}

void World::make_durable() {
  if (config_.synced && config_.mistake != Mistake::ShipsBeforeSync) synced_ = log_.size();
  std::vector<PendingTransaction> transactions;
  for (const Entry& entry : group_) {
    transactions.push_back(pending_of(entry, config_.shown_first && role_ == Role::Master));
    if (config_.synced) name(entry);
  }
  LogPosition end = log_end_;
  if (config_.mistake == Mistake::ReportsBehindTheWritten) ++end.offset;
  order_.durable(transactions, end);
  group_.clear();
  stage_ = Stage::None;
}

void World::rotate() {
  --config_.rotations;
  synced_ = log_.size();
  log_end_ = {log_end_.file + 1, 0};
  order_.written(log_end_, order_.next_gno());
  order_.durable({}, log_end_);
}

// --- the engine ---

void World::add_engine_steps(std::vector<World>& to) const {
  if (order_.can_take()) {
    for (const size_t most : {1, 9})
      step(to, "take", [most](World& w) { w.in_engine_ = w.order_.take(most); });
  }
  if (!in_engine_.empty()) {
    step(to, "applied", [](World& w) { w.applied(); });
    if (role_ == Role::Replica && config_.stops > 0) {
      step(to, "cannot be applied", [](World& w) {
        --w.config_.stops;
        w.stop_applying(Order::Stop::Unappliable);
      });
    }
    if (config_.full_disks > 0) {
      step(to, "no room", [](World& w) {
        --w.config_.full_disks;
        w.stop_applying(Order::Stop::NoRoom);
      });
    }
  }
  if (order_.apply_error()) add_stopped_steps(to);
  if (persisted_.size() < engine_.size()) step(to, "persist", [](World& w) { w.persist(); });
  if (!frozen_ && config_.freezes > 0) {
    step(to, "freeze", [](World& w) {
      --w.config_.freezes;
      w.frozen_ = true;
      w.order_.freeze();
    });
  }
  if (frozen_ && stage_ == Stage::None) step(to, "try frozen", [](World& w) { w.order_.try_frozen(); });
  if (frozen_) {
    step(to, "thaw", [](World& w) {
      w.frozen_ = false;
      w.order_.thaw();
    });
  }
}

void World::applied() {
  for (const PendingTransaction& transaction : in_engine_) {
    const auto here = [&](const Entry& entry) { return entry.end == transaction.end; };
    const auto entry = std::find_if(log_.begin(), log_.end(), here);
    require(entry != log_.end(), "what goes into the engine is in the log");
    engine_.push_back(entry->id);
    if (!entry->gtid.empty()) point_.executed.add(entry->gtid);
    if (entry->epoch != 0) point_.epoch = entry->epoch;
    point_.position = entry->end;
    if (role_ == Role::Master && !entry->gtid.empty()) waiting_.insert(entry->id);
  }
  order_.applied(in_engine_, point_);
  answer_acknowledged();
  if (config_.mistake == Mistake::AppliesTwice) order_.applied(in_engine_, point_);
  in_engine_.clear();
}

void World::answer_acknowledged() {
  for (const Entry& entry : log_) {
    const bool answers =
        entry.end <= order_.acknowledged_end() || config_.mistake == Mistake::AnswersWhatIsShown;
    if (answers && waiting_.erase(entry.id) != 0) answered_.insert(entry.id);
  }
}

void World::stop_applying(Order::Stop why) {
  lacks_room_ = why == Order::Stop::NoRoom;
  if (lacks_room_ && config_.mistake == Mistake::SkipsWithoutRoom) why = Order::Stop::Unappliable;
  if (lacks_room_ && config_.mistake == Mistake::DropsWithoutRoom) {
    order_.abandon_taken();
  } else {
    order_.stop_applying(in_engine_, Error{1, "cannot"}, why);
  }
  in_engine_.clear();
}

void World::add_stopped_steps(std::vector<World>& to) const {
  step(to, "retry", [](World& w) {
    w.lacks_room_ = false;
    w.order_.retry_apply();
  });
  step(to, "skip", [](World& w) {
    const bool skipped = w.order_.skip_unappliable(w.order_.pending().front().gtid);
    require(skipped || w.lacks_room_, "what cannot be applied can be skipped");
    require(!skipped || !w.lacks_room_, "what only lacks room is skipped");
  });
}

// What gets to the engine's files is durable in the log first.
void World::persist() {
  synced_ = log_.size();
  persisted_ = engine_;
  persisted_point_ = point_;
}

// --- the peer ---

void World::add_peer_steps(std::vector<World>& to) const {
  if (role_ == Role::Master) {
    if (next_to_ship() != nullptr) step(to, "ship", [](World& w) { w.ship(); });
    if (const Entry* held = last_held_by_peer();
        held != nullptr &&
        (held->end > order_.acknowledged_end() || config_.mistake == Mistake::AcknowledgesEverything)) {
      step(to, "acknowledge", [held](World& w) {
        w.order_.acknowledge(w.config_.mistake == Mistake::AcknowledgesEverything ? w.log_end_ : held->end);
        w.answer_acknowledged();
      });
    }
    return;
  }
  if (const Entry* entry = next_to_receive(); entry != nullptr && handed_.size() < 2) {
    step(to, "hand over", [entry](World& w) {
      if (w.config_.mistake != Mistake::ForgetsReceivedNumbers) w.order_.keep_number(entry->gtid);
      w.handed_.push_back(*entry);
    });
  }
  // It acknowledges, and answers, what we hold: the watermark.
  for (auto held = peer_.rbegin(); held != peer_.rend(); ++held) {
    const size_t durable = durable_entries();
    const bool here =
        std::any_of(log_.begin(), log_.begin() + durable, [&](const Entry& e) { return e.id == held->id; });
    if (!here && !answered_.contains(held->id)) continue;
    step(to, "watermark", [held](World& w) {
      for (auto one = w.peer_.begin(); one->id != held->id; ++one) w.answered_.insert(one->id);
      w.answered_.insert(held->id);
      w.order_.acknowledge_through(held->gtid);
    });
    break;
  }
  if (ids_ < static_cast<int>(config_.most_transactions)) {
    step(to, "the peer commits", [](World& w) {
      Entry entry{.id = ++w.ids_, .gtid = {kPeer, ++w.peer_gno_}};
      w.name(entry);
      w.peer_.push_back(entry);
    });
  }
}

void World::ship() {
  const Entry entry = *next_to_ship();
  name(entry);
  peer_.push_back(entry);
}

const World::Entry* World::next_to_ship() const {
  for (size_t i = 0; i < durable_entries(); ++i) {
    if (!log_[i].gtid.empty() && !peer_has(log_[i].id)) return &log_[i];
  }
  return nullptr;
}

const World::Entry* World::next_to_receive() const {
  const auto is_here = [this](const Entry& entry) {
    const auto same = [&](const Entry& one) { return one.id == entry.id; };
    return log_has(entry.id) || std::any_of(handed_.begin(), handed_.end(), same) ||
           std::any_of(group_.begin(), group_.end(), same);
  };
  const auto next = std::find_if_not(peer_.begin(), peer_.end(), is_here);
  return next == peer_.end() ? nullptr : &*next;
}

const World::Entry* World::last_held_by_peer() const {
  for (size_t i = durable_entries(); i > 0; --i) {
    if (!log_[i - 1].gtid.empty() && peer_has(log_[i - 1].id)) return &log_[i - 1];
  }
  return nullptr;
}

// --- roles and crashes ---

void World::add_role_steps(std::vector<World>& to) const {
  if (config_.crashes > 0) {
    for (size_t kept = synced_; kept <= log_.size(); ++kept)
      step(to, "crash", [kept](World& w) { w.crash(kept); });
  }
  const bool between_groups = stage_ == Stage::None && in_engine_.empty() && !order_.front_may_be_taken();
  if (config_.alone || config_.role_changes == 0 || !between_groups) return;
  if (role_ != Role::Replica) step(to, "follow", [](World& w) { w.follow(); });
  // Without sync_binlog=1 nobody is elected who may have lost something.
  const bool complete = order_.logged().contains(of_peer());
  if (role_ != Role::Master && (config_.synced || complete))
    step(to, "promote", [](World& w) { w.promote(); });
}

// AFTER_COMMIT: of what was begun here, only what the engine has may still be here alone.
void World::end_sessions() {
  waiting_.clear();
  std::erase_if(of_sessions_, [this](int id) { return std::ranges::find(engine_, id) == engine_.end(); });
}

void World::set_gate() {
  if (config_.alone) return;
  const bool shows = config_.shown_first && role_ == Role::Master;
  order_.set_gate(shows ? Order::Gate::ShownFirst : Order::Gate::Gated);
}

void World::crash(size_t kept) {
  --config_.crashes;
  log_.resize(kept);
  synced_ = kept;
  if (log_end_.offset != 0) log_end_ = log_.empty() ? LogPosition{1, 0} : log_.back().end;
  engine_ = persisted_;
  point_ = persisted_point_;
  group_.clear();
  handed_.clear();
  in_engine_.clear();
  end_sessions();
  stage_ = Stage::None;
  frozen_ = epoch_due_ = lacks_room_ = false;
  role_ = config_.alone ? Role::Master : Role::Undecided;

  Order::Start start{kOwn, floor_, log_end_, {}, 0, point_};
  for (const Entry& entry : log_) {
    if (!entry.gtid.empty()) start.logged.add(entry.gtid);
    start.last_log_epoch = std::max(start.last_log_epoch, entry.epoch);
  }
  order_ = Order(start);
  set_gate();
  if (config_.alone || config_.mistake == Mistake::ReplaysTheTail) order_.acknowledge_found(log_end_);
  for (const Entry& entry : log_) {
    if (entry.end > point_.position || config_.mistake == Mistake::FindsWhatIsThere) find_in_log(entry);
  }
}

void World::find_in_log(const Entry& entry) {
  const PendingTransaction found = pending_of(entry, config_.mistake == Mistake::ShowsWhatItFinds);
  order_.found(found);
  if (config_.mistake == Mistake::FindsTwice) order_.found(found);
}

void World::follow() {
  --config_.role_changes;
  role_ = Role::Replica;
  epoch_due_ = false;
  set_gate();
  if (config_.shown_first) {
    order_.detach_waiters();
    order_.detach_shown();
  }
  end_sessions();
  if (config_.mistake != Mistake::ForgetsFloor) floor_ = std::max(floor_, order_.next_gno() - 1);
  auto position = order_.plan_cut(of_peer());
  const auto only_here = [this](int id) { return of_sessions_.contains(id) && !peer_has(id); };
  if (!position.ok() && std::ranges::any_of(engine_, only_here)) {
    role_ = Role::Undecided;  // diverged: what was shown first, and never acknowledged
    return;
  }
  require(position.ok(), "the peer lacks what was acknowledged here");
  if (config_.mistake == Mistake::CutsAcknowledged) position = std::optional(order_.applied_end());
  if (!*position) return;
  log_end_ = **position;
  std::erase_if(log_, [this](const Entry& entry) { return entry.end > log_end_; });
  synced_ = log_.size();
  order_.cut(**position, log_end_);
}

// The peer cuts what we do not have, and follows.
void World::promote() {
  --config_.role_changes;
  role_ = Role::Master;
  handed_.clear();
  set_gate();
  ++epoch_;
  epoch_due_ = true;
  const auto unknown =
      std::find_if(peer_.begin(), peer_.end(), [this](const Entry& e) { return !log_has(e.id); });
  peer_.erase(unknown, peer_.end());
}

// --- what must hold ---

void World::check() const {
  for (const int id : answered_) {
    const bool there = role_ == Role::Master ? log_has(id) : peer_has(id);
    require(there || config_.alone, fmt::format("transaction {} was answered, and is lost", id));
    if (config_.alone) require(log_has(id), fmt::format("transaction {} was answered, and is lost", id));
  }
  std::vector<int> in_log;
  for (const Entry& entry : log_) in_log.push_back(entry.id);
  require(engine_.size() <= in_log.size() && std::equal(engine_.begin(), engine_.end(), in_log.begin()),
          "the engine is no prefix of the log");
  for (size_t i = 0; i < engine_.size(); ++i) {
    const bool shown_first = config_.shown_first && of_sessions_.contains(engine_[i]);
    require(config_.alone || log_[i].gtid.empty() || peer_has(engine_[i]) || shown_first,
            fmt::format("transaction {} is in the engine, and only here", engine_[i]));
  }

  GtidSet logged;
  uint64_t epoch = 0;
  const size_t durable = durable_entries();
  for (size_t i = 0; i < durable; ++i) {
    if (!log_[i].gtid.empty()) logged.add(log_[i].gtid);
    epoch = std::max(epoch, log_[i].epoch);
  }
  require(order_.logged() == logged,
          "logged is " + order_.logged().to_string() + ", there is " + logged.to_string());
  require(order_.last_log_epoch() == epoch, "the last epoch");
  require(order_.executed() == point_.executed, "executed is not what the engine has");
  require(order_.unapplied() == durable - engine_.size(), "what is durable and not applied waits");
  require(order_.pending_bytes() == order_.unapplied(), "the bytes that wait");
  size_t i = engine_.size() + in_engine_.size();
  for (const PendingTransaction& waiting : order_.pending())
    require(waiting.end == log_[i++].end, "what waits stands in the log's order");
  require((config_.shown_first || order_.applied_end() <= order_.acknowledged_end()) &&
              order_.acknowledged_end() <= order_.durable_end() &&
              order_.durable_end() <= order_.written_end(),
          "applied <= acknowledged <= durable <= written");
}

void World::name(const Entry& entry) {
  if (entry.gtid.empty()) return;
  const auto [named, is_new] = named_.try_emplace(entry.gtid, entry.id);
  require(is_new || named->second == entry.id, entry.gtid.to_string() + " names two transactions");
}

// --- small things ---

// Who waits for an answer: any one will do.
PendingTransaction World::pending_of(const Entry& entry, bool of_session) {
  static LocalCommit session;
  return {entry.start, entry.end, entry.gtid, entry.epoch, of_session ? &session : nullptr, {}};
}

size_t World::durable_entries() const {
  return std::count_if(log_.begin(), log_.end(),
                       [this](const Entry& entry) { return entry.end <= order_.durable_end(); });
}

bool World::peer_has(int id) const {
  return std::any_of(peer_.begin(), peer_.end(), [id](const Entry& entry) { return entry.id == id; });
}

bool World::log_has(int id) const {
  return std::any_of(log_.begin(), log_.end(), [id](const Entry& entry) { return entry.id == id; });
}

GtidSet World::of_peer() const {
  GtidSet all;
  for (const Entry& entry : peer_) all.add(entry.gtid);
  return all;
}

std::string World::key() const {
  std::string key;
  const auto add = [&key](const auto&... values) { ((key += fmt::format("{},", values)), ...); };
  const auto add_entries = [&](const std::vector<Entry>& entries) {
    for (const Entry& e : entries)
      add(e.id, e.gtid.sid == kPeer, e.gtid.gno, e.epoch, e.end.file, e.end.offset);
    key += ';';
  };
  for (const auto* entries : {&log_, &peer_, &handed_, &group_}) add_entries(*entries);
  add(static_cast<int>(role_), static_cast<int>(stage_), synced_, group_next_gno_, in_engine_.size(),
      engine_.size(), persisted_.size(), floor_, peer_gno_, epoch_, epoch_due_, frozen_, lacks_room_, ids_,
      text(log_end_));
  for (const auto& [gtid, id] : named_) add(gtid.sid == kPeer, gtid.gno, id);
  key += ';';
  for (const auto* ids : {&answered_, &waiting_, &of_sessions_}) {
    for (const int id : *ids) add(id);
    key += ';';
  }
  add(static_cast<int>(order_.gate()), order_.shown());
  add(text(order_.acknowledged_end()), text(order_.durable_end()), text(order_.written_end()),
      order_.next_gno(), order_.apply_error().has_value(), order_.front_may_be_taken(),
      order_.acknowledged_ahead().size());
  for (const PendingTransaction& waiting : order_.pending()) add(waiting.skipped);
  add(config_.crashes, config_.role_changes, config_.rotations, config_.freezes, config_.stops,
      config_.full_disks);
  return key;
}

}  // namespace commitd::binlog::testing
