#include "server/slow_log_file.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>

#include <spdlog/spdlog.h>

#include "base/error_codes.h"
#include "base/temporal.h"

namespace commitd::server {
namespace {

// What waits for a disk that does not keep up; beyond it entries are dropped and counted.
constexpr size_t kMostPending = 8u << 20;

std::string default_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "commitd-slow.log";
  return fmt::format("{}-slow.log", host.data());
}

double in_seconds(std::chrono::microseconds duration) {
  return static_cast<double>(duration.count()) / 1e6;
}

// 2026-11-21T23:28:21.123456Z
std::string time_text(std::chrono::system_clock::time_point at) {
  const int64_t since = std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
  std::string text =
      format_temporal(datetime_from_unix(since / 1'000'000, static_cast<uint32_t>(since % 1'000'000), 6));
  text[text.find(' ')] = 'T';
  return text + "Z";
}

// The file of this name, or a new one.
Result<std::unique_ptr<File>> open_or_create(FileSystem& fs, const std::string& path) {
  return fs.open(path, fs.exists(path) ? FileSystem::Open::ReadWrite : FileSystem::Open::Create);
}

std::string entry_text(const sql::SlowStatement& statement, bool name_database) {
  const bool numeric = statement.host.find_first_not_of("0123456789.:abcdefABCDEF") == std::string_view::npos;
  std::string text = fmt::format(
      "# Time: {}\n# User@Host: {}[{}] @ {} [{}]  Id: {:5}\n", time_text(statement.end), statement.user,
      statement.user, numeric ? "" : statement.host, numeric ? statement.host : "", statement.connection_id);
  fmt::format_to(std::back_inserter(text),
                 "# Query_time: {:.6f}  Lock_time: {:.6f} Rows_sent: {}  Rows_examined: {}\n",
                 in_seconds(statement.duration), in_seconds(statement.lock_time), statement.rows_sent,
                 statement.rows_examined);
  if (name_database) fmt::format_to(std::back_inserter(text), "use {};\n", statement.database);
  std::string_view statement_text = statement.text;
  while (!statement_text.empty() && (statement_text.back() == ';' || statement_text.back() == ' '))
    statement_text.remove_suffix(1);
  fmt::format_to(std::back_inserter(text), "SET timestamp={};\n{};\n", statement.start_second,
                 statement_text);
  return text;
}

}  // namespace

SlowLogFile::~SlowLogFile() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

std::string SlowLogFile::path(const std::string& name) const {
  return name.starts_with('/') ? name : directory_ + "/" + name;
}

void SlowLogFile::define(sql::SystemVariables& variables) {
  sql::VariableDefinition on;
  on.name = "slow_query_log";
  on.type = sql::VariableType::Boolean;
  on.initial = Value::integer(0);
  on.on_update = [this](const Value& value) { return switch_on(value.as_int() != 0); };
  variables.define(std::move(on));

  name_ = path(default_name());
  sql::VariableDefinition file;
  file.name = "slow_query_log_file";
  file.initial = Value::string(name_);
  file.on_update = [this](const Value& value) { return use_file(value.to_text()); };
  variables.define(std::move(file));
}

void SlowLogFile::start(std::string heading) {
  bool on = false;
  {
    std::lock_guard file(file_mutex_);
    heading_ = std::move(heading);
    started_ = true;
    on = on_.load();
  }
  if (!on) return;
  on_ = false;
  if (auto status = switch_on(true); !status.ok())
    spdlog::error("the slow log stays off: {}", status.error().message);
}

Status SlowLogFile::switch_on(bool on) {
  std::lock_guard file(file_mutex_);
  if (started_ && on && file_ == nullptr) COMMITD_RETURN_IF_ERROR(open_file(name_));
  std::lock_guard lock(mutex_);
  if (started_ && on && !thread_.joinable()) thread_ = std::thread([this] { loop(); });
  on_ = on;
  return {};
}

Status SlowLogFile::use_file(const std::string& name) {
  if (name.empty())
    return make_error(er::kWrongValueForVar,
                      "Variable 'slow_query_log_file' can't be set to the value of ''");
  std::lock_guard file(file_mutex_);
  if (started_ && on_) {
    COMMITD_RETURN_IF_ERROR(open_file(name));
  } else {
    file_.reset();
  }
  name_ = name;
  return {};
}

Status SlowLogFile::open_file(const std::string& name) {
  auto opened = open_or_create(fs_, path(name));
  if (!opened.ok()) return std::move(opened).error();
  file_ = *std::move(opened);
  {
    std::lock_guard lock(mutex_);
    last_database_.clear();
  }
  return append(heading_ + "Time                 Id Command    Argument\n");
}

// At its present end: a tool may have cut the file.
Status SlowLogFile::append(std::string_view text) {
  if (file_ == nullptr || text.empty()) return {};
  const auto end = file_->size();
  if (!end.ok()) return end.error();
  return file_->write_at(*end, std::array{text});
}

void SlowLogFile::write(const sql::SlowStatement& statement) {
  std::lock_guard lock(mutex_);
  const bool name_database = !statement.database.empty() && statement.database != last_database_;
  std::string entry = entry_text(statement, name_database);
  if (pending_.size() + entry.size() > kMostPending) {
    ++dropped_;
    return;
  }
  if (name_database) last_database_ = std::string(statement.database);
  pending_ += entry;
  changed_.notify_one();
}

Task<Status> SlowLogFile::reopen() {
  Reopening reopening;
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) co_return Status();
    reopenings_.push_back(&reopening);
    changed_.notify_one();
  }
  co_await reopening.parker.park();
  co_return std::move(reopening.result);
}

void SlowLogFile::loop() {
  prctl(PR_SET_NAME, "slow_log");
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !pending_.empty() || !reopenings_.empty() || stopping_; });
    if (pending_.empty() && reopenings_.empty()) return;
    std::string text = std::exchange(pending_, {});
    const std::vector<Reopening*> reopenings = std::exchange(reopenings_, {});
    if (!reopenings.empty()) last_database_.clear();  // what comes from here on goes to the other file
    const uint64_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    if (dropped != 0) spdlog::warn("the slow log's file does not keep up: {} entries dropped", dropped);
    std::lock_guard file(file_mutex_);
    if (auto status = append(text); !status.ok()) spdlog::error("slow log: {}", status.error().message);
    for (Reopening* reopening : reopenings) {
      reopening->result = file_ == nullptr ? Status() : open_file(name_);
      reopening->parker.wake();
    }
  }
}

}  // namespace commitd::server
