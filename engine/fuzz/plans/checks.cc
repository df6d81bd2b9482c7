#include "checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace commitd::fuzz {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : std::string(between)) + part;
  return all;
}

std::vector<std::string> all_columns(const std::vector<Named>& tables) {
  std::vector<std::string> all;
  for (const Named& named : tables) {
    for (const Column& column : named.table->columns) all.push_back(named.alias + "." + column.name);
  }
  return all;
}

// The same values in a set order: what compares as equal is told apart by its bytes.
std::string total_order(const std::vector<std::string>& first, const std::vector<Named>& tables) {
  std::vector<std::string> order = first;
  for (const Named& named : tables) {
    for (const Column& column : named.table->columns) {
      const std::string name = named.alias + "." + column.name;
      order.push_back(column.kind == Kind::Json ? "CAST(" + name + " AS CHAR)" : "BINARY " + name);
    }
  }
  return joined(order, ", ");
}

}  // namespace

void Checks::differ(const std::string& one_sql, const Answer& one, const std::string& other_sql,
                    const Answer& other) {
  std::fprintf(stderr, "-- keyed:\n%s\n-- plain:\n%s\n-- these differ:\n%s;\n  %s\n%s;\n  %s\n",
               keyed_.history().c_str(), plain_.history().c_str(), one_sql.c_str(), one.shown().c_str(),
               other_sql.c_str(), other.shown().c_str());
  std::abort();
}

// An error hangs on the rows that are looked at, which differ by plan.
void Checks::must_agree(const std::string& one_sql, const Answer& one, const std::string& other_sql,
                        const Answer& other) {
  if (one.ok() && other.ok() && one.sorted() != other.sorted()) differ(one_sql, one, other_sql, other);
}

void Checks::must_be_same(const std::string& one_sql, const Answer& one, const std::string& other_sql,
                          const Answer& other) {
  if (one.ok() && other.ok() && one.rows != other.rows) differ(one_sql, one, other_sql, other);
}

Checks::From Checks::from() {
  constexpr size_t kMostJoined = 3;
  From made;
  const size_t count = 1 + choices_.below(kMostJoined);
  for (size_t i = 0; i < count; ++i) {
    const Named next{"a" + std::to_string(i), &choices_.of(schema_)};
    const std::string name = next.table->name + " " + next.alias;
    if (i == 0) {
      made.text = name;
    } else {
      const size_t how = choices_.below(5);
      made.inner_only = made.inner_only && how > 1;
      made.text += how == 0 ? " LEFT JOIN " : how == 1 ? " RIGHT JOIN " : " JOIN ";
      made.text += name + " ON " + expressions_.join_condition(made.tables, next);
    }
    made.tables.push_back(next);
  }
  return made;
}

std::string Checks::items(const From& from) {
  return joined(all_columns(from.tables), ", ");
}

void Checks::with_and_without_indexes() {
  const From from = this->from();
  const SqlText sql =
      "SELECT " + items(from) + " FROM " + from.text + " WHERE " + expressions_.condition(from.tables);
  must_agree(sql.text(), keyed_.run(sql.text()), "(plain) " + sql.text(), plain_.run(sql.text()));
}

void Checks::condition_divides_rows() {
  const From from = this->from();
  const std::string all = "SELECT " + items(from) + " FROM " + from.text.text();
  const std::string condition = expressions_.condition(from.tables).text();
  const std::string divided = all + " WHERE " + condition + " UNION ALL " + all + " WHERE NOT (" + condition +
                              ") UNION ALL " + all + " WHERE (" + condition + ") IS NULL";
  Answer parts;
  for (const std::string& part : {condition, "NOT (" + condition + ")", "(" + condition + ") IS NULL"}) {
    const Answer answer = keyed_.run(all + " WHERE " + part);
    if (!answer.ok()) return;
    parts.rows.insert(parts.rows.end(), answer.rows.begin(), answer.rows.end());
  }
  must_agree(all, keyed_.run(all), divided, parts);
}

void Checks::condition_counts_its_rows() {
  const From from = this->from();
  const std::string condition = expressions_.condition(from.tables).text();
  const std::string counted = "SELECT COUNT(*) FROM " + from.text.text() + " WHERE " + condition;
  const std::string added =
      "SELECT CAST(COALESCE(SUM((" + condition + ") IS TRUE), 0) AS SIGNED) FROM " + from.text.text();
  must_agree(counted, keyed_.run(counted), added, keyed_.run(added));
}

