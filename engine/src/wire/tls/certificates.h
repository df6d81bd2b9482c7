// The certificates that a server makes for itself at its first start, as MySQL's auto_generate_certs: a CA, a
// certificate for the server and one for clients, with their keys.
#pragma once

#include <string>

#include "base/result.h"

namespace commitd::wire {

// ca.pem, ca-key.pem, server-cert.pem, server-key.pem, client-cert.pem and client-key.pem in the directory;
// nothing when one of the first, third or fourth is there already.
Status make_certificates(const std::string& directory);

}  // namespace commitd::wire
