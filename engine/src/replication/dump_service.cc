#include "replication/dump_service.h"

#include <spdlog/spdlog.h>

#include "base/error_codes.h"
#include "observe/metrics.h"

namespace commitd::replication {

DumpService::DumpService(Environment environment) : environment_(std::move(environment)) {
  refusal_ = make_error(er::kSourceFatalReadingBinlog, "This server has no role yet");
  gate_.close(*refusal_);
  observe::callback("gauge", "commitd_dump_sessions", "Readers of the log.", {},
                    [this] { return static_cast<double>(stream_count()); });
}

void DumpService::refuse(Error why) {
  gate_.close(why);
  MutexLock lock(mutex_);
  refusal_ = std::move(why);
  for (const auto& stream : streams_) stream->request_stop();
}

Task<void> DumpService::close(Error why) {
  refuse(std::move(why));
  co_await gate_.drained();
}

void DumpService::open(uint64_t epoch) {
  {
    MutexLock lock(mutex_);
    epoch_ = epoch;
    refusal_.reset();
  }
  gate_.open();
}

size_t DumpService::stream_count() const {
  MutexLock lock(mutex_);
  return streams_.size();
}

std::vector<sql::AttachedReplica> DumpService::replicas() const {
  MutexLock lock(mutex_);
  std::vector<sql::AttachedReplica> result;
  for (const auto& stream : streams_) {
    if (const auto& replica = stream->replica())
      result.push_back({replica->server_id, replica->host, replica->port, stream->traits().named_uuid});
  }
  return result;
}

Task<Status> DumpService::dump(sql::Session& session, wire::Channel& channel, wire::DumpRequest request) {
  if (!session.may_replicate()) {
    co_return make_error(
        er::kSpecificAccessDenied,
        "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation");
  }
  const auto visit = gate_.enter();
  if (!visit) co_return visit.error();
  co_return co_await run_stream(session, channel, std::move(request));
}

Task<Status> DumpService::run_stream(sql::Session& session, wire::Channel& channel,
                                     wire::DumpRequest request) {
  binlog::CommitPipeline* pipeline = environment_.pipeline();
  if (pipeline == nullptr) co_return make_error(er::kSourceFatalReadingBinlog, "This server has no log yet");
  ReaderTraits traits = ReaderTraits::of(session, request);
  const DumpStream::Source source{*pipeline,
                                  *environment_.acknowledgements,
                                  *environment_.lease,
                                  *environment_.progress,
                                  environment_.server_id,
                                  environment_.server_uuid,
                                  environment_.observers,
                                  &pages_};
  auto stream = std::make_shared<DumpStream>(source, session, channel, std::move(request), traits);
  COMMITD_CO_RETURN_IF_ERROR(admit(stream));
  session.set_state("Sending binlog event to replica");
  Status status = co_await stream->run();
  dismiss(stream);
  co_return status;
}

// A reader that has lost its connection and comes back may find its former stream still alive here: that one
// is ended.
Status DumpService::admit(const std::shared_ptr<DumpStream>& stream) {
  const ReaderTraits& traits = stream->traits();
  MutexLock lock(mutex_);
  if (refusal_) return *refusal_;  // closed since it came through the gate
  if (traits.epoch && *traits.epoch != epoch_) {
    return make_error(er::kSourceFatalReadingBinlog,
                      "The reader follows the master of epoch {}, this server serves epoch {}", *traits.epoch,
                      epoch_);
  }
  for (const auto& other : streams_) {
    if (traits.uuid == other->traits().uuid && stream->reader_server_id() != 0) {
      spdlog::info("replica {} has connected again: its former connection is closed",
                   traits.uuid.to_string());
      other->give_way();
    }
  }
  streams_.push_back(stream);
  return {};
}

void DumpService::look_again() {
  MutexLock lock(mutex_);
  for (const auto& stream : streams_) stream->look_again();
}

void DumpService::dismiss(const std::shared_ptr<DumpStream>& stream) {
  MutexLock lock(mutex_);
  streams_.remove(stream);
}

}  // namespace commitd::replication
