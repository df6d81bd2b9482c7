#include "replication/role_state.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/crc32.h"
#include "base/error_codes.h"
#include "base/text_case.h"

namespace commitd::replication {
namespace {

constexpr std::string_view kFormatLine = "commitd-role 1\n";
constexpr std::string_view kChecksumKey = "crc32=";
constexpr size_t kChecksumLine = kChecksumKey.size() + 9;
// What a state takes on the disk, whatever is in it, but for that of a very large cluster.
constexpr size_t kRoomBytes = 8192;

Error unreadable(std::string_view why) {
  return make_error(er::kErrorOnRead,
                    "The role file is not usable ({}). It says which epoch this server has promised, so the "
                    "server does not start "
                    "without it: restore the file, or build the server anew from another member",
                    why);
}

// Values are free text (host names, passwords): line ends and the escape character itself are written as %XX.
std::string escape(std::string_view text) {
  std::string out;
  for (unsigned char c : text) {
    if (c < 0x20 || c == '%') {
      out += fmt::format("%{:02x}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

using Fields = std::map<std::string, std::string, std::less<>>;

template <class Number>
bool read_number(const Fields& fields, std::string_view key, Number& into) {
  auto found = fields.find(key);
  if (found == fields.end()) return false;
  const std::string& text = found->second;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into);
  return problem == std::errc() && end == text.data() + text.size();
}

bool read_uuid(const Fields& fields, std::string_view key, Uuid& into) {
  auto found = fields.find(key);
  if (found == fields.end()) return false;
  auto parsed = Uuid::parse(found->second);
  if (!parsed) return false;
  into = *parsed;
  return true;
}

bool read_members(const Fields& fields, std::vector<Uuid>& into) {
  auto found = fields.find("members");
  if (found == fields.end()) return false;
  std::string_view rest = found->second;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    auto parsed = Uuid::parse(rest.substr(0, comma));
    if (!parsed) return false;
    into.push_back(*parsed);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return true;
}

bool read_grant(const Fields& fields, Grant& into) {
  auto found = fields.find("grant");
  if (found == fields.end()) return false;
  for (Grant grant : {Grant::None, Grant::Fenced, Grant::Replica, Grant::Master}) {
    if (found->second == grant_name(grant)) {
      into = grant;
      return true;
    }
  }
  return false;
}

std::string read_text(const Fields& fields, std::string_view key) {
  auto found = fields.find(key);
  return found == fields.end() ? std::string() : unescape(found->second);
}

// What a release before this one wrote has none of them.
bool read_terms(const Fields& fields, sql::SemisyncTerms& into) {
  const auto milliseconds = [&](std::string_view key, std::chrono::milliseconds& value) {
    if (!fields.contains(key)) return true;
    uint32_t count = 0;
    if (!read_number(fields, key, count)) return false;
    value = std::chrono::milliseconds(count);
    return true;
  };
  using sql::OnSemisyncTimeout;
  for (const auto choice : {OnSemisyncTimeout::Async, OnSemisyncTimeout::Block, OnSemisyncTimeout::Error}) {
    if (read_text(fields, "on_timeout") == name_of(choice)) into.on_timeout = choice;
  }
  if (read_text(fields, "wait_point") == name_of(sql::WaitPoint::AfterCommit))
    into.wait_point = sql::WaitPoint::AfterCommit;
  return milliseconds("timeout", into.timeout) && milliseconds("source_lease", into.lease);
}

std::string option_key(std::string_view name) {
  return lower_case(name);
}

std::string option_text(const std::string& value) {
  return escape(value);
}
template <class Number>
std::string option_text(Number value) {
  return std::to_string(value);
}

void read_option(const Fields& fields, std::string_view key, std::string& into) {
  into = read_text(fields, key);
}
void read_option(const Fields& fields, std::string_view key, bool& into) {
  into = read_text(fields, key) == "1";
}
template <class Number>
void read_option(const Fields& fields, std::string_view key, Number& into) {
  read_number(fields, key, into);
}

// Of a source that is known, those that an operator's have are not written. Former releases have written
// none.
std::string option_lines(const sql::FollowTarget& source) {
  if (!source.host.empty() && source.options == sql::SourceOptions{}) return {};
  std::string text;
  sql::visit_source_options(source.options, [&](std::string_view name, const auto& value) {
    text += fmt::format("{}={}\n", option_key(name), option_text(value));
  });
  return text;
}

void read_options(const Fields& fields, sql::FollowTarget& source) {
  if (!source.host.empty()) source.options = {};
  sql::visit_source_options(source.options, [&](std::string_view name, auto& value) {
    if (const std::string key = option_key(name); fields.contains(key)) read_option(fields, key, value);
  });
}

// Former releases started and stopped both threads at once.
void read_applier(const Fields& fields, RoleState& state) {
  state.start_applier = state.start_replica;
  if (!fields.contains("start_applier")) return;
  read_option(fields, "start_applier", state.start_applier);
  read_option(fields, "apply_held", state.apply_held);
  read_option(fields, "applied_file", state.applied_to.file);
  read_option(fields, "applied_offset", state.applied_to.offset);
}

Fields split_lines(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (const size_t equals = line.find('='); equals != std::string_view::npos) {
      fields.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

}  // namespace

std::string_view grant_name(Grant grant) {
  switch (grant) {
    case Grant::None:
      return "none";
    case Grant::Fenced:
      return "fenced";
    case Grant::Replica:
      return "replica";
    case Grant::Master:
      return "master";
  }
  return "none";
}

std::string_view name_of(sql::OnSemisyncTimeout on_timeout) {
  switch (on_timeout) {
    case sql::OnSemisyncTimeout::Async:
      return "async";
    case sql::OnSemisyncTimeout::Block:
      return "block";
    case sql::OnSemisyncTimeout::Error:
      return "error";
  }
  return "block";
}

std::string_view name_of(sql::WaitPoint wait_point) {
  return wait_point == sql::WaitPoint::AfterCommit ? "AFTER_COMMIT" : "AFTER_SYNC";
}

sql::FollowTarget unknown_source() {
  sql::FollowTarget source;
  source.options.auto_position = false;
  source.options.get_public_key = false;
  return source;
}

void RoleState::set_stand(const SourceStand& stand) {
  source.options.log_file = stand.file;
  source.options.log_position = stand.position;
  stand_as_of = stand.as_of;
}

std::string RoleState::encode() const {
  std::string text(kFormatLine);
  const auto line = [&](std::string_view key, const auto& value) {
    text += fmt::format("{}={}\n", key, value);
  };
  line("epoch", epoch);
  line("grant", grant_name(grant));
  line("quorum_version", quorum.version);
  line("wait_count", quorum.wait_count);
  line("members", join_uuids(quorum.members));
  line("timeout", quorum.terms.timeout.count());
  line("on_timeout", name_of(quorum.terms.on_timeout));
  line("wait_point", name_of(quorum.terms.wait_point));
  line("source_lease", quorum.terms.lease.count());
  line("source_host", escape(source.host));
  line("source_port", source.port);
  line("source_uuid", source.source_uuid.to_string());
  line("source_user", escape(source.user));
  line("source_password", escape(source.password));
  text += option_lines(source);
  line("start_replica", start_replica ? 1 : 0);
  line("start_applier", start_applier ? 1 : 0);
  line("apply_held", apply_held ? 1 : 0);
  line("applied_file", applied_to.file);
  line("applied_offset", applied_to.offset);
  line("stand_file", stand_as_of.file);
  line("stand_offset", stand_as_of.offset);
  line("place_series", place_series);
  line("gno_floor", gno_floor);
  constexpr std::string_view kRoomKey = "room=";
  const size_t taken = text.size() + kRoomKey.size() + 1 + kChecksumLine;
  if (taken < kRoomBytes) text += fmt::format("{}{}\n", kRoomKey, std::string(kRoomBytes - taken, '.'));
  text += fmt::format("{}{:08x}\n", kChecksumKey, crc32_of(text));
  return text;
}

Result<RoleState> RoleState::decode(std::string_view text) {
  if (!text.starts_with("commitd-role ")) return unreadable("it is not a role file");
  if (!text.starts_with(kFormatLine))
    return unreadable("it was written by another release in a format this one does not know");
  const size_t checksum_line = text.rfind(kChecksumKey);
  if (checksum_line == std::string_view::npos) return unreadable("it is cut off");
  const std::string expected =
      fmt::format("{}{:08x}\n", kChecksumKey, crc32_of(text.substr(0, checksum_line)));
  if (text.substr(checksum_line) != expected) return unreadable("its checksum does not match");

  const Fields fields = split_lines(text.substr(kFormatLine.size(), checksum_line - kFormatLine.size()));
  RoleState state;
  int start_replica = 0;
  const bool complete = read_number(fields, "epoch", state.epoch) && read_grant(fields, state.grant) &&
                        read_number(fields, "quorum_version", state.quorum.version) &&
                        read_number(fields, "wait_count", state.quorum.wait_count) &&
                        read_members(fields, state.quorum.members) &&
                        read_terms(fields, state.quorum.terms) &&
                        read_number(fields, "source_port", state.source.port) &&
                        read_uuid(fields, "source_uuid", state.source.source_uuid) &&
                        read_number(fields, "start_replica", start_replica) &&
                        read_number(fields, "gno_floor", state.gno_floor);
  if (!complete) return unreadable("a field is missing or is not what it should be");
  state.start_replica = start_replica != 0;
  read_applier(fields, state);
  read_option(fields, "stand_file", state.stand_as_of.file);
  read_option(fields, "stand_offset", state.stand_as_of.offset);
  read_option(fields, "place_series", state.place_series);
  state.source.host = read_text(fields, "source_host");
  state.source.user = read_text(fields, "source_user");
  state.source.password = read_text(fields, "source_password");
  read_options(fields, state.source);
  return state;
}

namespace {

std::string spare_path(const std::string& path) {
  return path + ".spare";
}

std::string former_path(const std::string& path) {
  return path + ".former";
}

Status sync_directory_of(FileSystem& fs, const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return fs.sync_directory(slash == std::string::npos ? "." : path.substr(0, slash));
}

Status write_over(FileSystem& fs, const std::string& path, std::string_view content) {
  auto file = fs.open(path, FileSystem::Open::ReadWrite);
  if (!file) return std::move(file).error();
  COMMITD_RETURN_IF_ERROR((*file)->write_at(0, std::span(&content, 1)));
  COMMITD_RETURN_IF_ERROR((*file)->truncate(content.size()));
  return (*file)->sync_data();
}

// Nothing here needs room, however often it is done: the spare is written over in place, and the file that it
// takes the place of is the next spare.
Status save_into_spare(FileSystem& fs, const std::string& path, std::string_view content) {
  COMMITD_RETURN_IF_ERROR(write_over(fs, spare_path(path), content));
  const bool replaces = fs.exists(path);
  if (replaces) COMMITD_RETURN_IF_ERROR(fs.rename(path, former_path(path)));
  COMMITD_RETURN_IF_ERROR(fs.rename(spare_path(path), path));
  COMMITD_RETURN_IF_ERROR(sync_directory_of(fs, path));
  if (replaces) (void)fs.rename(former_path(path), spare_path(path));
  return {};
}

// What a crash left of the above. The spare is whole when the file gets out of its way.
Status finish_save_into_spare(FileSystem& fs, const std::string& path) {
  if (!fs.exists(former_path(path))) return {};
  if (!fs.exists(path)) {
    COMMITD_RETURN_IF_ERROR(fs.rename(spare_path(path), path));
    COMMITD_RETURN_IF_ERROR(sync_directory_of(fs, path));
  }
  return fs.rename(former_path(path), spare_path(path));
}

}  // namespace

Result<RoleState> load_role_state(FileSystem& fs, const std::string& path) {
  COMMITD_RETURN_IF_ERROR(finish_save_into_spare(fs, path));
  if (!fs.exists(path)) return RoleState{};
  auto text = read_whole_file(fs, path);
  if (!text) return std::move(text).error();
  return RoleState::decode(*text);
}

void keep_room_for_role_state(FileSystem& fs, const std::string& path) {
  if (fs.exists(spare_path(path))) return;
  (void)write_file_atomically(fs, spare_path(path),
                              std::string(kRoomBytes, '\0'));  // there may be some later
}

Status save_role_state(FileSystem& fs, const std::string& path, const RoleState& state) {
  const std::string content = state.encode();
  Status saved = write_file_atomically(fs, path, content);
  const bool no_room = !saved.ok() && saved.error().code == er::kDiskFull;
  if (no_room && content.size() <= kRoomBytes && fs.exists(spare_path(path)))
    saved = save_into_spare(fs, path, content);
  if (saved.ok()) keep_room_for_role_state(fs, path);
  return saved;
}

std::string join_uuids(const std::vector<Uuid>& uuids) {
  std::string out;
  for (const Uuid& uuid : uuids) {
    if (!out.empty()) out += ',';
    out += uuid.to_string();
  }
  return out;
}

std::vector<Uuid> sorted_uuids(std::vector<Uuid> uuids) {
  std::sort(uuids.begin(), uuids.end());
  uuids.erase(std::unique(uuids.begin(), uuids.end()), uuids.end());
  return uuids;
}

}  // namespace commitd::replication
