// What CHANGE REPLICATION SOURCE TO says of a source beside where it is and who logs in there.
#pragma once

#include <cstdint>
#include <string>

namespace commitd::sql {

struct SourceOptions {
  bool tls = false;            // then only with TLS
  bool verify_server = false;  // the certificate must be for the host
  std::string server_name;     // it must be for this name instead
  std::string ca, ca_directory, certificate, key, revoked, revoked_directory;
  std::string ciphers, ciphersuites, tls_versions;
  bool get_public_key = true;  // where a password must be protected without TLS
  std::string public_key_path;
  uint32_t connect_retry = 1;  // seconds
  uint64_t retry_count = 0;    // 0: for ever
  uint32_t heartbeat_milliseconds = 1000;
  uint32_t delay = 0;  // seconds behind the source's commit
  // The source sends what this server has not; else what stands behind a place in its log.
  bool auto_position = true;
  std::string log_file;  // empty: its first one
  uint64_t log_position = 4;
  // Which ones transactions without GTIDs get: OFF: none, they are refused; LOCAL: this server's; a UUID:
  // its.
  std::string assign_gtids = "OFF";

  bool assigns_gtids() const { return assign_gtids != "OFF"; }
  bool operator==(const SourceOptions&) const = default;
};

// Each option by MySQL's name.
template <class Options, class Visit>
void visit_source_options(Options& options, const Visit& visit) {
  visit("SOURCE_SSL", options.tls);
  visit("SOURCE_SSL_VERIFY_SERVER_CERT", options.verify_server);
  visit("SOURCE_SSL_NAME", options.server_name);
  visit("SOURCE_SSL_CA", options.ca);
  visit("SOURCE_SSL_CAPATH", options.ca_directory);
  visit("SOURCE_SSL_CERT", options.certificate);
  visit("SOURCE_SSL_KEY", options.key);
  visit("SOURCE_SSL_CRL", options.revoked);
  visit("SOURCE_SSL_CRLPATH", options.revoked_directory);
  visit("SOURCE_SSL_CIPHER", options.ciphers);
  visit("SOURCE_TLS_CIPHERSUITES", options.ciphersuites);
  visit("SOURCE_TLS_VERSION", options.tls_versions);
  visit("GET_SOURCE_PUBLIC_KEY", options.get_public_key);
  visit("SOURCE_PUBLIC_KEY_PATH", options.public_key_path);
  visit("SOURCE_CONNECT_RETRY", options.connect_retry);
  visit("SOURCE_RETRY_COUNT", options.retry_count);
  visit("SOURCE_HEARTBEAT_PERIOD", options.heartbeat_milliseconds);
  visit("SOURCE_DELAY", options.delay);
  visit("SOURCE_AUTO_POSITION", options.auto_position);
  visit("SOURCE_LOG_FILE", options.log_file);
  visit("SOURCE_LOG_POS", options.log_position);
  visit("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS", options.assign_gtids);
}

}  // namespace commitd::sql
