// Tests of a pipeline that logs orders, over a file system in memory.
#pragma once

#include "commit/testing/pipeline_fixture.h"

namespace commitd::binlog::testing {

class PipelineTest : public ::testing::Test {
 protected:
  void start(CommitPipeline::Gate gate = CommitPipeline::Gate::Immediate) {
    ASSERT_TRUE(server_.open_and_start().ok());
    server_.pipeline->set_gate(gate);
  }
  CommitPipeline& pipeline() { return *server_.pipeline; }
  std::shared_ptr<Pending<Committed>> begin(Commit what) {
    return server_.begin_commit(reactors_[what.id], std::move(what));
  }
  Committed commit(Commit what) { return begin(std::move(what))->get(); }
  void receive(uint64_t gno) {
    pipeline().append_received(received_from(server_b(), gno, gno), {server_b(), gno},
                               [this](LogPosition) { ++reported_; });
  }
  static GtidSet gnos(const Uuid& sid, uint64_t first, uint64_t last) {
    GtidSet set;
    set.add_interval(sid, first, last + 1);
    return set;
  }
  static std::string key(uint64_t id) { return orders_image(orders_table(), id, ""); }

  commitd::testing::RecordingFileSystem fs_;
  const std::shared_ptr<CommitSettings> settings_ = std::make_shared<CommitSettings>();
  Server server_{fs_, {}, {.settings = settings_}};
  Reactors reactors_{2};
  std::atomic<int> reported_{0};
};

}  // namespace commitd::binlog::testing
