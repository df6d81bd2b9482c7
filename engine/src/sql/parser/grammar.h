// The recursive-descent parser. A method per production; productions of one kind share a .cc file. After the
// first error the parser sees only the end of the text, so productions need not check: they return some node,
// and parse() returns the error.
#pragma once

#include <optional>
#include <string_view>

#include "sql/ast/accounts.h"
#include "sql/ast/administration.h"
#include "sql/ast/changes.h"
#include "sql/ast/definitions.h"
#include "sql/ast/session_statements.h"
#include "sql/parser/parser.h"

namespace commitd::sql {

class Grammar {
 public:
  Grammar(std::string_view text, Arena& arena, LexerOptions options);
  Result<ParsedStatement> parse();

 private:
  // --- tokens (parser.cc) ---
  const Token& peek() const { return token_; }
  const Token& peek_next();
  void advance();
  bool is(Word word) const { return token_.word == word; }
  bool is(Symbol s) const { return token_.kind == TokenKind::Symbol && token_.symbol == s; }
  bool is(char c) const { return is(symbol(c)); }
  bool next_is(Word word) { return peek_next().word == word; }
  bool accept(Word word);
  bool accept(Word first, Word second);
  bool accept(char c);
  bool accept(Symbol s);
  void expect(Word word);
  void expect(char c);
  void fail();  // 1064 at this token
  void fail(Error error);
  void unsupported(std::string_view what);  // 1235
  bool failed() const { return error_.has_value(); }
  static bool is_plain(const Token& token, std::string_view word);
  bool accept_plain(std::string_view word);  // an identifier that is not a keyword of ours; lower case
  void expect_plain(std::string_view word);
  std::string_view previous_end_to(const char* begin) const;
  uint8_t open_comments() const;  // around this token, when none behind it was looked at

  std::string_view identifier();
  std::string_view string_literal();
  std::string_view string_or_identifier();
  uint64_t unsigned_number();
  bool at_identifier() const;
  ast::TableName table_name();
  template <class T>
  T* node() {
    return arena_.make<T>(arena_.resource());
  }

  // --- statements (parser.cc) ---
  ast::Statement* statement();
  ast::Statement* nothing();
  ast::Statement* create();
  ast::Statement* drop();
  ast::Statement* alter();

  // --- what is not there (absent.cc): 1235 where it can be told, else 1064 ---
  void absent_statement();
  void absent_object();
  void refuse_absent_table();
  void refuse_absent_clause();

  // --- SELECT (select.cc) ---
  ast::SelectStatement* outermost_select();
  ast::SelectStatement* select();
  ast::SelectStatement* select_term();
  ast::SelectStatement* wrapped(ast::SelectStatement* inside);
  ast::SelectStatement* select_core();
  void select_options(ast::SelectStatement& select);
  bool accept_of_statement(Word word, std::string_view name, bool outermost);
  void select_items(ast::SelectStatement& select);
  ast::SelectStatement* select_behind(ast::SelectStatement* first, bool in_parentheses,
                                      ast::List<ast::CommonTable>* with);
  void with_clause(ast::List<ast::CommonTable>& tables);
  void order_and_limit(ast::SelectStatement& select);
  void order_by(ast::List<ast::OrderItem>& order);
  void limit(ast::Expr*& count, ast::Expr*& offset);
  void row_lock(ast::SelectStatement& select);
  std::string_view optional_alias(bool allow_string);

  // --- FROM (joins.cc) ---
  struct Join;
  void from_clause(ast::List<ast::TableRef>& from);
  void table_list(ast::List<ast::TableRef>& from, ast::TableRef first);
  Join* joined_tables(const ast::TableRef& first);
  Join* single(const ast::TableRef& table);
  bool join_words(Join& join);
  Join* join_tail(Join* left);
  static Join* without_condition(Join* join);
  void join_condition(ast::TableRef& right, bool needed);
  ast::TableRef nested(const ast::List<ast::TableRef>& chain);
  void flatten(const Join& whole, ast::List<ast::TableRef>& chain);
  ast::TableRef table_factor();
  ast::TableRef named(ast::TableRef ref);
  ast::TableRef table_in_parentheses();
  ast::TableRef odbc_outer_join();
  void index_hints(ast::TableRef& ref);
  bool goes_on_as_select() const;

  // --- DML (dml.cc) ---
  ast::Statement* insert();
  ast::Statement* update();
  ast::Statement* remove();
  ast::TableName delete_target();
  void values_list(ast::InsertStatement& insert);
  void assignments(ast::List<ast::Assignment>& list);

  // --- expressions (expression.cc, primary.cc) ---
  ast::Expr* expression() { return binary(0); }
  // `left`: the operand that stands in front, already parsed; null: it is read here.
  ast::Expr* binary(int least_precedence, ast::Expr* left = nullptr);
  ast::Expr* logic_chain(ast::Expr* first, ast::Op op, int precedence);
  ast::Expr* unary();
  std::string_view escape_character();
  void in_parenthesized_select(ast::Expr& in);
  ast::Expr* predicate_tail(ast::Expr* left);
  ast::Expr* primary();
  ast::Expr* literal();
  void check_digits(std::string_view number);
  ast::Expr* word_expression();
  ast::Expr* typed_literal(ast::CastType type, ast::Expr* text);
  ast::Expr* odbc_escape();
  void check_precision(const ast::Expr& call);
  ast::Expr* function_call(std::string_view name, const char* begin);
  ast::Expr* case_expression();
  ast::Expr* cast_expression(bool convert);
  void cast_target(ast::Expr& cast);
  void using_charset(ast::Expr& cast);
  bool at_introducer();
  ast::Expr* introduced();
  ast::Expr* interval();
  std::string_view interval_unit();
  ast::Expr* parenthesized();
  ast::Expr* system_variable();
  ast::Expr* column_reference();
  ast::Expr* column_or_path();
  bool at_member_of();
  ast::Expr* member_of(ast::Expr* value);
  ast::Expr* special_function(std::string_view upper, const char* begin);
  void arguments(ast::Expr& call);
  ast::Expr* make(ast::ExprKind kind) { return arena_.make<ast::Expr>(kind, arena_.resource()); }
  ast::Expr* make_call(std::string_view name, std::initializer_list<ast::Expr*> arguments);
  // The expression ends here: notes its text and how high its tree is.
  void set_source(ast::Expr& e, const char* begin);
  void enter();  // error 1436 when that is too deep
  void leave() { --depth_; }
  std::string_view upper(std::string_view text);

