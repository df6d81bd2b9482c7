// CHANGE REPLICATION SOURCE TO and FILTER; START, STOP and RESET REPLICA.
#include <algorithm>
#include <array>

#include "base/error_codes.h"
#include "base/replication_error_codes.h"
#include "base/text_case.h"
#include "sql/ast/administration.h"
#include "sql/parser/grammar.h"
#include "sql/replication_filter.h"

namespace commitd::sql {
namespace {

using Kind = ast::SourceOption::Kind;

struct KnownOption {
  std::string_view name;
  Kind kind;
};
constexpr std::array kKnownOptions = {
    KnownOption{"SOURCE_HOST", Kind::Text},
    KnownOption{"SOURCE_USER", Kind::Text},
    KnownOption{"SOURCE_PASSWORD", Kind::Text},
    KnownOption{"SOURCE_PORT", Kind::Number},
    KnownOption{"SOURCE_AUTO_POSITION", Kind::Number},
    KnownOption{"SOURCE_LOG_FILE", Kind::Text},
    KnownOption{"SOURCE_LOG_POS", Kind::Number},
    KnownOption{"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS", Kind::TextOrWord},
    KnownOption{"SOURCE_DELAY", Kind::Number},
    KnownOption{"SOURCE_CONNECT_RETRY", Kind::Number},
    KnownOption{"SOURCE_RETRY_COUNT", Kind::Number},
    KnownOption{"SOURCE_HEARTBEAT_PERIOD", Kind::Decimal},
    KnownOption{"SOURCE_SSL", Kind::Number},
    KnownOption{"SOURCE_SSL_VERIFY_SERVER_CERT", Kind::Number},
    KnownOption{"SOURCE_SSL_CA", Kind::Text},
    KnownOption{"SOURCE_SSL_CAPATH", Kind::Text},
    KnownOption{"SOURCE_SSL_CERT", Kind::Text},
    KnownOption{"SOURCE_SSL_KEY", Kind::Text},
    KnownOption{"SOURCE_SSL_CRL", Kind::Text},
    KnownOption{"SOURCE_SSL_CRLPATH", Kind::Text},
    KnownOption{"SOURCE_SSL_CIPHER", Kind::Text},
    KnownOption{"SOURCE_TLS_CIPHERSUITES", Kind::TextOrNull},
    KnownOption{"SOURCE_TLS_VERSION", Kind::Text},
    KnownOption{"GET_SOURCE_PUBLIC_KEY", Kind::Number},
    KnownOption{"SOURCE_PUBLIC_KEY_PATH", Kind::Text},
};

// What is so here whatever anybody says: the one value that says it is taken, every other one refused.
struct FixedOption {
  std::string_view name, value;
};
constexpr std::array kFixedOptions = {
    FixedOption{"REQUIRE_ROW_FORMAT", "1"},
    FixedOption{"GTID_ONLY", "1"},
    FixedOption{"PRIVILEGE_CHECKS_USER", "NULL"},
    FixedOption{"REQUIRE_TABLE_PRIMARY_KEY_CHECK", "STREAM"},
    FixedOption{"SOURCE_CONNECTION_AUTO_FAILOVER", "0"},
    FixedOption{"SOURCE_COMPRESSION_ALGORITHMS", "uncompressed"},
};

constexpr std::array<std::string_view, 5> kAbsentOptions = {
    "SOURCE_BIND", "NETWORK_NAMESPACE", "RELAY_LOG_FILE", "RELAY_LOG_POS", "SOURCE_ZSTD_COMPRESSION_LEVEL"};

constexpr std::array<std::string_view, 3> kReplicaThreads = {"io_thread", "relay_thread", "sql_thread"};

template <class Options>
const auto* find_option(const Options& options, std::string_view name) {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const auto& one) { return one.name == name; });
  return found == options.end() ? nullptr : &*found;
}

}  // namespace

