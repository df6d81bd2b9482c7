#include "plugins/observers.h"

#include "base/error_codes.h"
#include "observe/metrics.h"

namespace commitd::plugins {
namespace {

observe::Counter& calls_of(const char* hook) {
  return observe::counter("commitd_observer_calls_total", "Calls of observers, by what they were told.",
                          {{"hook", hook}});
}

// Calls `function` of each observer that has one. The counter is looked up once for each place in the code.
// An exception that leaves a hook ends the process, as it ends MySQL's: what its caller was about to do for a
// transaction cannot be left half done.
#define COMMITD_TELL(delegate, function, ...)             \
  do {                                                    \
    static observe::Counter& calls = calls_of(#function); \
    (delegate).each([&](const auto& observer) noexcept {  \
      if (observer.function == nullptr) return;           \
      calls.add();                                        \
      observer.function(observer.data, __VA_ARGS__);      \
    });                                                   \
  } while (false)

// The same, of functions that answer: `answered` takes what each says.
#define COMMITD_ASK(delegate, function, answered, ...)         \
  do {                                                         \
    static observe::Counter& calls = calls_of(#function);      \
    (delegate).each([&](const auto& observer) noexcept {       \
      if (observer.function == nullptr) return;                \
      calls.add();                                             \
      answered(observer.function(observer.data, __VA_ARGS__)); \
    });                                                        \
  } while (false)

commitd_transaction without_place(uint32_t session, bool has_changes) {
  return {session, has_changes, "", 0, ""};
}

Error failed_hook(const char* hook) {
  return make_error(er::kSourceFatalReadingBinlog, "run '{}' hook failed", hook);
}

}  // namespace

Observers::Observers()
    : transactions(settings, plugin_lock_, "wait/synch/rwlock/sql/Trans_delegate::lock"),
      storage(settings, plugin_lock_, "wait/synch/rwlock/sql/Binlog_storage_delegate::lock"),
      transmit(settings, plugin_lock_, "wait/synch/rwlock/sql/Binlog_transmit_delegate::lock"),
      relay(settings, plugin_lock_, "wait/synch/rwlock/sql/Binlog_relay_IO_delegate::lock") {
  for (const char* hook : {"before_commit", "after_commit", "after_rollback", "after_flush", "after_sync",
                           "transmit_start", "transmit_stop", "before_send_event", "after_send_event",
                           "thread_start", "thread_stop", "after_read_event", "after_queue_transaction"})
    calls_of(hook);
}

Status Observers::ask_to_commit(uint32_t session) {
  const commitd_transaction transaction = without_place(session, true);
  bool refused = false;
  const auto answered = [&](int answer) { refused = refused || answer != 0; };
  COMMITD_ASK(transactions, before_commit, answered, &transaction);
  if (!refused) return {};
  return make_error(er::kRunHookError, "Error on observer while running replication hook 'before_commit'.");
}

void Observers::after_commit(uint32_t session, const std::string& log_file, uint64_t log_position,
                             const std::string& gtid) {
  const commitd_transaction transaction{session, 1, log_file.c_str(), log_position, gtid.c_str()};
  COMMITD_TELL(transactions, after_commit, &transaction);
}

void Observers::after_statement(uint32_t session) {
  const commitd_transaction transaction = without_place(session, false);
  COMMITD_TELL(transactions, after_commit, &transaction);
}

void Observers::after_rollback(uint32_t session) {
  if (!transactions.any()) return;
  const commitd_transaction transaction = without_place(session, true);
  COMMITD_TELL(transactions, after_rollback, &transaction);
}

void Observers::flushed(const std::string& log_file, LogPosition end) {
  COMMITD_TELL(storage, after_flush, log_file.c_str(), end.offset);
}

void Observers::synced(const std::string& log_file, LogPosition end) {
  COMMITD_TELL(storage, after_sync, log_file.c_str(), end.offset);
}

void Observers::receiver_started(const commitd_source& source) {
  if (relay.any()) COMMITD_TELL(relay, thread_start, &source);
}

void Observers::receiver_stopped(const commitd_source& source) {
  if (relay.any()) COMMITD_TELL(relay, thread_stop, &source);
}

void Observers::event_read(const commitd_source& source, std::string_view bytes) {
  const auto* start = reinterpret_cast<const unsigned char*>(bytes.data());
  COMMITD_TELL(relay, after_read_event, &source, start, bytes.size());
}

void Observers::transaction_queued(const commitd_source& source, const std::string& gtid) {
  COMMITD_TELL(relay, after_queue_transaction, &source, gtid.c_str());
}

void Observers::remove(const Owner& owner) {
  transactions.remove(owner);
  storage.remove(owner);
  transmit.remove(owner);
  relay.remove(owner);
}

Status ObservedReader::start() {
  if (observers_ == nullptr) return {};
  started_ = true;
  bool refused = false;
  const auto answered = [&](int answer) {
    asked_for_ = asked_for_ || answer == COMMITD_OBSERVE;
    refused = refused || answer == COMMITD_REFUSE;
  };
  if (observers_->transmit.any()) COMMITD_ASK(observers_->transmit, transmit_start, answered, &reader_);
  return refused ? Status(failed_hook("transmit_start")) : Status();
}

void ObservedReader::stop() {
  if (!std::exchange(started_, false)) return;
  if (observers_->transmit.any()) COMMITD_TELL(observers_->transmit, transmit_stop, &reader_);
}

Status ObservedReader::before_event(const commitd_event& event) {
  bool refused = false;
  const auto answered = [&](int answer) { refused = refused || answer != 0; };
  COMMITD_ASK(observers_->transmit, before_send_event, answered, &reader_, &event);
  return refused ? Status(failed_hook("before_send_event")) : Status();
}

void ObservedReader::after_event(const commitd_event& event) {
  COMMITD_TELL(observers_->transmit, after_send_event, &reader_, &event);
}

}  // namespace commitd::plugins
