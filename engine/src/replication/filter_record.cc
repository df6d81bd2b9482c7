#include "replication/filter_record.h"

#include <fmt/ranges.h>

#include "replication/moment_text.h"

namespace commitd::replication {
namespace {

// In the order of the kinds: name and text of each.
template <class Visit>
void visit_rules(const sql::ReplicationFilter& filter, const Visit& visit) {
  size_t index = 0;
  sql::visit_replication_filter(filter, [&](std::string_view name, const std::vector<std::string>& values) {
    visit(index++, name, fmt::format("{}", fmt::join(values, ",")));
  });
  visit(index, std::string_view(sql::kRewriteRule), rewritten_databases_text(filter));
}

}  // namespace

std::string rewritten_databases_text(const sql::ReplicationFilter& filter) {
  std::string text;
  for (const auto& [from, to] : filter.rewrite_db)
    text += fmt::format("{}({},{})", text.empty() ? "" : ",", from, to);
  return text;
}

FilterRecord::FilterRecord(uint64_t now) {
  for (Rule& rule : rules_) rule.since = now;
}

void FilterRecord::set_by_statement(std::string_view rule, uint64_t now) {
  visit_rules({}, [&](size_t index, std::string_view name, const std::string&) {
    if (name != rule) return;
    rules_[index].since = now;
    rules_[index].met = 0;
    rules_[index].by_statement = true;
  });
}

std::vector<sql::NamedValues> FilterRecord::rows(const sql::ReplicationFilter& filter) const {
  std::vector<sql::NamedValues> rows;
  visit_rules(filter, [&](size_t index, std::string_view name, const std::string& text) {
    if (text.empty()) return;
    const Rule& rule = rules_[index];
    rows.push_back({{"FILTER_NAME", std::string(name)},
                    {"FILTER_RULE", text},
                    {"CONFIGURED_BY", rule.by_statement ? "CHANGE_REPLICATION_FILTER" : "STARTUP_OPTIONS"},
                    {"ACTIVE_SINCE", moment_text(rule.since)},
                    {"COUNTER", std::to_string(rule.met)}});
  });
  return rows;
}

}  // namespace commitd::replication
