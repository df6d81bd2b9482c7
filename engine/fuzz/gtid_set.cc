// GTID sets from outside: as text (SET gtid_purged, WAIT_FOR_EXECUTED_GTID_SET) and in the binary form of
// COM_BINLOG_DUMP_GTID and PREVIOUS_GTIDS. What is accepted must survive being written and read again, and
// obey the rules of sets.
#include "gtid/gtid_set.h"

#include <cstdlib>

namespace {

using commitd::GtidSet;

void require(bool holds) {
  if (!holds) abort();
}

void check_forms(const GtidSet& set) {
  const auto from_text = GtidSet::parse(set.to_string());
  require(from_text && *from_text == set);
  const auto from_binary = GtidSet::decode(set.encode());
  require(from_binary && *from_binary == set);
}

void check_algebra(const GtidSet& a, const GtidSet& b) {
  GtidSet both = a;
  both.add(b);
  require(both.contains(a) && both.contains(b));
  GtidSet only_a = both;
  only_a.subtract(b);
  require(a.contains(only_a));
  GtidSet again = only_a;
  again.add(b);
  require(again == both);
  require(only_a.count() + b.count() == both.count());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t half = input.find('|');  // two sets in one input
  const std::string_view first = input.substr(0, half);
  const std::string_view second = half == input.npos ? "" : input.substr(half + 1);
  for (auto* read : {&GtidSet::parse, &GtidSet::decode}) {
    const auto a = read(first);
    if (!a) continue;
    check_forms(*a);
    if (const auto b = read(second)) check_algebra(*a, *b);
  }
  (void)commitd::Gtid::parse(input);
  return 0;
}
