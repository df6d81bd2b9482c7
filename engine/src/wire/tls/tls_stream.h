// TLS over another stream. OpenSSL works on memory only; what it wants to send and receive goes through the
// stream below, which waits on the reactor.
#pragma once

#include <memory>
#include <string>

#include "runtime/parker.h"
#include "sql/session.h"
#include "wire/stream.h"
#include "wire/tls/tls_context.h"

namespace commitd::wire {

class TlsStream final : public Stream {
 public:
  enum class Role { Server, Client };
  // `received`: what has come over `inner` already. It is part of the handshake or nothing: no byte that came
  // unprotected is ever taken for one that was.
  TlsStream(std::shared_ptr<const TlsContext> context, Role role, std::unique_ptr<Stream> inner,
            std::string received);

  // Before anything else.
  Task<Status> handshake(Deadline deadline);

  Task<Result<size_t>> read(std::span<char> into, Deadline deadline) override;
  Task<Status> write(std::string_view bytes, Deadline deadline) override;
  Task<void> finish(Deadline deadline) override;
  void shutdown() override { inner_->shutdown(); }
  std::string peer_address() const override { return inner_->peer_address(); }

  sql::TlsInfo info() const;
  bool peer_has_certificate() const;  // one that was verified

 private:
  enum class Direction { Reading, Writing };
  // Where OpenSSL reads and writes.
  static BIO_METHOD* memory();
  static int take(BIO* bio, char* into, int size);
  static int put(BIO* bio, const char* bytes, int size);

  Task<Status> receive(Deadline deadline);
  Task<Status> send_output(Deadline deadline);
  Error broken(const char* doing);

  std::shared_ptr<const TlsContext> context_;
  std::unique_ptr<Stream> inner_;
  SslPointer ssl_;
  std::string input_;  // received, not yet decrypted
  size_t taken_ = 0;
  std::string output_;  // encrypted, not yet sent
  bool established_ = false, ended_ = false;
  // Reading may have to send as well (alerts, new keys); one direction sends at a time.
  bool sending_ = false;
  Parker* next_sender_ = nullptr;
};

}  // namespace commitd::wire
