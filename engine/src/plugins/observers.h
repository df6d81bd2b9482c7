// All observers there are, and the calls that the server makes to them. Where nobody observes, a call is one
// look at a flag.
#pragma once

#include <functional>
#include <string>

#include "base/log_position.h"
#include "base/result.h"
#include "commit/group_observer.h"
#include "plugins/delegate.h"
#include "plugins/plugin_api.h"

namespace commitd::plugins {

class Observers final : public binlog::GroupObserver {
 public:
  Observers();

  ObserverSettings settings;

 private:
  PluginLock plugin_lock_;

 public:
  Delegate<commitd_transaction_observer> transactions;
  Delegate<commitd_storage_observer> storage;
  Delegate<commitd_transmit_observer> transmit;
  Delegate<commitd_relay_observer> relay;

  // --- transactions: on the session's thread ---
  Status before_commit(uint32_t session) { return transactions.any() ? ask_to_commit(session) : Status(); }
  void after_commit(uint32_t session, const std::string& log_file, uint64_t log_position,
                    const std::string& gtid);
  void after_rollback(uint32_t session);
  // commitd_after_commit_hook=statements: behind a statement that has committed nothing itself.
  bool after_statements() const {
    return settings.after_statements.load(std::memory_order_relaxed) && transactions.any();
  }
  void after_statement(uint32_t session);

  // --- binlog::GroupObserver: on the log thread ---
  bool observes() const override { return storage.any(); }
  void flushed(const std::string& log_file, LogPosition end) override;
  void synced(const std::string& log_file, LogPosition end) override;

  // --- relay: on the receiver's reactor ---
  void receiver_started(const commitd_source& source);
  void receiver_stopped(const commitd_source& source);
  void event_read(const commitd_source& source, std::string_view bytes);
  void transaction_queued(const commitd_source& source, const std::string& gtid);

  // Nobody is in any of the owner's observers when it returns, nor will be.
  void remove(const Owner& owner);

 private:
  Status ask_to_commit(uint32_t session);
};

// One reader of the log, as observers see it: on the thread of its session.
class ObservedReader {
 public:
  // `observers`: nullptr where there are none. The texts of `reader` must stay.
  ObservedReader(Observers* observers, commitd_reader reader) : observers_(observers), reader_(reader) {}
  ObservedReader(const ObservedReader&) = delete;
  ~ObservedReader() { stop(); }

  // Error 1236 when an observer refuses it.
  Status start();
  void stop();

  // Whether the next events are to be shown: to be asked for each.
  bool shows_events() const {
    return observers_ != nullptr && observers_->transmit.any() &&
           (asked_for_ || observers_->settings.every_dump.load(std::memory_order_relaxed));
  }
  Status before_event(const commitd_event& event);
  void after_event(const commitd_event& event);

 private:
  Observers* const observers_;
  const commitd_reader reader_;
  bool started_ = false, asked_for_ = false;
};

}  // namespace commitd::plugins
