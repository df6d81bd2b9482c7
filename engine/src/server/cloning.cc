#include "server/cloning.h"

#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <charconv>
#include <chrono>
#include <filesystem>

#include "base/error_codes.h"
#include "server/cloned_data.h"
#include "server/variable_definitions.h"

namespace commitd::server {
namespace {

constexpr const char* kInfoFile = "commitd_clone_info";
constexpr uint64_t kMiB = 1 << 20;

uint64_t now_microseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::string text_of(const sql::SystemVariables& variables, const char* name) {
  const Value value = variables.global(name);
  return value.is_null() ? std::string() : value.as_string();
}

// "host:port,host:port", as it was written.
bool lists(std::string_view list, std::string_view donor) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == donor) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

uint64_t free_bytes(const std::string& directory) {
  struct statvfs volume {};
  if (statvfs(directory.c_str(), &volume) != 0) return UINT64_MAX;  // it will be seen
  return static_cast<uint64_t>(volume.f_bavail) * volume.f_frsize;
}

Error interrupted_error() {
  return make_error(er::kQueryInterrupted, "Query execution was interrupted");
}

// One line; GTIDs last, since they may take several.
std::string info_of(const sql::CloneReport& report) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", report.source, report.began, report.ended, report.bytes,
                     report.log_file, report.log_position, report.executed);
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

sql::CloneReport report_of(std::string_view info) {
  const auto field = [&info] {
    const size_t end = std::min(info.find('\t'), info.size());
    const std::string_view text = info.substr(0, end);
    info.remove_prefix(std::min(end + 1, info.size()));
    return text;
  };
  sql::CloneReport report;
  report.state = sql::CloneReport::State::Completed;
  report.source = field();
  report.began = number(field());
  report.ended = number(field());
  report.bytes = report.estimate = number(field());
  report.log_file = field();
  report.log_position = number(field());
  report.executed = info.substr(0, info.empty() ? 0 : info.size() - 1);
  report.destination = "LOCAL INSTANCE";
  return report;
}

}  // namespace

void CloneVariables::define(sql::SystemVariables& variables) {
  using sql::VariableType;
  for (const char* name : {"clone_valid_donor_list", "clone_ssl_ca", "clone_ssl_cert", "clone_ssl_key"})
    variables.define(variable(name, VariableType::String, Value::string("")));
  auto bandwidth = variable("clone_max_data_bandwidth", VariableType::Integer, Value::unsigned_integer(0));
  bandwidth.max = 1 << 20;
  bandwidth.on_update = [this](const Value& value) -> Status {
    bytes_per_second = value.as_uint() * kMiB;
    return {};
  };
  variables.define(std::move(bandwidth));
}

Cloning::Cloning(Environment environment) : environment_(std::move(environment)) {
  remember_former();
}

void Cloning::remember_former() {
  const std::string path = environment_.log.directory + "/" + kInfoFile;
  if (!environment_.fs->exists(path)) return;
  auto info = read_whole_file(*environment_.fs, path);
  MutexLock lock(mutex_);
  if (info.ok()) report_ = report_of(*info);
}

std::optional<sql::CloneReport> Cloning::last() const {
  MutexLock lock(mutex_);
  auto report = report_;
  if (report && report->state != sql::CloneReport::State::Completed) report->bytes = received_.load();
  return report;
}

Task<Status> Cloning::clone(sql::CloneRequest request, storage::ConnectionData& waits,
                            std::function<bool()> interrupted) {
  COMMITD_CO_RETURN_IF_ERROR(check_donor(request));
  auto target = target_of(request);
  if (!target.ok()) co_return std::move(target).error();
  if (target->in_place) COMMITD_CO_RETURN_IF_ERROR(environment_.roles->check_data_may_go());
  if (busy_.exchange(true))
    co_return make_error(er::kCloneInProgress,
                         "Concurrent clone in progress. Please try after clone is complete.");
  begin_report(request, *target);
  Status status = co_await fetch(request, *target, waits, interrupted);
  end_report(status);
  const bool replaced = status.ok() && target->in_place;
  if (!replaced) busy_ = false;  // else until the end of this process
  if (replaced) environment_.restart();
  co_return status;
}

