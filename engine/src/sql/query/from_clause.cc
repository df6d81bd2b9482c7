#include "sql/query/from_clause.h"

#include <algorithm>
#include <set>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "sql/expression/conversion.h"
#include "sql/query/row_buffer.h"
#include "sql/query/select.h"

namespace commitd::sql {
namespace {

constexpr size_t kMostTables = 61;

Task<Result<Source>> derived_table(StatementContext& context, const ast::TableRef& ref) {
  RowBuffer buffer;
  COMMITD_CO_RETURN_IF_ERROR(co_await run_select(context, *ref.derived, buffer));
  co_return source_of_result(ref.alias, buffer.columns, std::move(buffer.rows), nullptr);
}

Task<Result<Source>> open_source(StatementContext& context, const ast::TableRef& ref) {
  if (ref.derived != nullptr) return derived_table(context, ref);
  return open_table(context, ref, privilege::kSelect, "SELECT");
}

const std::string& name_of(const Scope& scope, const Scope::Address& address) {
  return scope.sources[address.source].columns[address.column].name;
}

class Opener {
 public:
  explicit Opener(StatementContext& context) : context_(context) {}

  // Opens a list of joined tables; their columns in the order of SELECT *.
  Task<Result<std::vector<Scope::Address>>> open(const ast::List<ast::TableRef>& list, int parent) {
    std::vector<Scope::Address> star;
    const size_t begin = from_.scope.sources.size();
    for (size_t i = 0; i < list.size(); ++i) {
      const ast::TableRef& ref = list[i];
      const size_t first = from_.scope.sources.size();
      from_.keeps_order |= ref.join == ast::JoinKind::Straight;
      int nest = parent;
      if (i > 0 && ref.join == ast::JoinKind::Left) {
        nest = static_cast<int>(from_.nests.size());
        from_.nests.push_back({first, first, parent});
      }
      auto own = co_await open_one(ref, nest);
      if (!own.ok()) co_return std::move(own).error();
      if (nest != parent) from_.nests[static_cast<size_t>(nest)].last = from_.scope.sources.size() - 1;
      JoinCondition condition;
      condition.nest = nest;
      condition.first = begin;
      auto joined = join(ref, std::move(star), *std::move(own), std::move(condition));
      if (!joined.ok()) co_return std::move(joined).error();
      star = *std::move(joined);
    }
    co_return star;
  }

  FromClause take(std::vector<Scope::Address> star) {
    from_.star = std::move(star);
    return std::move(from_);
  }

 private:
  Task<Result<std::vector<Scope::Address>>> open_one(const ast::TableRef& ref, int nest) {
    if (ref.nested != nullptr) co_return co_await open(*ref.nested, nest);
    auto opened = co_await open_source(context_, ref);
    if (!opened.ok()) co_return std::move(opened).error();
    if (from_.scope.sources.size() >= kMostTables)
      co_return make_error(er::kTooManyTables, "Too many tables; MySQL can only use {} tables in a join",
                           kMostTables);
    for (const Source& other : from_.scope.sources) {
      if (other.alias == opened->alias && other.db == opened->db)
        co_return make_error(er::kNonUniqTable, "Not unique table/alias: '{}'", opened->alias);
    }
    std::vector<Scope::Address> columns;
    for (size_t i = 0; i < opened->columns.size(); ++i) columns.push_back({from_.scope.sources.size(), i});
    from_.scope.sources.push_back(*std::move(opened));
    co_return columns;
  }

