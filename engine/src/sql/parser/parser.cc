#include "sql/parser/parser.h"

#include <algorithm>
#include <charconv>

#include "base/error_codes.h"
#include "sql/ast/definitions.h"
#include "sql/ast/session_statements.h"
#include "sql/parser/grammar.h"
#include "sql/variables/system_variables.h"

namespace commitd::sql {

Result<ParsedStatement> parse_statement(std::string_view text, Arena& arena, LexerOptions options) {
  return Grammar(text, arena, options).parse();
}

Result<LoggedStatement> parse_logged_statement(std::string_view text, uint64_t sql_mode, Arena& arena) {
  const auto parse = [&](uint64_t mode) {
    LexerOptions options = lexer_options(mode);
    options.logged = true;
    return Grammar(text, arena, options).parse();
  };
  auto parsed = parse(sql_mode);
  const uint64_t earlier_mode = sql_mode & ~(sql_mode::kPipesAsConcat | sql_mode::kHighNotPrecedence);
  if (!parsed.ok() && earlier_mode != sql_mode) {
    if (auto earlier = parse(earlier_mode); earlier.ok())
      return LoggedStatement{earlier->statement, earlier_mode};
  }
  if (!parsed.ok()) return std::move(parsed).error();
  return LoggedStatement{parsed->statement, sql_mode};
}

Grammar::Grammar(std::string_view text, Arena& arena, LexerOptions options)
    : text_(text),
      arena_(arena),
      options_(options),
      lexer_(text, arena, options),
      previous_end_(text.data()),
      executed_before_(options.logged) {
  token_ = lexer_.next();
}

Result<ParsedStatement> Grammar::parse() {
  while (accept(';')) {
  }
  const char* begin = token_.begin;
  const uint8_t open = open_comments();
  ast::Statement* parsed = peek().kind == TokenKind::End ? nothing() : statement();
  if (!failed() && peek().kind != TokenKind::End && !is(';')) fail();
  if (failed()) return *std::move(error_);
  parsed->text = {begin, static_cast<size_t>(previous_end_ - begin)};
  if (previous_end_ < begin) parsed->text = {};
  parsed->open_comments = open;
  parsed->parameter_count = parameters_;
  ParsedStatement result{parsed, {}};
  if (is(';')) {
    const char* rest = token_.end;
    while (accept(';')) {
    }
    if (peek().kind != TokenKind::End)
      result.rest = {rest, static_cast<size_t>(text_.data() + text_.size() - rest)};
  }
  return result;
}

// As in MySQL: a comment alone is fine, nothing at all is error 1065.
ast::Statement* Grammar::nothing() {
  const bool is_empty = text_.find_first_not_of(" \t\r\n;") == std::string_view::npos;
  return arena_.make<ast::Statement>(is_empty ? ast::StatementKind::Empty : ast::StatementKind::Comment);
}

const Token& Grammar::peek_next() {
  if (!ahead_) ahead_ = failed() ? token_ : lexer_.next();
  return *ahead_;
}

void Grammar::advance() {
  if (failed()) return;
  previous_end_ = token_.end;
  if (ahead_) {
    token_ = *ahead_;
    ahead_.reset();
  } else {
    token_ = lexer_.next();
  }
}

bool Grammar::accept(Word word) {
  if (!is(word)) return false;
  advance();
  return true;
}

bool Grammar::accept(Word first, Word second) {
  if (!is(first) || !next_is(second)) return false;
  advance();
  advance();
  return true;
}

bool Grammar::accept(Symbol s) {
  if (!is(s)) return false;
  advance();
  return true;
}

bool Grammar::accept(char c) {
  return accept(symbol(c));
}

void Grammar::expect(Word word) {
  if (!accept(word)) fail();
}

void Grammar::expect(char c) {
  if (!accept(c)) fail();
}

void Grammar::fail() {
  constexpr size_t kShown = 80;
  const size_t at = static_cast<size_t>(token_.begin - text_.data());
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at, text_.size())),
                     '\n');
  const std::string_view rest = at < text_.size() ? text_.substr(at, kShown) : std::string_view();
  fail(make_error(er::kParse,
                  "You have an error in your SQL syntax; check the manual that corresponds to your MySQL "
                  "server version for the "
                  "right syntax to use near '{}' at line {}",
                  rest, line));
}

