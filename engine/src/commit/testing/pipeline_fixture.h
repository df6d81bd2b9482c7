// A pipeline over a file system in memory, with reactors whose coroutines commit.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "base/testing/recording_file_system.h"
#include "binlog/group_builder.h"
#include "binlog/testing/orders.h"
#include "commit/commit_pipeline.h"
#include "commit/left_log.h"
#include "commit/testing/fake_engine.h"

namespace commitd::binlog::testing {

class Reactors {
 public:
  explicit Reactors(int count) {
    for (int i = 0; i < count; ++i)
      reactors_.push_back(std::make_unique<Reactor>("test-" + std::to_string(i)));
    for (auto& reactor : reactors_) threads_.emplace_back([&reactor] { reactor->run(); });
  }
  ~Reactors() {
    for (auto& reactor : reactors_) reactor->stop();
    for (auto& thread : threads_) thread.join();
  }
  Reactor& operator[](size_t i) { return *reactors_[i % reactors_.size()]; }

 private:
  std::vector<std::unique_ptr<Reactor>> reactors_;
  std::vector<std::thread> threads_;
};

// A transaction as another server's dump sends it.
inline std::string received_from(const Uuid& source, uint64_t gno, uint64_t id, uint64_t epoch = 0) {
  LogicalClock clock;
  GroupBuilder builder({1, 4}, {}, clock, {});
  const size_t start = builder.size();
  TransactionBuffer events = insert_order(orders_table(), id, "");
  if (epoch != 0) {
    events.set_epoch(epoch);
    events.finish(1);
  }
  builder.add_local(events, {source, gno}, 1);
  return builder.take()->substr(start);
}

// Waits for something that happens on another thread; the test's time limit is what ends it otherwise.
template <class Condition>
void eventually(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

// The result of a coroutine on a reactor, for the test's thread.
template <class T>
class Pending {
 public:
  bool done() const { return done_.load(); }
  T& get() {
    latch_.wait();
    return *value_;
  }
  void set(T value) {
    value_.emplace(std::move(value));
    done_ = true;
    latch_.count_down();
  }

 private:
  std::latch latch_{1};
  std::atomic<bool> done_{false};
  std::optional<T> value_;
};

struct Committed {
  Status status;
  Gtid gtid;
  LogPosition end;
};

struct Commit {
  uint64_t id = 0;
  bool ship = true;
  uint64_t epoch = 0;
  std::string statement = {};  // instead of a row
  bool two_rows = false;       // in two statements
  bool lets_go_early = false;
  size_t more_keys = 0;   // "more…", for the engine only
  bool spilled = false;   // the first of two rows; of one, all
  size_t note_bytes = 0;  // of the second row's note, besides
  SeenOrder seen = {};
  Gtid gtid = {};  // SET gtid_next
};

inline std::string second_image(const TableDef& table, const Commit& what) {
  return orders_image(table, what.id, "second" + std::string(what.note_bytes, 'x'));
}

inline std::string more_key(size_t i) {
  return "more" + std::to_string(i);
}

inline void spill(TransactionBuffer& events, CommitPipeline& pipeline) {
  events.end_statement();
  events.may_spill_to(pipeline.options().temporary);
  EXPECT_TRUE(events.spill().ok());
  EXPECT_TRUE(events.spilled());
}

inline Task<Committed> commit_order(CommitPipeline& pipeline, const TableDef& table, Commit what) {
  TransactionBuffer events{TransactionBuffer::Context{}};
  WriteSet writes;
  CommitRequest request;
  if (what.epoch != 0) {
    events.set_epoch(what.epoch);
  } else if (!what.statement.empty()) {
    events.set_statement("shop", what.statement);
    writes.put(what.statement, "");
  } else {
    const std::string image = orders_image(table, what.id, "");
    events.insert_row(table, image);
    writes.put(image, "");
    if (what.spilled) spill(events, pipeline);
    if (what.two_rows) {
      const std::string second = second_image(table, what);
      events.end_statement();
      events.insert_row(table, second);
      writes.put(second, "");
    }
  }
  for (size_t i = 0; i < what.more_keys; ++i) writes.put(more_key(i), "");
  events.finish(what.id);
  request.events = &events;
  request.writes = &writes;
  request.ship = what.ship;
  request.epoch = what.epoch;
  request.seen = what.seen;
  if (what.lets_go_early) request.release_locks = [] {};
  request.gtid = what.gtid;
  Status status = co_await pipeline.commit(request);
  Committed committed{std::move(status), request.gtid, request.end};
  co_return committed;
}

template <class T>
Task<void> deliver(Task<T> task, std::shared_ptr<Pending<T>> to) {
  to->set(co_await task);
}

template <class T>
std::shared_ptr<Pending<T>> run_on(Reactor& reactor, Task<T> task) {
  auto result = std::make_shared<Pending<T>>();
  reactor.spawn(deliver(std::move(task), result));
  return result;
}

class Server {
 public:
  explicit Server(commitd::testing::RecordingFileSystem& fs, FakeEngine::State state = {},
                  PipelineOptions options = {})
      : engine(std::move(state)), fs_(fs), options_(std::move(options)) {
    if (options_.server_uuid.is_nil()) options_.server_uuid = server_a();
    options_.temporary = {&fs, "d"};
  }
  ~Server() { stop(); }

  // Opens the log and makes the pipeline; replay and start are separate.
  Status open() {
    LogOptions options;
    options.directory = "d";
    options.server_version = "8.4.0-commitd";
    options.max_file_size = max_file_size;
    options.prefill_bytes = prefill_bytes;
    COMMITD_RETURN_IF_ERROR(look_for_left_log(fs_, options, engine.commit_point()));
    was_left = options.left_at != LogPosition();
    if (relay_log_recovery) options.relay_recovery_at = engine.replay_position();
    auto log = Log::open(fs_, options, engine.replay_position(), &report);
    if (!log) return std::move(log).error();
    pipeline = std::make_unique<CommitPipeline>(std::move(*log), report, engine, applier, options_);
    return {};
  }
  Status open_and_start() {
    COMMITD_RETURN_IF_ERROR(open());
    auto replayed = pipeline->replay(report.end);
    if (!replayed) return std::move(replayed).error();
    start();
    return {};
  }
  void start() {
    pipeline->start();
    started_ = true;
  }
  void stop() {
    if (started_) pipeline->stop();
    started_ = false;
  }

  std::shared_ptr<Pending<Committed>> begin_commit(Reactor& reactor, Commit what) {
    return run_on(reactor, commit_order(*pipeline, table, std::move(what)));
  }

  FakeEngine engine;
  FakeApplier applier;
  OpenReport report;
  std::unique_ptr<CommitPipeline> pipeline;
  const TableDef table = orders_table();
  uint64_t max_file_size = 1 << 30;
  uint64_t prefill_bytes = 0;
  bool relay_log_recovery = false;
  bool was_left = false;  // the log, by an earlier process: nothing is put right yet

 private:
  commitd::testing::RecordingFileSystem& fs_;
  PipelineOptions options_;
  bool started_ = false;
};

}  // namespace commitd::binlog::testing
