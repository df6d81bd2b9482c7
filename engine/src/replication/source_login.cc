#include "replication/source_login.h"

#include "base/error_codes.h"
#include "base/file.h"

namespace commitd::replication {
namespace {

std::string expected_name(const sql::FollowTarget& source) {
  if (!source.options.server_name.empty()) return source.options.server_name;
  return source.options.verify_server ? source.host : std::string();
}

Result<std::shared_ptr<const wire::TlsContext>> tls_of(const sql::FollowTarget& source) {
  const sql::SourceOptions& options = source.options;
  wire::TlsSettings settings;
  settings.ca = options.ca;
  settings.certificate = options.certificate;
  settings.key = options.key;
  settings.ciphers = options.ciphers;
  settings.ciphersuites = options.ciphersuites;
  if (!options.tls_versions.empty()) settings.versions = options.tls_versions;
  return wire::TlsContext::for_client(
      settings, {options.ca_directory, options.revoked, options.revoked_directory, expected_name(source)});
}

}  // namespace

Result<wire::ClientOptions> login_at(const sql::FollowTarget& source) {
  wire::ClientOptions login;
  login.host = source.host;
  login.port = source.port;
  login.user = source.user;
  login.password = source.password;
  login.get_public_key = source.options.get_public_key;
  if (source.options.tls) {
    auto tls = tls_of(source);
    if (!tls.ok()) return std::move(tls).error();
    login.tls = *std::move(tls);
  }
  if (!source.options.public_key_path.empty()) {
    auto key = read_whole_file(FileSystem::posix(), source.options.public_key_path);
    if (!key.ok()) return std::move(key).error();
    login.public_key = *std::move(key);
  }
  return login;
}

}  // namespace commitd::replication