void Grammar::fail(Error error) {
  if (failed()) return;
  error_ = std::move(error);
  token_ = Token{};
  token_.begin = token_.end = text_.data() + text_.size();
  ahead_.reset();
}

void Grammar::unsupported(std::string_view what) {
  fail(make_error(er::kNotSupportedYet, "This version of MySQL doesn't yet support '{}'", what));
}

bool Grammar::is_plain(const Token& token, std::string_view word) {
  if (token.kind != TokenKind::Identifier || token.text.size() != word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if ((token.text[i] | 0x20) != (word[i] | 0x20)) return false;
  }
  return true;
}

bool Grammar::accept_plain(std::string_view word) {
  if (!is_plain(token_, word)) return false;
  advance();
  return true;
}

void Grammar::expect_plain(std::string_view word) {
  if (!accept_plain(word)) fail();
}

uint8_t Grammar::open_comments() const {
  constexpr int kMost = 255;
  return static_cast<uint8_t>(std::min(lexer_.open_version_comments(), kMost));
}

std::string_view Grammar::previous_end_to(const char* begin) const {
  return {begin, static_cast<size_t>(std::max(previous_end_, begin) - begin)};
}

bool Grammar::at_identifier() const {
  return token_.kind == TokenKind::QuotedIdentifier ||
         (token_.kind == TokenKind::Identifier && !is_reserved(token_.word));
}

std::string_view Grammar::identifier() {
  if (!at_identifier()) {
    fail();
    return {};
  }
  constexpr size_t kLongestIdentifier = 64 * 4;
  const std::string_view name = token_.text;
  if (name.size() > kLongestIdentifier)
    fail(make_error(er::kTooLongIdent, "Identifier name '{}' is too long", name));
  advance();
  return name;
}

std::string_view Grammar::string_literal() {
  if (token_.kind != TokenKind::String) {
    fail();
    return {};
  }
  const std::string_view text = token_.text;
  advance();
  return text;
}

std::string_view Grammar::string_or_identifier() {
  if (token_.kind == TokenKind::String) return string_literal();
  if (token_.word == Word::Binary || token_.word == Word::Default) {
    const std::string_view text = token_.text;
    advance();
    return text;
  }
  return identifier();
}

uint64_t Grammar::unsigned_number() {
  uint64_t number = 0;
  const auto parsed = std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), number);
  if (token_.kind != TokenKind::Integer || parsed.ec != std::errc()) {
    fail();
    return 0;
  }
  advance();
  return number;
}

// A qualified name's last part may be any word: it cannot be anything else there.
ast::TableName Grammar::table_name() {
  std::string_view first = identifier();
  if (!accept('.')) return {{}, first};
  if (token_.kind == TokenKind::Identifier) {
    const std::string_view name = token_.text;
    advance();
    return {first, name};
  }
  return {first, identifier()};
}