void Checks::parameters_are_literals() {
  const Named table{"a0", &choices_.of(schema_)};
  const std::vector<Named> tables = {table};
  const SqlText sql = "SELECT " + joined(all_columns(tables), ", ") + " FROM " + table.table->name +
                      " a0 WHERE " + expressions_.condition(tables, choices_.below(3));
  const Answer expected = keyed_.run(sql.text());
  for (const Answer& answer : keyed_.run_prepared(sql))
    must_agree(sql.text(), expected, "(prepared) " + sql.with_placeholders(), answer);
}

void Checks::derived_tables_are_tables() {
  const Named table{"a0", &choices_.of(schema_)};
  const std::vector<Named> tables = {table};
  const std::string condition = expressions_.condition(tables).text();
  const std::string items = "SELECT " + joined(all_columns(tables), ", ") + " FROM ";
  const std::string direct = items + table.table->name + " a0 WHERE " + condition;
  const std::string derived = items + "(SELECT * FROM " + table.table->name + ") a0 WHERE " + condition;
  must_agree(direct, keyed_.run(direct), derived, keyed_.run(derived));
}

void Checks::order_and_limit() {
  const From from = this->from();
  std::vector<std::string> order;
  const std::vector<std::string> columns = all_columns(from.tables);
  const bool descending = choices_.one_in(3);
  for (size_t i = choices_.below(3); i > 0; --i)
    order.push_back(choices_.of(columns) + (descending ? " DESC" : ""));
  const std::string sql = "SELECT " + items(from) + " FROM " + from.text.text() + " WHERE " +
                          expressions_.condition(from.tables, 2).text() + " ORDER BY ";
  // Only by some columns: the values of these must come in the same order.
  if (!order.empty()) {
    const std::string some = sql + joined(order, ", ");
    must_agree(some, keyed_.run(some), "(plain) " + some, plain_.run(some));
  }
  const std::string all = sql + total_order(order, from.tables);
  const Answer whole = keyed_.run(all);
  must_be_same(all, whole, "(plain) " + all, plain_.run(all));
  const size_t offset = choices_.below(4), count = choices_.below(6);
  const std::string part = all + " LIMIT " + std::to_string(offset) + ", " + std::to_string(count);
  Answer expected = whole;
  expected.rows.erase(expected.rows.begin(), expected.rows.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                         offset, expected.rows.size())));
  if (expected.rows.size() > count) expected.rows.resize(count);
  must_be_same("(cut) " + all, expected, part, keyed_.run(part));
}

void Checks::order_of_tables() {
  const From from = this->from();
  const std::string rest =
      " FROM " + from.text.text() + " WHERE " + expressions_.condition(from.tables).text();
  const std::string chosen = "SELECT " + items(from) + rest;
  const std::string written = "SELECT STRAIGHT_JOIN " + items(from) + rest;
  must_agree(chosen, keyed_.run(chosen), written, keyed_.run(written));
}

void Checks::groups() {
  const From from = this->from();
  const Named& named = choices_.of(from.tables);
  const Column& column = choices_.of(named.table->columns);
  if (!column.equal_is_same()) return;
  const std::string name = named.alias + "." + column.name;
  const std::string rest =
      " FROM " + from.text.text() + " WHERE " + expressions_.condition(from.tables, 2).text();
  const std::string distinct = "SELECT DISTINCT " + name + rest,
                    grouped = "SELECT " + name + rest + " GROUP BY " + name;
  const Answer groups = keyed_.run(grouped);
  must_agree(distinct, keyed_.run(distinct), grouped, groups);
  must_agree(grouped, groups, "(plain) " + grouped, plain_.run(grouped));
  const std::string least = "SELECT MIN(" + name + ")" + rest;
  const std::string first =
      "SELECT " + name + rest + " AND " + name + " IS NOT NULL ORDER BY " + name + " LIMIT 1";
  Answer sorted = keyed_.run(first);
  if (sorted.ok() && sorted.rows.empty()) sorted.rows.emplace_back("NULL");
  // ENUM and SET are sorted by number, and have the least of their texts.
  if (column.kind != Kind::Enum && column.kind != Kind::Set)
    must_agree(least, keyed_.run(least), first, sorted);
  const std::string counted = "SELECT COUNT(DISTINCT " + name + ")" + rest;
  const std::string counted_groups = "SELECT COUNT(" + column.name + ") FROM (" + grouped + ") g";
  must_agree(counted, keyed_.run(counted), counted_groups, keyed_.run(counted_groups));
}

