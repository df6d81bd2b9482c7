#include "wire/tls/tls_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/file.h"
#include "wire/auth/password.h"
#include "wire/tls/certificates.h"

namespace commitd::wire {
namespace {

// A file that cannot be read is told of by who loads it.
std::string digest_of(const TlsSettings& settings) {
  std::string content, digits;
  for (const std::string& path : {settings.ca, settings.certificate}) {
    auto file =
        path.empty() ? Result<std::string>(std::string()) : read_whole_file(FileSystem::posix(), path);
    if (file.ok()) content += *file;
  }
  for (const char byte : sha256(content)) digits += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return digits;
}

}  // namespace

// The certificates of the directory count only when no file was named at all: a mixture would not fit.
Result<TlsSettings> TlsService::resolve() const {
  TlsSettings settings = settings_();
  if (settings.versions.empty()) return settings;
  if (settings.ca.empty() && settings.certificate.empty() && settings.key.empty()) {
    if (generate_) COMMITD_RETURN_IF_ERROR(make_certificates(directory_));
    if (!FileSystem::posix().exists(directory_ + "/server-cert.pem")) return settings;
    settings.ca = "ca.pem";
    settings.certificate = "server-cert.pem";
    settings.key = "server-key.pem";
  }
  for (std::string* path : {&settings.ca, &settings.certificate, &settings.key}) {
    if (!path->empty() && path->front() != '/') *path = directory_ + "/" + *path;
  }
  return settings;
}

Status TlsService::load() {
  auto settings = resolve();
  if (!settings.ok()) return std::move(settings).error();
  std::shared_ptr<const TlsContext> made;
  std::string digest;
  if (!settings->versions.empty() && !(settings->certificate.empty() && settings->key.empty())) {
    digest = digest_of(*settings);  // before: files that are replaced meanwhile show as not loaded yet
    auto context = TlsContext::for_server(*settings);
    if (!context.ok()) return std::move(context).error();
    made = std::move(*context);
  }
  std::lock_guard lock(mutex_);
  context_ = std::move(made);
  digest_ = std::move(digest);
  used_ = std::move(*settings);
  return {};
}

std::shared_ptr<const TlsContext> TlsService::current() const {
  std::lock_guard lock(mutex_);
  return context_;
}

void TlsService::reload_if_replaced() {
  auto settings = resolve();
  if (!settings.ok()) return;
  std::string found = digest_of(*settings);
  {
    std::lock_guard lock(mutex_);
    if (found == digest_ || found == refused_) return;
  }
  if (Status loaded = load(); loaded.ok()) {
    spdlog::info("TLS: the certificates on disk are others now, and in use for new connections");
    found.clear();
  } else {
    spdlog::error("TLS: the certificates on disk cannot be used, the former ones stay in use: {}",
                  loaded.error().message);
  }
  std::lock_guard lock(mutex_);
  refused_ = std::move(found);
}

std::string TlsService::digest() const {
  std::lock_guard lock(mutex_);
  return digest_;
}

TlsSettings TlsService::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

std::vector<std::pair<std::string, std::string>> TlsService::status() const {
  auto context = current();
  if (!context) return {};
  const long mode = SSL_CTX_get_verify_mode(context->get());
  return {{"Ssl_accepts", std::to_string(SSL_CTX_sess_accept(context->get()))},
          {"Ssl_finished_accepts", std::to_string(SSL_CTX_sess_accept_good(context->get()))},
          {"Ssl_session_cache_hits", std::to_string(SSL_CTX_sess_hits(context->get()))},
          {"Ssl_verify_mode", std::to_string(mode)},
          {"Ssl_server_not_before", context->not_before()},
          {"Ssl_server_not_after", context->not_after()}};
}

}  // namespace commitd::wire
