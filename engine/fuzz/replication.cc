// What the other end of a dump stream sends: acknowledgements from a reader, packets from a source.
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "replication/filter_rules.h"
#include "replication/semisync_protocol.h"
#include "replication/source_stream.h"

namespace {

using namespace commitd;
using namespace commitd::replication;

// An acknowledgement that is understood is written as the same bytes, but for a zero at the end of the name.
void take_acknowledgement(std::string_view packet) {
  const auto parsed = parse_acknowledgement(packet);
  if (!parsed) return;
  if (packet.back() == '\0') packet.remove_suffix(1);
  if (encode_acknowledgement(*parsed) != packet) std::abort();
}

// Packets, each behind its length; a transaction that comes out has its GTID and its events.
void take_stream(std::string_view packets, SourceStream::Options options) {
  SourceStream stream(std::move(options));
  while (packets.size() >= 2) {
    const size_t length = load_le16(packets.data());
    packets.remove_prefix(2);
    const auto step = stream.feed(packets.substr(0, length));
    if (!step) return;
    if (step->transaction && (step->transaction->gtid.empty() || step->transaction->events.empty()))
      std::abort();
    packets.remove_prefix(std::min(length, packets.size()));
  }
}

// Of everything: rows of some tables are left out, statements by the database in use, names are rewritten.
std::shared_ptr<const FilterRules> some_filter() {
  static const auto filter = [] {
    sql::ReplicationFilter rules;
    rules.ignore_db = {"ignored"};
    rules.wild_ignore_table = {"%.t%_"};
    rules.rewrite_db = {{"d", "another_name"}, {"a_longer_name", "b"}};
    return std::make_shared<const FilterRules>(rules);
  }();
  return filter;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (*data & 1) {
    take_acknowledgement(rest);
  } else {
    SourceStream::Options options{(*data & 2) != 0, (*data & 4) != 0};
    if ((*data & 8) != 0) options.place_series = 1;
    if ((*data & 16) != 0)
      options.foreign.emplace((*data & 32) != 0 ? ForeignEvents::Of::MariaDb : ForeignEvents::Of::MySql, [] {
        return Gtid{Uuid{}, 7};
      });
    if ((*data & 64) != 0) options.filter = some_filter();
    take_stream(rest, std::move(options));
  }
  return 0;
}
