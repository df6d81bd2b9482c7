// Statements whose answers must agree, whichever way they are executed.
#pragma once

#include <string>
#include <vector>

#include "answers.h"
#include "choices.h"
#include "expressions.h"
#include "schema.h"

namespace commitd::fuzz {

class Checks {
 public:
  Checks(const std::vector<Table>& schema, Database& keyed, Database& plain, Choices& choices)
      : schema_(schema), keyed_(keyed), plain_(plain), choices_(choices), expressions_(schema, choices) {}

  // One kind of statement, that the input chooses, is executed and judged. False: the tables are no longer
  // the same, for a statement failed after some rows.
  bool one();

 private:
  struct From {
    std::vector<Named> tables;
    SqlText text;
    bool inner_only = true;
  };
  From from();
  std::string items(const From& from);

  void with_and_without_indexes();
  void condition_divides_rows();     // p, NOT p, p IS NULL
  void condition_counts_its_rows();  // COUNT(*) WHERE p, SUM(p)
  void parameters_are_literals();
  void derived_tables_are_tables();
  void order_and_limit();
  void order_of_tables();
  void groups();
  void in_is_exists();
  std::pair<std::string, std::string> two_forms(const From& from);
  void forms_mean_the_same();
  void aggregates();
  void changed_rows();
  std::string change_of_one(const Table& table);
  std::string change_by_join(const Table& table);
  std::string insertion(const Table& table);
  void change(const Table& table, const std::string& sql);

  void must_agree(const std::string& one_sql, const Answer& one, const std::string& other_sql,
                  const Answer& other);
  void must_be_same(const std::string& one_sql, const Answer& one, const std::string& other_sql,
                    const Answer& other);
  [[noreturn]] void differ(const std::string& one_sql, const Answer& one, const std::string& other_sql,
                           const Answer& other);

  const std::vector<Table>& schema_;
  Database& keyed_;
  Database& plain_;
  Choices& choices_;
  Expressions expressions_;
  bool tables_agree_ = true;
};

}  // namespace commitd::fuzz
