// JSON_ARRAYAGG and JSON_OBJECTAGG.
#pragma once

#include <memory>

#include "sql/expression/aggregate.h"

namespace commitd::sql {

std::unique_ptr<AggregateState> start_json_array(const AggregateCall& call);
std::unique_ptr<AggregateState> start_json_object(const AggregateCall& call);

}  // namespace commitd::sql
