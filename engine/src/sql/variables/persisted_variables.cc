#include "sql/variables/persisted_variables.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "base/error_codes.h"

namespace commitd::sql {
namespace {

constexpr const char* kDynamic = "mysql_dynamic_variables";

Error damaged(std::string_view what) {
  return make_error(er::kErrorOnRead, "mysqld-auto.cnf cannot be read: {}", what);
}

std::string member_text(const rapidjson::Value& object, const char* name) {
  auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

Status read_section(const rapidjson::Document& file, const char* section, PersistedVariables::Entries& into) {
  auto found = file.FindMember(section);
  if (found == file.MemberEnd()) return {};
  if (!found->value.IsObject()) return damaged(fmt::format("'{}' is not an object", section));
  for (const auto& member : found->value.GetObject()) {
    if (!member.value.IsObject() || !member.value.HasMember("Value") || !member.value["Value"].IsString())
      return damaged(fmt::format("'{}' has no Value", member.name.GetString()));
    PersistedVariable variable;
    variable.value = member_text(member.value, "Value");
    auto metadata = member.value.FindMember("Metadata");
    if (metadata != member.value.MemberEnd() && metadata->value.IsObject()) {
      auto time = metadata->value.FindMember("Timestamp");
      if (time != metadata->value.MemberEnd() && time->value.IsUint64())
        variable.microseconds = time->value.GetUint64();
      variable.user = member_text(metadata->value, "User");
      variable.host = member_text(metadata->value, "Host");
    }
    into[member.name.GetString()] = std::move(variable);
  }
  return {};
}

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void write_text(Writer& out, const char* key, const std::string& text) {
  out.Key(key);
  out.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_section(Writer& out, const char* section, const PersistedVariables::Entries& entries) {
  out.Key(section);
  out.StartObject();
  for (const auto& [name, variable] : entries) {
    out.Key(name.c_str());
    out.StartObject();
    write_text(out, "Value", variable.value);
    out.Key("Metadata");
    out.StartObject();
    out.Key("Timestamp");
    out.Uint64(variable.microseconds);
    write_text(out, "User", variable.user);
    write_text(out, "Host", variable.host);
    out.EndObject();
    out.EndObject();
  }
  out.EndObject();
}

std::string to_json(const PersistedVariables::Entries& entries) {
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.StartObject();
  out.Key("Version");
  out.Int(2);
  write_section(out, kDynamic, entries);
  out.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace

Status PersistedVariables::load(std::string_view content) {
  rapidjson::Document file;
  file.Parse(content.data(), content.size());
  if (file.HasParseError()) {
    return damaged(fmt::format("{} (at byte {})", rapidjson::GetParseError_En(file.GetParseError()),
                               file.GetErrorOffset()));
  }
  if (!file.IsObject() || !file.HasMember("Version") || !file["Version"].IsInt() ||
      file["Version"].GetInt() != 2) {
    return damaged("its version is not 2");
  }
  Entries entries;
  COMMITD_RETURN_IF_ERROR(read_section(file, kDynamic, entries));
  std::lock_guard lock(mutex_);
  entries_ = std::move(entries);
  return {};
}

Status PersistedVariables::replace(Entries entries) {
  if (save_) COMMITD_RETURN_IF_ERROR(save_(to_json(entries)));
  entries_ = std::move(entries);
  return {};
}

Status PersistedVariables::set(const std::string& name, PersistedVariable variable) {
  std::lock_guard lock(mutex_);
  Entries entries = entries_;
  entries[name] = std::move(variable);
  return replace(std::move(entries));
}

Status PersistedVariables::remove(const std::string& name) {
  std::lock_guard lock(mutex_);
  Entries entries = entries_;
  if (entries.erase(name) == 0)
    return make_error(er::kVarDoesNotExistPersisted, "Variable {} does not exist in persisted config file",
                      name);
  return replace(std::move(entries));
}

Status PersistedVariables::clear() {
  std::lock_guard lock(mutex_);
  return replace({});
}

PersistedVariables::Entries PersistedVariables::all() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace commitd::sql