ast::Statement* Grammar::change_replication() {
  advance();
  if (!accept(Word::Master)) {
    expect(Word::Replication);
    if (is_plain(peek(), "filter")) return change_filter();
    expect(Word::Source);
  }
  expect(Word::To);
  auto* change = node<ast::ChangeSourceStatement>();
  do {
    source_option(*change);
  } while (accept(','));
  channel(true);
  return change;
}

void Grammar::source_option(ast::ChangeSourceStatement& change) {
  std::string_view name = upper(peek().text);
  if (peek().kind != TokenKind::Identifier) fail();
  for (const auto& [former, now] :
       {std::pair("MASTER_", "SOURCE_"), std::pair("GET_MASTER_", "GET_SOURCE_")}) {
    if (!name.starts_with(former)) continue;
    name = arena_.copy(now + std::string(name.substr(std::string_view(former).size())));
  }
  if (std::find(kAbsentOptions.begin(), kAbsentOptions.end(), name) != kAbsentOptions.end())
    unsupported(name);
  if (name == "IGNORE_SERVER_IDS") return ignored_server_ids();
  if (const auto* fixed = find_option(kFixedOptions, name)) return fixed_option(fixed->name, fixed->value);
  const KnownOption* known = find_option(kKnownOptions, name);
  if (known == nullptr) return fail();
  advance();
  expect('=');
  ast::SourceOption option{known->name, {}, 0};
  if (known->kind == Kind::Decimal) {
    if (peek().kind != TokenKind::Integer && peek().kind != TokenKind::Decimal) fail();
    option.text = peek().text;
    advance();
  } else if (known->kind == Kind::Number) {
    option.number = unsigned_number();
  } else if (known->kind == Kind::TextOrWord && peek().kind != TokenKind::String) {
    option.text = upper(peek().text);
    advance();
  } else if (known->kind != Kind::TextOrNull || !accept(Word::Null)) {
    option.text = string_literal();
  }
  change.options.push_back(option);
}

void Grammar::fixed_option(std::string_view name, std::string_view value) {
  advance();
  expect('=');
  if (!failed() && !equal_words(peek().text, value)) unsupported(fmt::format("{} = {}", name, peek().text));
  advance();
}

void Grammar::ignored_server_ids() {
  advance();
  expect('=');
  expect('(');
  if (!failed() && !is(')')) unsupported("IGNORE_SERVER_IDS");
  expect(')');
}

// [FOR CHANNEL 'name']. There is the one without a name; CHANGE REPLICATION SOURCE would make another.
void Grammar::channel(bool makes) {
  if (!accept(Word::For)) return;
  expect_plain("channel");
  const std::string_view name = string_literal();
  if (failed() || name.empty()) return;
  if (makes) return unsupported("replication channels (multi-source replication)");
  fail(make_error(er::kReplicaChannelDoesNotExist, "Replica channel '{}' does not exist.", name));
}

// RESET REPLICA [ALL]
ast::Statement* Grammar::reset_replica() {
  advance();
  auto* reset = arena_.make<ast::ResetReplicaStatement>();
  reset->all = accept(Word::All);
  channel(false);
  return reset;
}

// RULE = (value, …) [, …]
ast::Statement* Grammar::change_filter() {
  advance();
  auto* change = node<ast::ChangeFilterStatement>();
  do {
    filter_rule(*change);
  } while (accept(','));
  channel(false);
  return change;
}

void Grammar::filter_rule(ast::ChangeFilterStatement& change) {
  const std::string_view name = upper(peek().text);
  bool known = name == kRewriteRule;
  ReplicationFilter rules;
  visit_replication_filter(rules, [&](std::string_view rule, const auto&) { known |= rule == name; });
  if (!known || peek().kind != TokenKind::Identifier) return fail();
  advance();
  expect('=');
  expect('(');
  const size_t first = change.values.size();
  if (name == kRewriteRule) {
    rewritten_databases(change);
  } else if (!is(')')) {
    do {
      change.values.push_back(filter_value(name.ends_with("_TABLE"), name.find("_WILD_") != name.npos));
    } while (accept(','));
  }
  expect(')');
  change.rules.push_back({name, first, change.values.size()});
}

