// Which databases and tables a replica takes from its source: MySQL's rules, without events.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "binlog/events.h"
#include "replication/filter_record.h"
#include "sql/replication_filter.h"

namespace commitd::replication {

class FilterRules {
 public:
  FilterRules() = default;
  explicit FilterRules(sql::ReplicationFilter filter, std::shared_ptr<FilterRecord> record = nullptr)
      : filter_(std::move(filter)), record_(std::move(record)) {}

  bool empty() const { return filter_.empty(); }
  bool takes_rows_of(std::string_view db, std::string_view table) const;
  // The database that stands here for that one; nullopt: itself.
  std::optional<std::string_view> rewritten(std::string_view db) const;
  // One that is logged as text: by the database that was in use, and by what it names.
  bool takes_statement(const binlog::QueryEvent& query) const;

 private:
  using Name = std::pair<std::string_view, std::string_view>;
  bool takes_use_of(std::string_view db) const;
  bool takes_tables(std::span<const Name> tables) const;
  bool takes_database_itself(std::string_view db) const;

  bool met(FilterKind kind) const;  // true

  sql::ReplicationFilter filter_;
  std::shared_ptr<FilterRecord> record_;  // null: nobody asks
};

// With % and _, and \ in front of what stands for itself.
bool matches_wild(std::string_view text, std::string_view pattern);

}  // namespace commitd::replication