  // --- DDL (ddl.cc, column_type.cc) ---
  ast::Statement* database_statement(ast::StatementKind kind);
  ast::Statement* server_statement(ast::StatementKind kind);
  void server_options(ast::ServerStatement& server);
  ast::Statement* create_table();
  ast::Statement* create_index(bool unique);
  ast::Statement* drop_table(bool temporary);
  ast::Statement* drop_index();
  ast::Statement* alter_table();
  ast::Statement* rename_table();
  ast::Statement* truncate();
  void alter_action(ast::AlterTableStatement& alter);
  void add_action(ast::AlterTableStatement& alter, ast::AlterAction& action);
  void drop_action(ast::AlterTableStatement& alter, ast::AlterAction& action);
  void table_elements(ast::CreateTableStatement& create);
  bool index_definition(ast::IndexSpec& index, ast::CheckSpec& check);
  void index_parts(ast::IndexSpec& index);
  void index_options(ast::IndexSpec& index);
  bool change_option();  // ALGORITHM=, LOCK=
  void table_options(ast::TableOptions& options);
  bool table_option(ast::TableOptions& options);
  bool charset_option(std::string_view& charset, std::string_view& collation);
  void column_definition(ast::ColumnSpec& column);
  bool column_attribute(ast::ColumnSpec& column);
  ast::ColumnType column_type();
  void type_length(ast::ColumnType& type);
  void type_attributes(ast::ColumnType& type);
  bool if_exists();
  bool if_not_exists();
  void current_timestamp_precision();
  bool check_definition(ast::CheckSpec& check);
  void column_check(ast::ColumnSpec& column);
  void alter_check(ast::AlterAction& action);
  bool accept_enforced(bool& enforced);

  // --- the rest (admin.cc, show.cc, account.cc) ---
  ast::Statement* set();
  ast::Statement* set_transaction(ast::VariableScope scope);
  void set_item(ast::SetStatement& set);
  ast::Statement* begin();
  ast::Statement* start();
  ast::Statement* rollback();
  void completion();
  ast::Statement* show();
  void show_what(ast::ShowStatement& show);
  bool show_tables(ast::ShowStatement& show);
  bool show_logs(ast::ShowStatement& show);
  void show_filter(ast::ShowStatement& show);
  ast::Statement* explain();
  void explain_format();
  ast::Statement* flush();
  void flush_logs(ast::FlushStatement& flush);
  ast::Statement* purge();
  ast::Statement* backup();
  ast::Statement* binlog();
  ast::Statement* kill();
  ast::Statement* alter_instance();
  bool control_term(ast::ControlInstanceStatement& control);  // false: it is none of those
  ast::Statement* change_replication();
  void source_option(ast::ChangeSourceStatement& change);
  ast::Statement* change_filter();
  void filter_rule(ast::ChangeFilterStatement& change);
  std::string_view filter_value(bool table, bool wild);
  void rewritten_databases(ast::ChangeFilterStatement& change);
  ast::Statement* reset_replica();
  void replica_thread_names(ast::ReplicaThreadStatement& threads);
  void replica_until(ast::ReplicaThreadStatement& threads);
  bool until_source_place(ast::ReplicaThreadStatement& threads);
  void fixed_option(std::string_view name, std::string_view value);
  void ignored_server_ids();
  void channel(bool makes);
  ast::Statement* replica_threads();
  ast::Statement* prepare();
  ast::Statement* execute();
  ast::Statement* table_maintenance();
  ast::Statement* reset();
  ast::Statement* reset_logs();
  ast::Statement* load_data();
  void load_format(ast::LoadDataStatement& load);
  void load_targets(ast::LoadDataStatement& load);
  ast::Statement* lock_tables();
  ast::Statement* plugin();
  void tls_requirement(ast::UserStatement& user);
  ast::Statement* user_statement(ast::StatementKind kind);
  ast::Statement* grant(bool revoke);
  void privileges(ast::GrantStatement& grant);
  void grant_object(ast::GrantStatement& grant);
  ast::AccountName account_name();
  void account_authentication(ast::AccountSpec& account);

  std::string_view text_;
  Arena& arena_;
  const LexerOptions options_;
  Lexer lexer_;
  Token token_;
  std::optional<Token> ahead_;
  const char* previous_end_;
  uint32_t parameters_ = 0;
  const bool executed_before_;  // by an earlier version, which ignored what is refused now
  bool outermost_ = false;      // the next SELECT is the statement's first
  int depth_ = 0;
  uint16_t tallest_ = 0;  // expression so far
  std::optional<Error> error_;
};

}  // namespace commitd::sql
