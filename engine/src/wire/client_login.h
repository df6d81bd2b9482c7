// The client's side of a login; the inside of client.h.
#pragma once

#include "wire/client.h"
#include "wire/packet_channel.h"

namespace commitd::wire {

Task<Status> log_in(PacketChannel& channel, const ClientOptions& options);
Error decode_error_packet(std::string_view packet);

}  // namespace commitd::wire
