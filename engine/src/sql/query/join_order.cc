#include "sql/query/join_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "sql/expression/operators.h"
#include "sql/query/access_path.h"

namespace commitd::sql {
namespace {

// Guesses, where nothing is counted.
constexpr double kRowsOfTable = 1000, kRowsOfValue = 2, kPartOfRange = 0.1;
constexpr double kPartThatEquals = 0.1, kPartOfCondition = 0.5;
// What another order must promise.
constexpr double kMuchLess = 0.5;
// With more tables only one start is tried.
constexpr size_t kMostStarts = 12;

struct Step {
  double read = 0, joined = 0;  // rows, for each row of the tables before
};

struct Order {
  std::vector<size_t> sources;
  double rows = 1, cost = 0;
  uint64_t known = 0;

  void add(size_t source, const Step& step) {
    sources.push_back(source);
    known |= uint64_t{1} << source;
    cost += rows * step.read;
    rows *= step.joined;
  }
};

class Planner {
 public:
  Planner(const Scope& scope, std::span<const Expression* const> conjuncts)
      : scope_(scope), conjuncts_(conjuncts) {}

  Order as_written() const {
    Order order;
    for (size_t i = 0; i < count(); ++i) order.add(i, step_to(i, order.known));
    return order;
  }
  Order best() const {
    Order best = from(nearest(0));
    for (size_t start = 0; start < count() && count() <= kMostStarts; ++start) {
      Order order = from(start);
      if (order.cost < best.cost) best = std::move(order);
    }
    return best;
  }

 private:
  size_t count() const { return scope_.sources.size(); }

  Order from(size_t start) const {
    Order order;
    order.add(start, step_to(start, 0));
    while (order.sources.size() < count()) {
      const size_t next = nearest(order.known);
      order.add(next, step_to(next, order.known));
    }
    return order;
  }

  // The table that adds the fewest rows, of those the one that is read with the least effort, and the first.
  size_t nearest(uint64_t known) const {
    size_t nearest = count();
    Step least;
    for (size_t i = 0; i < count(); ++i) {
      if ((known >> i & 1) != 0) continue;
      const Step step = step_to(i, known);
      if (nearest != count() && std::tie(step.joined, step.read) >= std::tie(least.joined, least.read))
        continue;
      nearest = i;
      least = step;
    }
    return nearest;
  }

  Step step_to(size_t source, uint64_t known) const {
    const uint64_t own = uint64_t{1} << source;
    std::vector<const Expression*> decided;
    for (const Expression* conjunct : conjuncts_) {
      if ((conjunct->sources & own) != 0 && (conjunct->sources & ~(known | own)) == 0)
        decided.push_back(conjunct);
    }
    const Source& table = scope_.sources[source];
    if (table.rows) return filtered(static_cast<double>(table.rows->size()), decided, 0);
    const AccessPath path = choose_path(*table.definition, source, decided, known);
    if (path.unique) return {1, 1};
    if (path.bounds.empty()) return filtered(kRowsOfTable, decided, 0);
    const bool one_value = std::all_of(path.bounds.begin(), path.bounds.end(),
                                       [](const ColumnBound& bound) { return bound.equal != nullptr; });
    return filtered(one_value ? kRowsOfValue : kRowsOfTable * kPartOfRange, decided, path.bounds.size());
  }

  // `used`: so many of the conditions are the reason why no more rows are read.
  static Step filtered(double rows, std::span<const Expression* const> decided, size_t used) {
    Step step{rows, rows};
    for (size_t i = used; i < decided.size(); ++i) {
      const auto comparison = comparison_parts(*decided[i]);
      step.joined *= comparison && comparison->op == ast::Op::Equal ? kPartThatEquals : kPartOfCondition;
    }
    return step;
  }

  const Scope& scope_;
  const std::span<const Expression* const> conjuncts_;
};

}  // namespace

std::vector<size_t> written_order(const Scope& scope) {
  std::vector<size_t> order(scope.sources.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

std::vector<size_t> join_order(const Scope& scope, std::span<const Expression* const> conjuncts) {
  if (scope.sources.size() < 2) return written_order(scope);
  const Planner planner(scope, conjuncts);
  Order best = planner.best();
  if (best.cost < kMuchLess * planner.as_written().cost) return std::move(best.sources);
  return written_order(scope);
}

}  // namespace commitd::sql
