// The client's side of a login; the inside of client.h.
#pragma once

#include "wire/client.h"

namespace commitd::wire {

Task<Status> log_in(Channel& channel, const ClientOptions& options);
Error decode_error_packet(std::string_view packet);

}  // namespace commitd::wire
