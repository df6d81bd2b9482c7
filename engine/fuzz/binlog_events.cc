// A stream of binlog events as it may come from a source or stand in a damaged file: everything that reads
// events must answer with an error, never read outside of them. Checksums are not looked at, so that mutated
// events get through to the parsers.
#include <cstdlib>

#include "binlog/events.h"
#include "binlog/transaction_scanner.h"
#include "storage/record/random_rows.h"
#include "storage/record/row_image.h"

namespace {

using namespace commitd;
using binlog::EventType;
using binlog::EventView;

void require(bool holds) {
  if (!holds) abort();
}

// The rows of an event, as an applier takes them, for a table that has every column type.
void read_rows(const binlog::RowsEvent& rows) {
  static const TableDef table = testing::table_of_every_type();
  std::string_view rest = rows.rows;
  while (!rest.empty()) {
    const auto length = row_image_length(table, rest);
    if (!length) return;
    require(*length > 0 && *length <= rest.size());
    const auto row = decode_row_image(table, rest.substr(0, *length));
    if (row) require(row->size() == table.columns.size());
    rest.remove_prefix(*length);
  }
}

void parse_body(const EventView& event, bool checksummed) {
  require(event.body(checksummed).size() <= event.bytes.size());
  switch (event.header.type) {
    case EventType::Gtid:
    case EventType::AnonymousGtid:
      (void)binlog::parse_gtid_event(event, checksummed);
      return;
    case EventType::Query:
      (void)binlog::parse_query_event(event, checksummed);
      return;
    case EventType::TableMap:
      (void)binlog::parse_table_map_event(event, checksummed);
      return;
    case EventType::WriteRows:
    case EventType::UpdateRows:
    case EventType::DeleteRows:
      if (const auto rows = binlog::parse_rows_event(event, checksummed)) read_rows(*rows);
      return;
    case EventType::PreviousGtids:
      (void)GtidSet::decode(event.body(checksummed));
      return;
    case EventType::Ignorable:
      (void)binlog::parse_own_event(event, checksummed);
      (void)binlog::parse_group_open(event, checksummed);
      if (checksummed) (void)binlog::epoch_of(event);
      return;
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  using Scanner = binlog::TransactionScanner;
  Scanner log, stream(Scanner::Of::Stream);
  bool of_log = true, of_stream = true;
  for (std::string_view rest = input; !rest.empty();) {
    const auto event = binlog::parse_event(rest);
    if (!event) break;
    require(event->bytes.size() == event->header.length && event->bytes.size() <= rest.size());
    (void)binlog::checksum_matches(*event);
    parse_body(*event, true);
    parse_body(*event, false);
    (void)binlog::unwrap_local(rest);
    const uint64_t offset = rest.data() - input.data();
    if (of_log) {
      const auto place = log.feed(*event, offset);
      of_log = place.ok();
      const Scanner::Transaction& found = log.transaction();
      if (of_log && Scanner::completes(*place)) require(found.start <= offset && found.end > offset);
    }
    if (of_stream) of_stream = stream.feed(*event, offset).ok();
    rest.remove_prefix(event->header.length);
  }
  return 0;
}
