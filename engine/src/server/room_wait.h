// A start that meets a full disk waits for somebody to free some.
#pragma once

#include <csignal>
#include <string>

#include "base/result.h"

namespace commitd::server {

// True when it is worth another try: there is more room on the directory's volume than before, or half a
// minute is over. False when one of `stop_signals`, which are blocked, has come.
bool wait_for_room(const std::string& directory, const sigset_t& stop_signals, const Error& why);

}  // namespace commitd::server
