#include "server/testing/member.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <stdexcept>

#include <absl/hash/hash.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "binlog/transaction_scanner.h"
#include "log/log.h"
#include "runtime/reactor.h"
#include "storage/rocks/rocks_engine.h"
#include "storage/rocks/testing/file_system_env.h"

namespace commitd::server::testing {
namespace {

using commitd::testing::Loss;
using commitd::testing::RecordingFileSystem;

constexpr const char *kOperator = "commitlab_operator", *kPassword = "of a test";
constexpr auto kPatience = std::chrono::seconds(60);

bool can_listen(uint16_t port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool free = ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  return free;
}

// Of ports that other tests that run now do not take, and below those that the kernel lends: a server is down
// for a while and wants its port again.
uint16_t free_port(uint16_t at_least) {
  constexpr int kFirst = 11'000, kPlaces = 4'000, kPortsOfProcess = 5;
  auto port = std::max<uint16_t>(at_least, kFirst + ::getpid() % kPlaces * kPortsOfProcess);
  while (!can_listen(port)) ++port;
  return port;
}

Task<Result<Rows>> ask_once(uint16_t port, std::string statement) {
  auto client = co_await wire::Client::connect(client_of(port));
  if (!client.ok()) co_return std::move(client).error();
  auto rows = co_await (*client)->query(statement, Clock::now() + kPatience);
  (*client)->channel().shutdown();
  co_return rows;
}

Status done(Result<Rows> rows) {
  return rows.ok() ? Status{} : Status(std::move(rows).error());
}

uint64_t number(const std::string& text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

binlog::LogOptions log_options(const Site& site) {
  binlog::LogOptions options;
  options.directory = site.directory;
  options.server_version = kVersion;
  return options;
}

using EachTransaction = std::function<void(const Gtid&, std::string_view events)>;

void for_each_transaction(binlog::Log& log, LogPosition end, const EachTransaction& each) {
  binlog::TransactionScanner scanner;
  for (LogPosition at = {log.files()->front().number, 4}; at < end;) {
    const auto chunk = log.read(at, end, 64 << 20);
    if (!chunk.ok()) throw std::runtime_error(chunk.error().message);
    if (chunk->bytes.empty()) return;
    at = chunk->start;
    for (std::string_view rest = chunk->bytes; !rest.empty();) {
      const auto event = binlog::parse_event(rest);
      if (!event.ok()) throw std::runtime_error(event.error().message);
      const auto place = scanner.feed(*event, at.offset);
      if (!place.ok()) throw std::runtime_error(place.error().message);
      at.offset += event->bytes.size();
      rest.remove_prefix(event->bytes.size());
      if (!binlog::TransactionScanner::completes(*place)) continue;
      const binlog::TransactionScanner::Transaction& ended = scanner.transaction();
      each(ended.gtid, chunk->bytes.substr(ended.start - chunk->start.offset, ended.end - ended.start));
    }
  }
}

// Of the bodies: positions, checksums and the GTID event's clock are those of a file.
uint64_t digest_of(std::string_view events) {
  uint64_t digest = 0;
  while (!events.empty()) {
    const auto event = binlog::parse_event(events);
    events.remove_prefix(event->bytes.size());
    if (event->header.type == binlog::EventType::Gtid) continue;
    constexpr size_t kHeader = 19, kChecksum = 4;
    const std::string_view body = event->bytes.substr(kHeader, event->bytes.size() - kHeader - kChecksum);
    digest = absl::HashOf(digest, event->header.type, body);
  }
  return digest;
}

}  // namespace

wire::ClientOptions client_of(uint16_t port) {
  wire::ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.user = kOperator;
  options.password = kPassword;
  options.deadline = Clock::now() + kPatience;
  return options;
}

std::vector<Site> new_sites(int count) {
  static int clusters = 0;
  const std::string root =
      fmt::format("{}commitd_cluster.{}.{}", ::testing::TempDir(), ::getpid(), ++clusters);
  std::vector<Site> sites;
  for (int i = 1; i <= count; ++i) {
    const uint16_t port = free_port(sites.empty() ? 0 : sites.back().port + 1);
    sites.push_back({i, fmt::format("{}/member{}", root, i), port});
  }
  return sites;
}

void remove_sites(const std::vector<Site>& sites) {
  std::error_code ignored;
  for (const Site& site : sites)
    std::filesystem::remove_all(std::filesystem::path(site.directory).parent_path(), ignored);
}

std::unique_ptr<Server> Member::make(bool only_initialize) {
  Options options;
  options.datadir = site_.directory;
  options.port = site_.port;
  options.admin_port = options.http_port = 0;
  options.server_id = static_cast<uint32_t>(site_.number);
  options.reactor_threads = 1;
  options.memory_budget = 1ull << 40;
  options.block_cache_size = 1 << 20;
  options.write_buffer_size = 64 << 10;
  options.binlog_prefill = 2048;
  options.operator_password = kPassword;
  options.initialize_insecure = only_initialize;
  options.require_role = !only_initialize;
  options.variables = {{"tls-version", ""}, {"auto-generate-certs", "OFF"}, {"max-binlog-size", "8192"}};
  env_ = storage::testing::env_over(disk_);
  Environment environment;
  environment.files = &disk_;
  environment.restart = [] {};  // whoever holds the member does it
  environment.open_engine = [this](const storage::RocksOptions& rocks) {
    return storage::open_rocks_on(*env_, rocks);
  };
  return std::make_unique<Server>(std::move(options), std::move(environment));
}

Status Member::create() {
  disk_.appends_survive_in_order(site_.engine_directory());
  return make(true)->start();
}

Status Member::start() {
  server_ = make(false);
  return server_->start();
}

void Member::stop() {
  server_.reset();
}

Result<Rows> Member::ask(const std::string& statement) const {
  return run_blocking(ask_once(site_.port, statement));
}

std::string Member::value(const std::string& statement) const {
  const auto rows = ask(statement);
  if (!rows.ok()) return "ERROR " + rows.error().message;
  return rows->empty() ? "" : rows->front().front().value_or("NULL");
}

Result<Member::State> Member::state() const {
  auto rows =
      ask("SELECT server_uuid, epoch, last_log_epoch, gtid_logged, gtid_executed, writes_blocked, "
          "ack_waiting, role, "
          "receiver_error FROM performance_schema.commitd_instance");
  if (!rows.ok()) return std::move(rows).error();
  const auto& row = rows->front();
  const auto column = [&row](size_t i) { return row[i].value_or(""); };
  State state;
  state.uuid = *Uuid::parse(column(0));
  state.epoch = number(column(1));
  state.last_log_epoch = number(column(2));
  state.logged = *GtidSet::parse(column(3));
  state.executed = *GtidSet::parse(column(4));
  state.writes_blocked = column(5) != "0";
  state.ack_waiting = number(column(6));
  state.role = column(7);
  state.receiver_error = column(8);
  return state;
}

Status Member::fence(uint64_t epoch) const {
  return done(ask(fmt::format("ALTER INSTANCE FENCE EPOCH {}", epoch)));
}

Status Member::promote(uint64_t epoch, int wait_count, const std::vector<Uuid>& members) const {
  std::string uuids;
  for (const Uuid& uuid : members) uuids += (uuids.empty() ? "" : ",") + uuid.to_string();
  return done(ask(
      fmt::format("ALTER INSTANCE PROMOTE EPOCH {} WAIT_COUNT {} MEMBERS '{}'", epoch, wait_count, uuids)));
}

Status Member::follow(uint64_t epoch, const Member& source, const Uuid& uuid) const {
  return done(ask(
      fmt::format("ALTER INSTANCE FOLLOW EPOCH {} SOURCE_HOST '127.0.0.1' SOURCE_PORT {} SOURCE_UUID '{}' "
                  "SOURCE_USER '{}' SOURCE_PASSWORD '{}'",
                  epoch, source.port(), uuid.to_string(), kOperator, kPassword)));
}

Result<size_t> elect(const std::vector<Member::State>& reached) {
  size_t best = 0;
  for (size_t i = 1; i < reached.size(); ++i) {
    const auto &one = reached[i], &other = reached[best];
    const bool newer = one.last_log_epoch > other.last_log_epoch;
    const bool more = one.last_log_epoch == other.last_log_epoch && one.logged.contains(other.logged);
    if (newer || more) best = i;
  }
  for (const auto& one : reached) {
    if (one.last_log_epoch == reached[best].last_log_epoch && !reached[best].logged.contains(one.logged))
      return make_error(er::kDiverged, "each has something that the other lacks");
  }
  return best;
}

Result<LogContent> log_content(RecordingFileSystem& disk, const Site& site) {
  binlog::OpenReport found;
  auto log = binlog::Log::open(disk, log_options(site), LogPosition{}, &found);
  if (!log.ok()) return std::move(log).error();
  return LogContent{found.logged, found.last_epoch};
}

std::map<Gtid, uint64_t> transactions_in(RecordingFileSystem& disk, const Site& site) {
  const auto copy = disk.after_crash(disk.steps(), Loss::KeepAll, 0);
  binlog::OpenReport found;
  auto log = binlog::Log::open(*copy, log_options(site), LogPosition{}, &found);
  if (!log.ok()) throw std::runtime_error(log.error().message);
  std::map<Gtid, uint64_t> transactions;
  for_each_transaction(**log, found.end, [&](const Gtid& gtid, std::string_view events) {
    if (!gtid.empty()) transactions[gtid] = digest_of(events);
  });
  return transactions;
}

}  // namespace commitd::server::testing
