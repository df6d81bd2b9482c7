#include "replication/receiver.h"

#include "replication/reception.h"

namespace commitd::replication {

std::string_view receiver_state_name(ReceiverState state) {
  switch (state) {
    case ReceiverState::Off:
      return "off";
    case ReceiverState::Connecting:
      return "connecting";
    case ReceiverState::Receiving:
      return "receiving";
    case ReceiverState::Error:
      return "error";
    case ReceiverState::Diverged:
      return "diverged";
  }
  return "off";
}

Receiver::~Receiver() = default;

void Receiver::start(Environment environment, Target target) {
  Reactor* reactor = environment.reactor;
  auto reception = std::make_shared<Reception>(std::move(environment), std::move(target));
  {
    MutexLock lock(mutex_);
    current_ = reception;
  }
  reactor->spawn(Reception::run(reception));
}

Task<void> Receiver::stop() {
  std::shared_ptr<Reception> reception;
  {
    MutexLock lock(mutex_);
    reception = current_;
  }
  if (reception) co_await reception->stop();  // whoever comes second waits as well
}

// Of a reception that was stopped nothing is left to show but when it has heard its source last.
ReceiverReport Receiver::report() const {
  MutexLock lock(mutex_);
  if (!current_) return {};
  ReceiverReport report = current_->report();
  if (!current_->is_stopped()) return report;
  ReceiverReport stopped;
  stopped.last_heard = report.last_heard;
  return stopped;
}

}  // namespace commitd::replication