void Checks::in_is_exists() {
  const Table& outer = choices_.of(schema_);
  const Table& inner = choices_.of(schema_);
  const std::string left = "o." + choices_.of(outer.columns).name,
                    right = "i." + choices_.of(inner.columns).name;
  const std::vector<Named> both = {{"o", &outer}, {"i", &inner}}, own = {{"i", &inner}};
  const std::string condition = expressions_.condition(choices_.flip() ? both : own, 2).text();
  const std::string head =
      "SELECT " + joined(all_columns({{"o", &outer}}), ", ") + " FROM " + outer.name + " o WHERE ";
  const std::string rows = " FROM " + inner.name + " i WHERE " + condition;
  const std::string in = head + left + " IN (SELECT " + right + rows + ")";
  const std::string exists = head + "EXISTS (SELECT 1" + rows + " AND " + left + " = " + right + ")";
  const Answer expected = keyed_.run(in);
  must_agree(in, expected, exists, keyed_.run(exists));
  must_agree(in, expected, "(plain) " + in, plain_.run(in));
  const std::string not_in = head + left + " NOT IN (SELECT " + right + rows + ")";
  const std::string not_exists = head + "NOT EXISTS (SELECT 1" + rows + " AND (" + left + " = " + right +
                                 " OR " + left + " IS NULL OR " + right + " IS NULL))";
  must_agree(not_in, keyed_.run(not_in), not_exists, keyed_.run(not_exists));
}

std::pair<std::string, std::string> Checks::two_forms(const From& from) {
  const Named& named = choices_.of(from.tables);
  const Column& column = choices_.of(named.table->columns);
  const std::string x = named.alias + "." + column.name;
  const std::string a = literal_of(column.kind, choices_), b = literal_of(column.kind, choices_);
  const std::string p = expressions_.condition(from.tables, 1).text(),
                    q = expressions_.condition(from.tables, 1).text();
  const std::vector<std::string> columns = all_columns(from.tables);
  const std::string y = choices_.of(columns);
  // Beside a number and a text BETWEEN compares as neither would be alone.
  const bool alike = a.starts_with('\'') == b.starts_with('\'');
  switch (choices_.below(10)) {
    case 0:
      return {x + " IN (" + a + ", " + b + ")", x + " = " + a + " OR " + x + " = " + b};
    case 1:
      return {x + " NOT IN (" + a + ", NULL)", x + " <> " + a + " AND " + x + " <> NULL"};
    case 2:
      if (!alike) return {"TRUE", "TRUE"};
      return {x + " BETWEEN " + a + " AND " + b, x + " >= " + a + " AND " + x + " <= " + b};
    case 3:
      return {"NOT (" + p + " AND " + q + ")", "NOT (" + p + ") OR NOT (" + q + ")"};
    case 4:
      return {"NOT (" + p + " OR " + q + ")", "NOT (" + p + ") AND NOT (" + q + ")"};
    case 5:
      return {x + " <=> " + y,
              "(" + x + " = " + y + ") IS TRUE OR (" + x + " IS NULL AND " + y + " IS NULL)"};
    case 6:
      return {"CASE WHEN " + p + " THEN 1 WHEN NOT (" + p + ") THEN 0 END", "(" + p + ") AND TRUE"};
    case 7:
      return {"(" + p + ") XOR (" + q + ")",
              "((" + p + ") AND NOT (" + q + ")) OR (NOT (" + p + ") AND (" + q + "))"};
    case 8:
      return {"NULLIF(" + x + ", " + a + ") IS NULL", x + " IS NULL OR (" + x + " = " + a + ") IS TRUE"};
    default:
      return {"NOT (" + x + " < " + y + ")", x + " >= " + y};
  }
}

void Checks::forms_mean_the_same() {
  const From from = this->from();
  const auto [one, other] = two_forms(from);
  const std::string differing = "SELECT " + items(from) + ", " + one + ", " + other + " FROM " +
                                from.text.text() + " WHERE NOT ((" + one + ") <=> (" + other + "))";
  must_agree(differing, keyed_.run(differing), "(nothing)", Answer());
}