  // Joins `right` to what came before; the columns of both, those in common once and first.
  Result<std::vector<Scope::Address>> join(const ast::TableRef& ref, std::vector<Scope::Address> left,
                                           std::vector<Scope::Address> right, JoinCondition condition) {
    condition.on = ref.on;
    condition.behind_last = from_.scope.sources.size();
    std::vector<Scope::Address> common;
    // Joined by names, a RIGHT JOIN shows its right table's columns first.
    const bool by_condition = !ref.natural && ref.using_columns == nullptr;
    if (ref.natural || ref.using_columns != nullptr) {
      auto pairs = ref.natural ? natural_pairs(left, right) : using_pairs(*ref.using_columns, left, right);
      if (!pairs.ok()) return std::move(pairs).error();
      condition.equal = *std::move(pairs);
      for (const auto& [kept, merged] : condition.equal) {
        from_.scope.sources[merged.source].merged.emplace_back(name_of(from_.scope, merged), kept.source);
        common.push_back(kept);
        std::erase_if(left, [&, kept = kept](const Scope::Address& a) { return same(a, kept); });
        std::erase_if(right, [&, merged = merged](const Scope::Address& a) { return same(a, merged); });
      }
    }
    if (condition.on != nullptr || !condition.equal.empty()) from_.conditions.push_back(std::move(condition));
    if (ref.exchanged && by_condition) std::swap(left, right);
    common.insert(common.end(), left.begin(), left.end());
    common.insert(common.end(), right.begin(), right.end());
    return common;
  }

  using Pairs = std::vector<std::pair<Scope::Address, Scope::Address>>;

  static bool same(const Scope::Address& l, const Scope::Address& r) {
    return l.source == r.source && l.column == r.column;
  }
  Result<std::optional<Scope::Address>> column_among(const std::vector<Scope::Address>& columns,
                                                     std::string_view name) const {
    std::optional<Scope::Address> found;
    for (const Scope::Address& address : columns) {
      if (!same_name(name_of(from_.scope, address), name)) continue;
      if (found) return make_error(er::kNonUniqColumn, "Column '{}' in from clause is ambiguous", name);
      found = address;
    }
    return found;
  }
  Result<Pairs> natural_pairs(const std::vector<Scope::Address>& left,
                              const std::vector<Scope::Address>& right) const {
    Pairs pairs;
    for (const Scope::Address& address : left) {
      const std::string& name = name_of(from_.scope, address);
      auto other = column_among(right, name);
      if (!other.ok()) return std::move(other).error();
      if (!*other) continue;
      auto unique = column_among(left, name);
      if (!unique.ok()) return std::move(unique).error();
      pairs.emplace_back(address, **other);
    }
    return pairs;
  }
  // In the order of the left table, whatever the order in USING.
  Result<Pairs> using_pairs(const ast::List<std::string_view>& names, const std::vector<Scope::Address>& left,
                            const std::vector<Scope::Address>& right) const {
    for (const std::string_view name : names) {
      for (const auto* side : {&left, &right}) {
        auto found = column_among(*side, name);
        if (!found.ok()) return std::move(found).error();
        if (!*found) return make_error(er::kBadField, "Unknown column '{}' in 'from clause'", name);
      }
    }
    Pairs pairs;
    for (const Scope::Address& address : left) {
      const std::string& name = name_of(from_.scope, address);
      const bool wanted = std::any_of(names.begin(), names.end(),
                                      [&](std::string_view listed) { return same_name(listed, name); });
      if (wanted) pairs.emplace_back(address, **column_among(right, name));
    }
    return pairs;
  }

  StatementContext& context_;
  FromClause from_;
};

}  // namespace

Task<Result<FromClause>> open_from(StatementContext& context, const ast::List<ast::TableRef>& from) {
  Opener opener(context);
  auto star = co_await opener.open(from, -1);
  if (!star.ok()) co_return std::move(star).error();
  co_return opener.take(*std::move(star));
}

Result<Source> source_of_result(std::string_view name, std::span<const ResultColumn> described,
                                std::vector<Row> rows, const ast::List<std::string_view>* columns) {
  if (columns != nullptr && columns->size() != described.size())
    return make_error(er::kViewWrongList,
                      "In definition of view, derived table or common table expression, SELECT list and "
                      "column names list have different column counts");
  Source source;
  source.alias = std::string(name);
  std::set<std::string> names;
  for (size_t i = 0; i < described.size(); ++i) {
    const std::string column(columns != nullptr ? std::string((*columns)[i]) : described[i].name);
    const bool is_a_table = !name.empty();
    if (is_a_table && !names.insert(lower_case(column)).second)
      return make_error(er::kDupFieldName, "Duplicate column name '{}'", column);
    source.columns.push_back(
        {column, type_of_result(described[i]), described[i].labels.get(), described[i].labels});
  }
  source.rows = std::make_shared<const std::vector<Row>>(std::move(rows));
  return source;
}

}  // namespace commitd::sql