Status Cloning::check_donor(const sql::CloneRequest& request) const {
  const std::string donor = fmt::format("{}:{}", request.host, request.port);
  const std::string list = text_of(*environment_.variables, "clone_valid_donor_list");
  if (request.any_donor || lists(list, donor)) return {};
  return make_error(er::kCloneSystemConfiguration,
                    "Clone system configuration: {} is not found in clone_valid_donor_list: {}", donor, list);
}

Result<Cloning::Target> Cloning::target_of(const sql::CloneRequest& request) const {
  const std::string& datadir = environment_.log.directory;
  if (request.directory.empty()) return Target{clone_directory_in(datadir), true};
  auto directory = new_directory_outside(*environment_.fs, datadir, request.directory, "CLONE INSTANCE");
  if (!directory.ok()) return std::move(directory).error();
  return Target{*std::move(directory), false};
}

Result<replication::CloneSource> Cloning::source_of(const sql::CloneRequest& request) const {
  using Tls = sql::CloneRequest::Tls;
  replication::CloneSource source{request.host, request.port, request.user, request.password, nullptr, false};
  if (request.tls == Tls::Refused) return source;
  wire::TlsSettings settings;
  settings.ca = text_of(*environment_.variables, "clone_ssl_ca");
  settings.certificate = text_of(*environment_.variables, "clone_ssl_cert");
  settings.key = text_of(*environment_.variables, "clone_ssl_key");
  auto context = wire::TlsContext::for_client(settings);
  if (!context.ok()) return std::move(context).error();
  source.tls = *std::move(context);
  source.tls_required = request.tls == Tls::Required || !settings.ca.empty();
  return source;
}

Status Cloning::accept(const replication::CloneHeader& header, const Target& target) {
  {
    MutexLock lock(mutex_);
    report_->estimate = header.bytes;
  }
  if (target.in_place && header.donor == environment_.server_uuid)
    return make_error(er::kCloneLoopback,
                      "Clone cannot use loop back connection while cloning into current data directory.");
  if (header.format != kDatadirFormat)
    return make_error(er::kCloneDonorVersion,
                      "Clone Donor MySQL version: {} is different from Recipient MySQL version {}.",
                      header.version, environment_.log.server_version);
  const auto durability = [](bool xa) { return xa ? "xa" : "single_log"; };
  if (target.in_place && header.own_log != environment_.xa)
    return make_error(er::kCloneConfiguration,
                      "Clone Configuration {}: Donor value: {} is different from Recipient value: {}.",
                      "commitd_durability", durability(header.own_log), durability(environment_.xa));
  const uint64_t room = free_bytes(target.directory);
  if (header.bytes > room)
    return make_error(er::kCloneDiskSpace,
                      "Clone estimated database size is {} bytes. Available space {} bytes is not enough.",
                      header.bytes, room);
  return {};
}

Task<Status> Cloning::fetch(const sql::CloneRequest& request, const Target& target,
                            storage::ConnectionData& waits, const std::function<bool()>& interrupted) {
  WorkerThread disk("clone");
  Status status = co_await fetch_with(disk, request, target, waits, interrupted);
  if (status.ok()) co_return status;
  std::function<Status()> remove = [this, &target] {
    return remove_copy(*environment_.fs, target.directory);
  };
  if (Status removed = co_await disk.run(std::move(remove)); !removed.ok())
    spdlog::warn("cannot remove what was cloned in part: {}", removed.error().message);
  co_return interrupted() ? Status(interrupted_error()) : status;
}