void Checks::aggregates() {
  const From from = this->from();
  const auto any_column = [&] {
    const Named& named = choices_.of(from.tables);
    return std::pair(named.alias + ".", &choices_.of(named.table->columns));
  };
  const auto [group_alias, group] = any_column();
  const auto [alias, column] = any_column();
  if (!group->equal_is_same() || !column->equal_is_same()) return;
  const std::string key = group_alias + group->name, name = alias + column->name;
  std::string sql = "SELECT " + key + ", COUNT(*), COUNT(" + name + "), MIN(" + name + "), MAX(" + name +
                    "), COUNT(DISTINCT " + name + ") FROM " + from.text.text() + " WHERE " +
                    expressions_.condition(from.tables, 2).text() + " GROUP BY " + key;
  if (choices_.flip()) sql += " HAVING COUNT(*) > 1";
  must_agree(sql, keyed_.run(sql), "(plain) " + sql, plain_.run(sql));
}

void Checks::changed_rows() {
  for (size_t i = 1 + choices_.below(3); i > 0 && tables_agree_; --i) {
    const Table& table = choices_.of(schema_);
    const size_t how = choices_.below(5);
    const std::string sql = how == 0   ? insertion(table)
                            : how == 1 ? change_by_join(table)
                                       : change_of_one(table);
    if (!sql.empty()) change(table, sql);
  }
}

std::string Checks::change_of_one(const Table& table) {
  const std::vector<Named> tables = {{table.name, &table}};
  const std::string where = " WHERE " + expressions_.condition(tables, 2).text();
  if (choices_.one_in(3)) return "DELETE FROM " + table.name + where;
  const Column& column = choices_.of(table.columns);
  if (column.is_unique) return {};
  return "UPDATE " + table.name + " SET " + column.name + " = " +
         expressions_.value(tables, column.kind).text() + where;
}

// Which of several rows of the other table a row meets first hangs on the plan: what it becomes must not.
std::string Checks::change_by_join(const Table& table) {
  const std::vector<Named> own = {{"a", &table}};
  const Named other{"b", &choices_.of(schema_)};
  const std::string joined =
      table.name + " a JOIN " + other.table->name + " b ON " + expressions_.join_condition(own, other).text();
  const std::string where = " WHERE " + expressions_.condition({own[0], other}, 2).text();
  if (choices_.one_in(3)) return "DELETE a FROM " + joined + where;
  const Column& column = choices_.of(table.columns);
  if (column.is_unique) return {};
  return "UPDATE " + joined + " SET a." + column.name + " = " +
         expressions_.value(own, column.kind, 1).text() + where;
}

std::string Checks::insertion(const Table& table) {
  if (std::ranges::any_of(table.columns, &Column::is_unique)) return {};
  const std::vector<Named> from = {{"a", &choices_.of(schema_)}};
  std::vector<std::string> values;
  for (const Column& column : table.columns)
    values.push_back(expressions_.value(from, column.kind, 1).text());
  return "INSERT INTO " + table.name + " SELECT " + joined(values, ", ") + " FROM " + from[0].table->name +
         " a WHERE " + expressions_.condition(from, 2).text();
}

void Checks::change(const Table& table, const std::string& sql) {
  tables_agree_ = keyed_.run(sql).ok() && plain_.run(sql).ok();
  if (!tables_agree_) return;
  const std::string all = "SELECT * FROM " + table.name;
  must_agree(all, keyed_.run(all), "(plain) " + all, plain_.run(all));
  const std::string check = "CHECK TABLE " + table.name;
  Answer expected;
  expected.rows = {"'" + keyed_.name() + "." + table.name + "'|'check'|'status'|'OK'"};
  must_agree(check, keyed_.run(check), "(expected)", expected);
}

bool Checks::one() {
  using Check = void (Checks::*)();
  constexpr Check kAll[] = {&Checks::with_and_without_indexes,
                            &Checks::condition_divides_rows,
                            &Checks::condition_counts_its_rows,
                            &Checks::parameters_are_literals,
                            &Checks::derived_tables_are_tables,
                            &Checks::order_and_limit,
                            &Checks::order_of_tables,
                            &Checks::groups,
                            &Checks::in_is_exists,
                            &Checks::forms_mean_the_same,
                            &Checks::aggregates,
                            &Checks::changed_rows,
                            &Checks::changed_rows};
  (this->*choices_.of(kAll))();
  return tables_agree_;
}

}  // namespace commitd::fuzz
