// Certificates, keys and versions for TLS, as OpenSSL keeps them. Immutable: a reload makes another one, and
// connections keep the one they began with.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace commitd::wire {

// Paths of PEM files and lists, as the system variables ssl_ca, ssl_cert … tls_ciphersuites have them.
struct TlsSettings {
  std::string ca, certificate, key;
  std::string versions = "TLSv1.2,TLSv1.3";  // empty: no TLS
  std::string ciphers;                       // of TLS 1.2; empty: OpenSSL's choice
  std::string ciphersuites;                  // of TLS 1.3
};

// What a client asks of a server's certificate, beside that.
struct ServerExpectations {
  std::string ca_directory;
  std::string revoked, revoked_directory;  // lists of certificates that are refused; empty: none is
  std::string server_name;  // the certificate must be for it, be it a name or an address; empty: for anybody
};

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPointer = std::unique_ptr<SSL, FreeSsl>;

class TlsContext {
 public:
  // Error 3888 names the file or list that cannot be used.
  static Result<std::shared_ptr<const TlsContext>> for_server(const TlsSettings& settings);
  // With a CA, only servers it has signed are accepted. Without one there is no telling by name either.
  static Result<std::shared_ptr<const TlsContext>> for_client(const TlsSettings& settings,
                                                              const ServerExpectations& expected = {});
  // The same error for versions and ciphers alone, whether or not the files are there yet.
  static Status check(TlsSettings settings);

  SslPointer new_session() const { return SslPointer(SSL_new(context_.get())); }
  // The server certificate's time of validity, as SHOW STATUS prints it.
  std::string not_before() const;
  std::string not_after() const;
  SSL_CTX* get() const { return context_.get(); }

 private:
  struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  using Context = std::unique_ptr<SSL_CTX, FreeContext>;
  explicit TlsContext(Context context) : context_(std::move(context)) {}
  static Result<Context> make(const SSL_METHOD* method, const TlsSettings& settings);

  Context context_;
};

}  // namespace commitd::wire
