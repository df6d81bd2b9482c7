#include "wire/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <string_view>

#include "base/error_codes.h"

namespace commitd::wire {

namespace {

Error cannot_use(std::string_view what) {
  char reason[256];
  ERR_error_string_n(ERR_get_error(), reason, sizeof(reason));
  ERR_clear_error();
  return make_error(er::kSslLibraryError,
                    "Failed to set up SSL because of the following SSL library error: {} ({})", what, reason);
}

// The range of versions that the list names: "TLSv1.2,TLSv1.3".
Status set_versions(SSL_CTX* context, std::string_view list) {
  int lowest = 0, highest = 0;
  while (!list.empty()) {
    auto comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    int version = word == "TLSv1.2" ? TLS1_2_VERSION : word == "TLSv1.3" ? TLS1_3_VERSION : 0;
    if (version == 0) {
      return make_error(er::kSslLibraryError, "tls_version: '{}' is neither TLSv1.2 nor TLSv1.3", word);
    }
    if (lowest == 0 || version < lowest) lowest = version;
    if (version > highest) highest = version;
  }
  SSL_CTX_set_min_proto_version(context, lowest);
  SSL_CTX_set_max_proto_version(context, highest);
  return {};
}

Status use_certificate(SSL_CTX* context, const TlsSettings& settings) {
  if (SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1)
    return cannot_use("unable to get certificate from '" + settings.certificate + "'");
  if (SSL_CTX_use_PrivateKey_file(context, settings.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return cannot_use("unable to get private key from '" + settings.key + "'");
  if (SSL_CTX_check_private_key(context) != 1)
    return cannot_use("private key does not match the certificate");
  // The chain that goes with the certificate is made once. OpenSSL would make it, and so verify the
  // certificate, in every handshake: a fifth of its instructions.
  SSL_CTX_build_cert_chain(context, SSL_BUILD_CHAIN_FLAG_UNTRUSTED | SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR |
                                        SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
  return {};
}

const char* path_or_null(const std::string& path) {
  return path.empty() ? nullptr : path.c_str();
}

Status trust(SSL_CTX* context, const std::string& ca, const std::string& ca_directory) {
  if (ca.empty() && ca_directory.empty()) return {};
  if (SSL_CTX_load_verify_locations(context, path_or_null(ca), path_or_null(ca_directory)) == 1) return {};
  return cannot_use("unable to get certificate authority from '" + (ca.empty() ? ca_directory : ca) + "'");
}

Status refuse_revoked(SSL_CTX* context, const ServerExpectations& expected) {
  if (expected.revoked.empty() && expected.revoked_directory.empty()) return {};
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  if (X509_STORE_load_locations(store, path_or_null(expected.revoked),
                                path_or_null(expected.revoked_directory)) != 1)
    return cannot_use("unable to get certificate revocation lists from '" +
                      (expected.revoked.empty() ? expected.revoked_directory : expected.revoked) + "'");
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return {};
}

Status expect_name(SSL_CTX* context, const std::string& name) {
  if (name.empty()) return {};
  X509_VERIFY_PARAM* wanted = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1) return {};
  ERR_clear_error();  // it is no address
  if (X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), 0) == 1) return {};
  return cannot_use("a server name that cannot be checked");
}

std::string time_text(const ASN1_TIME* time) {
  std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  ASN1_TIME_print(bio.get(), time);
  char* data = nullptr;
  long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

Result<TlsContext::Context> TlsContext::make(const SSL_METHOD* method, const TlsSettings& settings) {
  ERR_clear_error();
  Context context(SSL_CTX_new(method));
  if (!context) return cannot_use("SSL_CTX_new failed");
  COMMITD_RETURN_IF_ERROR(set_versions(context.get(), settings.versions));
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Idle connections hold no buffers.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (!settings.ciphers.empty() && SSL_CTX_set_cipher_list(context.get(), settings.ciphers.c_str()) != 1)
    return cannot_use("ssl_cipher");
  if (!settings.ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(context.get(), settings.ciphersuites.c_str()) != 1)
    return cannot_use("tls_ciphersuites");
  COMMITD_RETURN_IF_ERROR(trust(context.get(), settings.ca, ""));
  return context;
}

Status TlsContext::check(TlsSettings settings) {
  settings.ca.clear();
  auto context = make(TLS_server_method(), settings);
  return context.ok() ? Status{} : Status(std::move(context).error());
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_server(const TlsSettings& settings) {
  auto context = make(TLS_server_method(), settings);
  if (!context.ok()) return std::move(context).error();
  COMMITD_RETURN_IF_ERROR(use_certificate(context->get(), settings));
  constexpr unsigned char kSessionContext[] = "commitd";
  SSL_CTX_set_session_id_context(context->get(), kSessionContext, sizeof(kSessionContext) - 1);
  // A client need not show a certificate, but one that it shows must be good (REQUIRE X509).
  if (!settings.ca.empty())
    SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE, nullptr);
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(*context)));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_client(const TlsSettings& settings,
                                                                 const ServerExpectations& expected) {
  auto context = make(TLS_client_method(), settings);
  if (!context.ok()) return std::move(context).error();
  if (!settings.certificate.empty()) COMMITD_RETURN_IF_ERROR(use_certificate(context->get(), settings));
  const bool trusts_anybody = settings.ca.empty() && expected.ca_directory.empty();
  if (trusts_anybody && !expected.server_name.empty())
    return make_error(er::kSslLibraryError,
                      "CA certificate is required if ssl-mode is VERIFY_CA or VERIFY_IDENTITY");
  COMMITD_RETURN_IF_ERROR(trust(context->get(), "", expected.ca_directory));
  COMMITD_RETURN_IF_ERROR(refuse_revoked(context->get(), expected));
  COMMITD_RETURN_IF_ERROR(expect_name(context->get(), expected.server_name));
  SSL_CTX_set_verify(context->get(), trusts_anybody ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(*context)));
}

std::string TlsContext::not_before() const {
  X509* certificate = SSL_CTX_get0_certificate(context_.get());
  return certificate ? time_text(X509_get0_notBefore(certificate)) : "";
}

std::string TlsContext::not_after() const {
  X509* certificate = SSL_CTX_get0_certificate(context_.get());
  return certificate ? time_text(X509_get0_notAfter(certificate)) : "";
}

}  // namespace commitd::wire
