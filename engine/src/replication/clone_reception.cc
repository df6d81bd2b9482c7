#include "replication/clone_reception.h"

#include "base/crc32.h"
#include "base/error_codes.h"
#include "replication/clone_pace.h"
#include "runtime/reactor.h"
#include "wire/client_login.h"
#include "wire/protocol.h"

namespace commitd::replication {
namespace {

constexpr auto kConnectTimeout = std::chrono::seconds(10);
// A donor that has said nothing for so long is taken for lost. The first answer waits for its memtables.
constexpr auto kCopyTimeout = std::chrono::minutes(10);
constexpr auto kSilenceLimit = std::chrono::minutes(2);

bool is_error(std::string_view packet) {
  return static_cast<uint8_t>(packet.front()) == wire::kErrorHeader;
}

Task<Result<std::unique_ptr<wire::Client>>> connect(const CloneSource& source, bool with_tls) {
  wire::ClientOptions options;
  options.host = source.host;
  options.port = source.port;
  options.user = source.user;
  options.password = source.password;
  if (with_tls) options.tls = source.tls;
  options.deadline = Clock::now() + kConnectTimeout;
  co_return co_await wire::Client::connect(std::move(options));
}

}  // namespace

Error donor_error(const Error& error) {
  return make_error(er::kCloneDonor, "Clone Donor Error: {} : {}.", error.code, error.message);
}

Task<Result<std::unique_ptr<wire::Client>>> connect_to_donor(const CloneSource& source) {
  auto client = co_await connect(source, true);
  const bool no_tls = !client.ok() && client.error().code == er::kClientTlsError;
  if (no_tls && !source.tls_required) client = co_await connect(source, false);
  if (client.ok()) co_return client;
  co_return make_error(er::kCloneDonor, "Clone Donor Error: Connect failed: {} : {}.", client.error().code,
                       client.error().message);
}

// The file that is being received.
struct CloneReception::Incoming {
  CloneFile file;
  std::unique_ptr<File> content;  // null: between two files
  uint64_t received = 0;
  uint32_t checksum = 0;
  uint64_t total = 0;  // of all files
  bool done = false;
};

Task<Result<CloneHeader>> CloneReception::receive(wire::Client& donor) {
  auto header = co_await request(donor);
  if (!header.ok()) co_return header;
  COMMITD_CO_RETURN_IF_ERROR(environment_.accept(*header));
  COMMITD_CO_RETURN_IF_ERROR(co_await receive_files(donor, *header));
  co_return header;
}

Task<Result<CloneHeader>> CloneReception::request(wire::Client& donor) {
  const std::string wanted = encode_clone_request();
  COMMITD_CO_RETURN_IF_ERROR(co_await donor.send_command(kComClone, wanted));
  auto packet = co_await donor.channel().read_packet(Clock::now() + kCopyTimeout);
  if (!packet.ok()) co_return donor_error(packet.error());
  if (packet->empty()) co_return unexpected_from_donor("an empty packet");
  if (is_error(*packet)) co_return donor_error(wire::decode_error_packet(*packet));
  if (packet->front() != static_cast<char>(CloneTag::Header))
    co_return unexpected_from_donor("no header of a clone");
  co_return decode_clone_header(std::string_view(*packet).substr(1));
}

Task<Result<std::string>> CloneReception::next_packet(wire::Client& donor) {
  auto packet = co_await donor.channel().read_packet(Clock::now() + kSilenceLimit);
  if (!packet.ok()) co_return donor_error(packet.error());
  if (packet->empty()) co_return unexpected_from_donor("an empty packet");
  if (is_error(*packet)) co_return donor_error(wire::decode_error_packet(*packet));
  co_return packet;
}

Task<Status> CloneReception::receive_files(wire::Client& donor, const CloneHeader& header) {
  ClonePace pace(*environment_.bytes_per_second);
  Incoming incoming;
  while (!incoming.done) {
    auto packet = co_await next_packet(donor);
    if (!packet.ok()) co_return std::move(packet).error();
    std::function<Status()> take_it = [this, &incoming, &packet] { return take(incoming, *packet); };
    COMMITD_CO_RETURN_IF_ERROR(co_await disk_.run(std::move(take_it)));
    const bool is_data = packet->front() == static_cast<char>(CloneTag::Data);
    if (is_data) co_await sleep_until(pace.after(packet->size(), Clock::now()));
  }
  if (incoming.total != header.bytes) co_return unexpected_from_donor("other files than it had named");
  std::function<Status()> sync = [this] {
    return environment_.fs->sync_directory(environment_.engine_directory);
  };
  co_return co_await disk_.run(std::move(sync));
}

Status CloneReception::take(Incoming& incoming, std::string_view packet) {
  const std::string_view rest = packet.substr(1);
  switch (static_cast<CloneTag>(packet.front())) {
    case CloneTag::File:
      return open(incoming, rest);
    case CloneTag::Data:
      return write(incoming, rest);
    case CloneTag::FileEnd:
      return close(incoming, rest);
    case CloneTag::Done:
      if (incoming.content) return unexpected_from_donor("the end in the middle of a file");
      incoming.done = true;
      return {};
    case CloneTag::Header:
      break;
  }
  return unexpected_from_donor("a packet of an unknown kind");
}

Status CloneReception::open(Incoming& incoming, std::string_view packet) {
  if (incoming.content) return unexpected_from_donor("a file in the middle of another");
  auto file = decode_clone_file(packet);
  if (!file.ok()) return std::move(file).error();
  incoming.file = *std::move(file);
  incoming.received = 0;
  incoming.checksum = 0;
  auto content = environment_.fs->open(environment_.engine_directory + "/" + incoming.file.name,
                                       FileSystem::Open::Create);
  if (!content.ok()) return std::move(content).error();
  incoming.content = *std::move(content);
  return {};
}

Status CloneReception::write(Incoming& incoming, std::string_view bytes) {
  if (!incoming.content || bytes.size() > incoming.file.size - incoming.received)
    return unexpected_from_donor("more than a file has");
  COMMITD_RETURN_IF_ERROR(incoming.content->write_at(incoming.received, {&bytes, 1}));
  incoming.checksum = crc32_of(bytes, incoming.checksum);
  incoming.received += bytes.size();
  environment_.received->fetch_add(bytes.size(), std::memory_order_relaxed);
  return {};
}

Status CloneReception::close(Incoming& incoming, std::string_view packet) {
  auto checksum = decode_file_end(packet);
  if (!checksum.ok()) return std::move(checksum).error();
  if (!incoming.content || incoming.received != incoming.file.size || *checksum != incoming.checksum)
    return unexpected_from_donor("a file that is not what its checksum says");
  incoming.total += incoming.received;
  COMMITD_RETURN_IF_ERROR(incoming.content->sync_data());
  incoming.content.reset();
  return {};
}

}  // namespace commitd::replication