// (from, to) [, …]
void Grammar::rewritten_databases(ast::ChangeFilterStatement& change) {
  if (is(')')) return;
  do {
    expect('(');
    change.values.push_back(identifier());
    expect(',');
    change.values.push_back(identifier());
    expect(')');
  } while (accept(','));
}

// A database; db.table; of wild rules 'db.table', with % and _.
std::string_view Grammar::filter_value(bool table, bool wild) {
  if (wild) {
    const std::string_view pattern = string_literal();
    if (!failed() && pattern.find('.') == pattern.npos) fail();
    return pattern;
  }
  const std::string_view db = identifier();
  if (!table) return db;
  expect('.');
  return arena_.copy(fmt::format("{}.{}", db, identifier()));
}

void Grammar::replica_thread_names(ast::ReplicaThreadStatement& threads) {
  threads.receiver = threads.applier = false;
  do {
    const std::string_view name = peek().text;
    const auto named = [name](std::string_view thread) { return equal_words(name, thread); };
    if (std::none_of(kReplicaThreads.begin(), kReplicaThreads.end(), named)) return fail();
    (named("sql_thread") ? threads.applier : threads.receiver) = true;
    advance();
  } while (accept(','));
}

// SOURCE_LOG_FILE = 'file', SOURCE_LOG_POS = position, in any order.
bool Grammar::until_source_place(ast::ReplicaThreadStatement& threads) {
  const auto comes = [this](std::string_view now, std::string_view former) {
    return equal_words(peek().text, now) || equal_words(peek().text, former);
  };
  do {
    const bool file = comes("source_log_file", "master_log_file");
    if (!file && !comes("source_log_pos", "master_log_pos")) {
      if (threads.until == ast::ReplicaThreadStatement::Until::SourcePlace) fail();
      break;
    }
    threads.until = ast::ReplicaThreadStatement::Until::SourcePlace;
    advance();
    expect('=');
    if (file) {
      threads.until_file = string_literal();
    } else {
      threads.until_position = unsigned_number();
    }
  } while (accept(','));
  return threads.until == ast::ReplicaThreadStatement::Until::SourcePlace;
}

void Grammar::replica_until(ast::ReplicaThreadStatement& threads) {
  using Until = ast::ReplicaThreadStatement::Until;
  advance();
  if (equal_words(peek().text, "sql_before_gtids")) {
    threads.until = Until::BeforeGtids;
  } else if (equal_words(peek().text, "sql_after_gtids")) {
    threads.until = Until::AfterGtids;
  } else if (equal_words(peek().text, "sql_after_mts_gaps")) {
    threads.until = Until::AfterGaps;
    return advance();
  } else if (until_source_place(threads)) {
    return;
  } else {
    return unsupported(fmt::format("START REPLICA UNTIL {}", upper(peek().text)));
  }
  advance();
  expect('=');
  threads.until_gtids = string_literal();
}

// START or STOP REPLICA [IO_THREAD | SQL_THREAD [, …]].
ast::Statement* Grammar::replica_threads() {
  auto* threads = arena_.make<ast::ReplicaThreadStatement>();
  threads->start = is(Word::Start);
  advance();
  if (!accept(Word::Replica)) expect(Word::Slave);
  const auto comes = [this](std::string_view thread) { return is_plain(peek(), thread); };
  if (std::any_of(kReplicaThreads.begin(), kReplicaThreads.end(), comes)) replica_thread_names(*threads);
  if (threads->start && is_plain(peek(), "until")) replica_until(*threads);
  if (threads->start && (is(Word::User) || is(Word::Password))) unsupported("START REPLICA USER");
  channel(false);
  return threads;
}

}  // namespace commitd::sql
