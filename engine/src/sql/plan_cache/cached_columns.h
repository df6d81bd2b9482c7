// Columns of a result that comes again and again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/result_sink.h"

namespace commitd::sql {

struct CachedColumns {
  std::vector<ResultColumn> columns;
  // The sink's own: what it has made of them, and under which conditions (0: nothing yet).
  std::string encoded;
  uint8_t encoded_next = 0;
  uint64_t encoded_for = 0;
};

// A sink that can make use of what it has made of them before.
class CachedColumnsSink {
 public:
  virtual ~CachedColumnsSink() = default;
  virtual void begin_kept_rows(CachedColumns& kept) = 0;
};

inline void begin_kept_rows(ResultSink& sink, CachedColumns& kept) {
  if (auto* keeping = dynamic_cast<CachedColumnsSink*>(&sink)) return keeping->begin_kept_rows(kept);
  sink.begin_rows(kept.columns);
}

}  // namespace commitd::sql