Task<Status> Cloning::fetch_with(WorkerThread& disk, const sql::CloneRequest& request, const Target& target,
                                 storage::ConnectionData& waits, const std::function<bool()>& interrupted) {
  std::function<Status()> make_room = [this, &target]() -> Status {
    FileSystem& fs = *environment_.fs;
    COMMITD_RETURN_IF_ERROR(remove_copy(fs, target.directory));
    COMMITD_RETURN_IF_ERROR(fs.make_directory(target.directory));
    return fs.make_directory(Datadir::engine_directory_in(target.directory));
  };
  COMMITD_CO_RETURN_IF_ERROR(co_await disk.run(std::move(make_room)));
  auto source = source_of(request);
  if (!source.ok()) co_return std::move(source).error();
  auto donor = co_await replication::connect_to_donor(*source);
  if (!donor.ok()) co_return std::move(donor).error();
  wire::Client& client = **donor;
  const storage::ConnectionData::Wait wait(waits, [&client] { client.channel().shutdown(); });
  if (interrupted()) co_return interrupted_error();
  replication::CloneReception::Environment reception{
      environment_.fs, Datadir::engine_directory_in(target.directory),
      &environment_.settings->bytes_per_second, &received_,
      [this, &target](const replication::CloneHeader& header) { return accept(header, target); }};
  replication::CloneReception clone(std::move(reception), disk);
  auto header = co_await clone.receive(client);
  client.channel().shutdown();
  if (!header.ok()) co_return std::move(header).error();
  std::function<Status()> finish = [this, &header, &target] { return complete(*header, target); };
  COMMITD_CO_RETURN_IF_ERROR(co_await disk.run(std::move(finish)));
  if (interrupted()) co_return interrupted_error();
  if (target.in_place) COMMITD_CO_RETURN_IF_ERROR(co_await put_in_place());
  co_return Status();
}

Status Cloning::complete(const replication::CloneHeader& header, const Target& target) {
  std::string info;
  {
    MutexLock lock(mutex_);
    report_->ended = now_microseconds();
    report_->bytes = header.bytes;
    report_->log_file = header.log_file;
    report_->log_position = header.log_file.empty() ? 0 : header.position.offset;
    report_->executed = header.executed.to_string();
    info = info_of(*report_);
  }
  COMMITD_RETURN_IF_ERROR(complete_copy(
      *environment_.fs, environment_.log,
      {target.directory, header.position, header.executed, header.own_log, kInfoFile, std::move(info)}));
  return environment_.fs->sync_directory(std::filesystem::path(target.directory).parent_path().string());
}

// The server is another one from then on: what the former one was known to hold, this one does not.
Task<Status> Cloning::put_in_place() {
  std::function<Status()> decide = [this] {
    return decide_on_clone(*environment_.fs, environment_.log.directory, Uuid::random());
  };
  co_return co_await environment_.roles->give_up_data(std::move(decide));
}

void Cloning::begin_report(const sql::CloneRequest& request, const Target& target) {
  received_ = 0;
  MutexLock lock(mutex_);
  report_ = sql::CloneReport{};
  report_->connection_id = request.connection_id;
  report_->began = now_microseconds();
  report_->source = fmt::format("{}:{}", request.host, request.port);
  report_->destination = target.in_place ? "LOCAL INSTANCE" : target.directory;
  spdlog::info("clone begins source={} directory={}", report_->source, target.directory);
}

void Cloning::end_report(const Status& status) {
  using State = sql::CloneReport::State;
  MutexLock lock(mutex_);
  report_->ended = now_microseconds();
  report_->state = status.ok() ? State::Completed : State::Failed;
  if (!status.ok()) report_->error = status.error();
  if (status.ok()) {
    spdlog::info("clone complete source={} bytes={} position={}:{}", report_->source, report_->bytes,
                 report_->log_file, report_->log_position);
  } else {
    spdlog::error("clone failed source={}: {}", report_->source, status.error().message);
  }
}

}  // namespace commitd::server
