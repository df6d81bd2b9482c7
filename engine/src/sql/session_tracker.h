// What changed in a session since its client was last told: for the session state part of OK packets.
#pragma once

#include <string_view>
#include <vector>

#include "gtid/gtid_set.h"
#include "sql/result_sink.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {

struct SessionState;

class SessionTracker {
 public:
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }

  void schema_changed() { schema_changed_ = enabled_; }
  void variable_changed(size_t ordinal) {
    if (enabled_) variables_.push_back(ordinal);
  }
  void state_changed() { state_changed_ = enabled_; }

  // By what the session_track_ variables ask for.
  std::vector<SessionChange> take(const SessionState& session);

 private:
  bool wants_gtids(const SessionState& session);

  bool enabled_ = false, schema_changed_ = false, state_changed_ = false;
  std::vector<size_t> variables_;
  Gtid told_;  // the last own one
};

}  // namespace commitd::sql
