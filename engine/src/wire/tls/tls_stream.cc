#include "wire/tls/tls_stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error_codes.h"

namespace commitd::wire {

namespace {

constexpr size_t kRecord = 16 * 1024;
constexpr size_t kKept = 1024;  // what an idle connection may keep of a buffer

// As with the channels' own: idle connections receive into their thread's buffer.
std::span<char> scratch() {
  static thread_local std::unique_ptr<char[]> buffer(new char[2 * kRecord]);
  return {buffer.get(), 2 * kRecord};
}

}  // namespace

BIO_METHOD* TlsStream::memory() {
  static BIO_METHOD* method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "commitd stream");
    BIO_meth_set_read(made, take);
    BIO_meth_set_write(made, put);
    BIO_meth_set_ctrl(made, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH; });
    return made;
  }();
  return method;
}

int TlsStream::take(BIO* bio, char* into, int size) {
  auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  size_t there = std::min(static_cast<size_t>(size), stream.input_.size() - stream.taken_);
  if (there == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  std::memcpy(into, stream.input_.data() + stream.taken_, there);
  stream.taken_ += there;
  if (stream.taken_ == stream.input_.size()) {
    stream.taken_ = 0;
    stream.input_.clear();
    if (stream.input_.capacity() > kKept) stream.input_ = std::string();
  }
  return static_cast<int>(there);
}

int TlsStream::put(BIO* bio, const char* bytes, int size) {
  static_cast<TlsStream*>(BIO_get_data(bio))->output_.append(bytes, static_cast<size_t>(size));
  return size;
}

TlsStream::TlsStream(std::shared_ptr<const TlsContext> context, Role role, std::unique_ptr<Stream> inner,
                     std::string received)
    : context_(std::move(context)),
      inner_(std::move(inner)),
      ssl_(context_->new_session()),
      input_(std::move(received)) {
  BIO* bio = BIO_new(memory());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  if (role == Role::Server) {
    SSL_set_accept_state(ssl_.get());
  } else {
    SSL_set_connect_state(ssl_.get());
  }
}

Error TlsStream::broken(const char* doing) {
  ended_ = true;
  char reason[256];
  ERR_error_string_n(ERR_get_error(), reason, sizeof(reason));
  ERR_clear_error();
  return make_error(er::kNetReadError, "TLS failed while {}: {}", doing, reason);
}

Task<Status> TlsStream::receive(Deadline deadline) {
  std::span<char> buffer = scratch();
  auto got = co_await inner_->read(buffer, deadline);
  if (!got.ok()) co_return std::move(got).error();
  if (*got == 0) ended_ = true;
  input_.append(buffer.data(), *got);
  co_return Status();
}

Task<Status> TlsStream::send_output(Deadline deadline) {
  if (sending_) {
    Parker turn;
    next_sender_ = &turn;
    Wake how = co_await turn.park(deadline);
    next_sender_ = nullptr;
    if (how == Wake::TimedOut)
      co_return make_error(er::kNetWriteInterrupted, "Got timeout writing communication packets");
  }
  sending_ = true;
  Status sent;
  while (sent.ok() && !output_.empty()) {
    std::string sending = std::exchange(output_, {});
    sent = co_await inner_->write(sending, deadline);
  }
  sending_ = false;
  if (next_sender_ != nullptr) next_sender_->wake();
  co_return sent;
}

Task<Status> TlsStream::handshake(Deadline deadline) {
  for (;;) {
    ERR_clear_error();
    int done = SSL_do_handshake(ssl_.get());
    int why = SSL_get_error(ssl_.get(), done);
    Error failure;
    if (done != 1 && why != SSL_ERROR_WANT_READ) failure = broken("shaking hands");
    if (!output_.empty()) COMMITD_CO_RETURN_IF_ERROR(co_await send_output(deadline));
    if (failure.code != 0) co_return failure;
    if (done == 1) break;
    COMMITD_CO_RETURN_IF_ERROR(co_await receive(deadline));
    if (ended_)
      co_return make_error(er::kNetReadError, "The peer closed the connection within a TLS handshake");
  }
  established_ = true;
  co_return Status();
}

Task<Result<size_t>> TlsStream::read(std::span<char> into, Deadline deadline) {
  while (established_ && !ended_) {
    ERR_clear_error();
    int got = SSL_read(ssl_.get(), into.data(), static_cast<int>(std::min(into.size(), 4 * kRecord)));
    if (got > 0) co_return static_cast<size_t>(got);
    int why = SSL_get_error(ssl_.get(), got);
    Error failure;
    if (why == SSL_ERROR_ZERO_RETURN) ended_ = true;
    if (why != SSL_ERROR_ZERO_RETURN && why != SSL_ERROR_WANT_READ) failure = broken("reading");
    if (!output_.empty()) COMMITD_CO_RETURN_IF_ERROR(co_await send_output(deadline));
    if (failure.code != 0) co_return failure;
    if (!ended_) COMMITD_CO_RETURN_IF_ERROR(co_await receive(deadline));
  }
  co_return size_t{0};
}

Task<Status> TlsStream::write(std::string_view bytes, Deadline deadline) {
  if (!established_) co_return make_error(er::kNetReadError, "The TLS connection was never established");
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, 4 * kRecord);
    bytes.remove_prefix(piece.size());
    ERR_clear_error();
    if (SSL_write(ssl_.get(), piece.data(), static_cast<int>(piece.size())) <= 0) co_return broken("writing");
    COMMITD_CO_RETURN_IF_ERROR(co_await send_output(deadline));
  }
  co_return Status();
}

// Tells the peer that nothing was cut off.
Task<void> TlsStream::finish(Deadline deadline) {
  if (!established_ || sending_) co_return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  [[maybe_unused]] Status told = co_await send_output(deadline);  // it may be gone already
}

sql::TlsInfo TlsStream::info() const {
  return {SSL_get_version(ssl_.get()), SSL_get_cipher_name(ssl_.get())};
}

bool TlsStream::peer_has_certificate() const {
  return SSL_get0_peer_certificate(ssl_.get()) != nullptr && SSL_get_verify_result(ssl_.get()) == X509_V_OK;
}

}  // namespace commitd::wire
