// The recipient's side of a clone: fetches the engine's files of another server into a directory.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "replication/clone_protocol.h"
#include "runtime/worker_thread.h"
#include "storage/connection_data.h"
#include "wire/client.h"

namespace commitd::replication {

class CloneReception {
 public:
  struct Environment {
    FileSystem* fs = nullptr;
    std::string engine_directory;  // of the copy; there, and empty
    const std::atomic<uint64_t>* bytes_per_second = nullptr;
    std::atomic<uint64_t>* received = nullptr;  // bytes of files
    // Whether this server can take what the donor has.
    std::function<Status(const CloneHeader&)> accept;
  };
  CloneReception(Environment environment, WorkerThread& disk)
      : environment_(std::move(environment)), disk_(disk) {}

  // When it returns without an error, all files are there as they were, and durable; after an error anything
  // may be there.
  Task<Result<CloneHeader>> receive(wire::Client& donor);

 private:
  struct Incoming;
  Task<Result<std::string>> next_packet(wire::Client& donor);
  Task<Result<CloneHeader>> request(wire::Client& donor);
  Task<Status> receive_files(wire::Client& donor, const CloneHeader& header);
  Status open(Incoming& incoming, std::string_view packet);
  Status write(Incoming& incoming, std::string_view bytes);
  Status close(Incoming& incoming, std::string_view packet);
  Status take(Incoming& incoming, std::string_view packet);

  const Environment environment_;
  WorkerThread& disk_;
};

// Connects as the donor's client. KILL ends it through `waits`.
struct CloneSource {
  std::string host;
  uint16_t port = 3306;
  std::string user, password;
  std::shared_ptr<const wire::TlsContext> tls;  // null: without
  bool tls_required = false;                    // else without, where it cannot be had
};
Task<Result<std::unique_ptr<wire::Client>>> connect_to_donor(const CloneSource& source);

// As MySQL names what a donor says.
Error donor_error(const Error& error);

}  // namespace commitd::replication
