// The data directory's side of CLONE INSTANCE. What is cloned is gathered in a directory of its own, and
// takes the place of what was there at the next start:
//
//   #clone/            the copy while it comes: engine/, a log that begins behind it, commitd.format at last
//   #clone_donor/      copies of the engine's files while others are given them
//   commitd.clone      there from the decision until the exchange is over; says which step of it goes on, and
//                      the UUID that the server gets
//
// A crash before the decision leaves what was there, a crash behind it the copy: each step is done again.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "base/uuid.h"

namespace commitd::server {

std::string clone_directory_in(const std::string& datadir);
std::string donor_directory_in(const std::string& datadir);

// A copy, whole or in part; nothing when there is none.
Status remove_copy(FileSystem& fs, const std::string& directory);

// The copy is whole and durable: from here on it is the data of this server, which is another one.
Status decide_on_clone(FileSystem& fs, const std::string& datadir, const Uuid& server_uuid);

// At a start, before anything in the directory is looked at: finishes an exchange that was decided on, clears
// away what was not. True: there was one.
Result<bool> settle_clone(FileSystem& fs, const std::string& datadir);

}  // namespace commitd::server