ast::Statement* Grammar::statement() {
  if (accept_plain("BINLOG")) return binlog();
  switch (peek().word) {
    case Word::Select:
    case Word::With:
      return outermost_select();
    case Word::Insert:
    case Word::Replace:
      return insert();
    case Word::Update:
      return update();
    case Word::Delete:
      return remove();
    case Word::Begin:
    case Word::Start:
      return start();
    case Word::Commit: {
      advance();
      accept(Word::Work);
      completion();
      return arena_.make<ast::Statement>(ast::StatementKind::Commit);
    }
    case Word::Rollback:
      return rollback();
    case Word::Savepoint:
    case Word::Release: {
      const bool release = accept(Word::Release);
      expect(Word::Savepoint);
      auto* named = arena_.make<ast::NameStatement>(release ? ast::StatementKind::ReleaseSavepoint
                                                            : ast::StatementKind::Savepoint);
      named->name = identifier();
      return named;
    }
    case Word::Set:
      return set();
    case Word::Use: {
      advance();
      auto* use = arena_.make<ast::DatabaseStatement>(ast::StatementKind::Use);
      use->name = identifier();
      return use;
    }
    case Word::Create:
      return create();
    case Word::Drop:
      return drop();
    case Word::Alter:
      return alter();
    case Word::Rename:
      return rename_table();
    case Word::Truncate:
      return truncate();
    case Word::Show:
      return show();
    case Word::Explain:
    case Word::Describe:
    case Word::Desc:
      return explain();
    case Word::Flush:
      return flush();
    case Word::Purge:
      return purge();
    case Word::Backup:
      return backup();
    case Word::Kill:
      return kill();
    case Word::Change:
      return change_replication();
    case Word::Stop:
      return start();
    case Word::Prepare:
    case Word::Deallocate:
      return prepare();
    case Word::Execute:
      return execute();
    case Word::Grant:
      return grant(false);
    case Word::Revoke:
      return grant(true);
    case Word::Lock:
    case Word::Unlock:
      return lock_tables();
    case Word::Install:
    case Word::Uninstall:
      return plugin();
    case Word::Analyze:
    case Word::Check:
    case Word::Optimize:
    case Word::Repair:
    case Word::Checksum:
      return table_maintenance();
    case Word::Load:
      return load_data();
    case Word::Reset:
      return reset();
    case Word::Shutdown:
      advance();
      return arena_.make<ast::Statement>(ast::StatementKind::Shutdown);
    case Word::Do: {
      advance();
      auto* list = node<ast::DoStatement>();
      do {
        list->expressions.push_back(expression());
      } while (accept(','));
      return list;
    }
    default:
      break;
  }
  if (is('(')) return outermost_select();
  if (is_plain(token_, "clone")) return backup();
  absent_statement();
  return arena_.make<ast::Statement>(ast::StatementKind::Empty);
}

ast::Statement* Grammar::create() {
  advance();
  if (is(Word::Database) || is(Word::Schema)) return database_statement(ast::StatementKind::CreateDatabase);
  if (is(Word::User)) return user_statement(ast::StatementKind::CreateUser);
  if (accept(Word::Temporary)) unsupported("TEMPORARY TABLE");
  if (accept(Word::Table)) return create_table();
  if (accept(Word::Unique)) return create_index(true);
  if (is(Word::Index)) return create_index(false);
  if (accept_plain("server")) return server_statement(ast::StatementKind::CreateServer);
  absent_object();
  return arena_.make<ast::Statement>(ast::StatementKind::Empty);
}

ast::Statement* Grammar::drop() {
  advance();
  if (is(Word::Database) || is(Word::Schema)) return database_statement(ast::StatementKind::DropDatabase);
  if (is(Word::User)) return user_statement(ast::StatementKind::DropUser);
  if (accept(Word::Index)) return drop_index();
  if (accept(Word::Prepare)) {
    auto* drop = arena_.make<ast::NameStatement>(ast::StatementKind::Deallocate);
    drop->name = identifier();
    return drop;
  }
  const bool temporary = accept(Word::Temporary);
  if (accept(Word::Table) || accept(Word::Tables)) return drop_table(temporary);
  if (temporary) fail();
  if (accept_plain("server")) return server_statement(ast::StatementKind::DropServer);
  absent_object();
  return arena_.make<ast::Statement>(ast::StatementKind::Empty);
}

ast::Statement* Grammar::alter() {
  advance();
  if (is(Word::Database) || is(Word::Schema)) return database_statement(ast::StatementKind::AlterDatabase);
  if (is(Word::User)) return user_statement(ast::StatementKind::AlterUser);
  if (accept(Word::Instance)) return alter_instance();
  if (accept(Word::Table)) return alter_table();
  if (accept_plain("server")) return server_statement(ast::StatementKind::AlterServer);
  absent_object();
  return arena_.make<ast::Statement>(ast::StatementKind::Empty);
}

}  // namespace commitd::sql
