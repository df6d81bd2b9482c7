// CHANGE REPLICATION FILTER and --replicate-*: what a replica takes of what its source sends.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace commitd::sql {

struct ReplicationFilter {
  std::vector<std::string> do_db, ignore_db;
  std::vector<std::string> do_table, ignore_table;              // db.table
  std::vector<std::string> wild_do_table, wild_ignore_table;    // with % and _
  std::vector<std::pair<std::string, std::string>> rewrite_db;  // from and to: before the others are asked

  bool operator==(const ReplicationFilter&) const = default;
  bool empty() const { return *this == ReplicationFilter{}; }
};

inline constexpr const char* kRewriteRule = "REPLICATE_REWRITE_DB";

// Each rule that names what is taken or ignored, by MySQL's name.
template <class Filter, class Visit>
void visit_replication_filter(Filter& filter, const Visit& visit) {
  visit("REPLICATE_DO_DB", filter.do_db);
  visit("REPLICATE_IGNORE_DB", filter.ignore_db);
  visit("REPLICATE_DO_TABLE", filter.do_table);
  visit("REPLICATE_IGNORE_TABLE", filter.ignore_table);
  visit("REPLICATE_WILD_DO_TABLE", filter.wild_do_table);
  visit("REPLICATE_WILD_IGNORE_TABLE", filter.wild_ignore_table);
}

}  // namespace commitd::sql
