// By what each replication filter was set and since when, and how often it was met:
// performance_schema.replication_applier_filters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/instance_control.h"
#include "sql/replication_filter.h"

namespace commitd::replication {

enum class FilterKind : uint8_t {
  DoDb,
  IgnoreDb,
  DoTable,
  IgnoreTable,
  WildDoTable,
  WildIgnoreTable,
  RewriteDb
};

class FilterRecord {
 public:
  explicit FilterRecord(uint64_t now);  // microseconds; all of them are the options'

  void set_by_statement(std::string_view rule, uint64_t now);
  void met(FilterKind kind) { rules_[static_cast<size_t>(kind)].met.fetch_add(1, std::memory_order_relaxed); }

  // Of those that are not empty, one row each.
  std::vector<sql::NamedValues> rows(const sql::ReplicationFilter& filter) const;

 private:
  struct Rule {
    std::atomic<uint64_t> since{0}, met{0};
    std::atomic<bool> by_statement{false};
  };
  std::array<Rule, 7> rules_;
};

// "(from,to),…"
std::string rewritten_databases_text(const sql::ReplicationFilter& filter);

}  // namespace commitd::replication
