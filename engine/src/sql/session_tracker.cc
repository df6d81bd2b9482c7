#include "sql/session_tracker.h"

#include <algorithm>

#include "sql/session_state.h"

namespace commitd::sql {
namespace {

using What = SessionChange::What;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// `list`: session_track_system_variables.
bool is_listed(std::string_view list, std::string_view name, const SystemVariables& variables) {
  const size_t ordinal = variables.find(name);
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view word = trimmed(list.substr(0, comma));
    if (word == "*" || variables.find(word) == ordinal) return true;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

void add_variables(const SessionState& session, std::vector<size_t> changed,
                   std::vector<SessionChange>& changes) {
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  const SystemVariables& all = *session.server.variables;
  const std::string& list = session.variables.text(kSessionTrackSystemVariables);
  for (const size_t ordinal : changed) {
    const std::string& name = all.definition(ordinal).name;
    if (!is_listed(list, name, all)) continue;
    changes.push_back({What::SystemVariable, name, all.to_text(ordinal, session.variables.read(ordinal))});
  }
}

}  // namespace

// OWN_GTID: once for each transaction this session logged. ALL_GTIDS: whenever no transaction is open, since
// those of others count, too.
bool SessionTracker::wants_gtids(const SessionState& session) {
  const std::string& mode = session.variables.text(kSessionTrackGtids);
  if (mode == "OFF" || !session.transaction || session.transaction->active()) return false;
  const Gtid& own = session.transaction->last_gtid();
  const bool is_new = own != told_;
  told_ = own;
  return mode == "ALL_GTIDS" || (is_new && !own.empty());
}

std::vector<SessionChange> SessionTracker::take(const SessionState& session) {
  std::vector<SessionChange> changes;
  if (!enabled_) return changes;
  if (!variables_.empty()) add_variables(session, std::exchange(variables_, {}), changes);
  if (std::exchange(schema_changed_, false) && session.variables.boolean(kSessionTrackSchema))
    changes.push_back({What::Schema, {}, session.database});
  if (wants_gtids(session)) {
    const bool all = session.variables.text(kSessionTrackGtids) == "ALL_GTIDS";
    changes.push_back(
        {What::Gtids,
         {},
         all ? session.server.transactions->pipeline.gtid_executed().to_string() : told_.to_string()});
  }
  const bool state_changed = std::exchange(state_changed_, false);
  if ((state_changed || !changes.empty()) && session.variables.boolean(kSessionTrackStateChange))
    changes.push_back({What::State, {}, "1"});
  return changes;
}

}  // namespace commitd::sql
