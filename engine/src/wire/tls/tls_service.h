// TLS as one server offers it: the context that new connections get, replaced by a reload, and what SHOW
// STATUS says about it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "wire/tls/tls_context.h"

namespace commitd::wire {

class TlsService {
 public:
  // `settings` gives the values that count now; relative paths are below `directory`. Where no certificate is
  // named, those that the directory holds (or `generate` makes there) are taken.
  TlsService(std::function<TlsSettings()> settings, std::string directory, bool generate)
      : settings_(std::move(settings)), directory_(std::move(directory)), generate_(generate) {}

  // At start and at ALTER INSTANCE RELOAD TLS. After an error what was there before stays.
  Status load();
  // The same when the files are not those that were loaded last; what cannot be loaded is said once.
  void reload_if_replaced();
  // Null: no TLS here.
  std::shared_ptr<const TlsContext> current() const;
  // SHA-256 of the CA's and the certificate's file as load() has read them, in hexadecimal; empty: no TLS.
  std::string digest() const;
  // What load() took: ssl_ca, ssl_cert and ssl_key of SHOW VARIABLES may be empty when these are not.
  TlsSettings used() const;

  // The rows of SHOW GLOBAL STATUS that are the same for every session.
  std::vector<std::pair<std::string, std::string>> status() const;

 private:
  Result<TlsSettings> resolve() const;

  std::function<TlsSettings()> settings_;
  std::string directory_;
  bool generate_;
  mutable std::mutex mutex_;
  TlsSettings used_;
  std::string digest_;
  std::string refused_;  // the digest of what could not be loaded last
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace commitd::wire
