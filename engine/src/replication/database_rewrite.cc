#include "replication/database_rewrite.h"

#include "replication/dump_framing.h"

namespace commitd::replication {
namespace {

using binlog::EventType;
using binlog::EventView;
using binlog::kChecksumLength;
using binlog::kHeaderLength;

constexpr size_t kTableMapDbLengthAt = kHeaderLength + 6 + 2;
constexpr size_t kQueryDbLengthAt = kHeaderLength + 4 + 4, kQueryHeaderEnd = kQueryDbLengthAt + 1 + 2 + 2;

std::string replaced(std::string event, size_t length_at, size_t db_at, std::string_view former,
                     std::string_view now) {
  event.replace(db_at, former.size(), now);
  event[length_at] = static_cast<char>(now.size());
  return with_checksum(event);
}

}  // namespace

Result<std::optional<std::string>> with_rewritten_database(const EventView& event, bool checksummed,
                                                           const FilterRules& rules) {
  using Rewritten = std::optional<std::string>;
  std::string bare(event.bytes.substr(0, event.bytes.size() - (checksummed ? kChecksumLength : 0)));
  if (event.header.type == EventType::TableMap) {
    auto map = binlog::parse_table_map_event(event, checksummed);
    if (!map) return std::move(map).error();
    const auto now = rules.rewritten(map->db);
    if (!now) return Rewritten();
    return Rewritten(replaced(std::move(bare), kTableMapDbLengthAt, kTableMapDbLengthAt + 1, map->db, *now));
  }
  if (event.header.type != EventType::Query) return Rewritten();
  auto query = binlog::parse_query_event(event, checksummed);
  if (!query) return std::move(query).error();
  const auto now = rules.rewritten(query->db);
  if (!now) return Rewritten();
  const size_t db_at = bare.size() - query->sql.size() - 1 - query->db.size();
  if (db_at < kQueryHeaderEnd) return Rewritten();
  return Rewritten(replaced(std::move(bare), kQueryDbLengthAt, db_at, query->db, *now));
}

}  // namespace commitd::replication
