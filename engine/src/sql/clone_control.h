// What CLONE asks of the server (server/cloning.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "gtid/gtid_set.h"
#include "runtime/task.h"
#include "storage/connection_data.h"

namespace commitd::sql {

struct CloneRequest {
  uint32_t connection_id = 0;  // whose statement it is
  std::string user, host, password;
  uint16_t port = 3306;
  std::string directory;   // empty: in place of this server's own data
  bool any_donor = false;  // whether or not clone_valid_donor_list names it
  enum class Tls : uint8_t { Preferred, Required, Refused } tls = Tls::Preferred;
};

// The last clone that this server made, or that made it.
struct CloneReport {
  enum class State : uint8_t { InProgress, Completed, Failed } state = State::InProgress;
  uint32_t connection_id = 0;
  uint64_t began = 0, ended = 0;  // microseconds since 1970; 0: not yet
  std::string source, destination;
  std::optional<Error> error;
  std::string log_file;
  uint64_t log_position = 0;
  std::string executed;
  uint64_t bytes = 0, estimate = 0;
};

class CloneControl {
 public:
  virtual ~CloneControl() = default;
  // When it returns without an error and the request names no directory, the server is about to start anew
  // with the other data. KILL ends it through `waits`; `interrupted` tells whether it has come before.
  virtual Task<Status> clone(CloneRequest request, storage::ConnectionData& waits,
                             std::function<bool()> interrupted) = 0;
  virtual std::optional<CloneReport> last() const = 0;
};

}  // namespace commitd::sql
