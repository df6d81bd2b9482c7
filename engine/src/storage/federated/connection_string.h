// CONNECTION= of a FEDERATED table: mysql://user[:password]@host[:port]/database/table
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace commitd::storage {

// A table on another server, and how to log in there.
struct RemoteTable {
  std::string host = {};
  uint16_t port = 3306;
  std::string user = {}, password = {};
  std::string db = {}, table = {};
};

// nullopt when it is not in that form. As in MySQL, neither name nor password can have '/' or '@' in it.
std::optional<RemoteTable> parse_connection_string(std::string_view text);

// The name of a server that CREATE SERVER would have made, with or without a table behind it.
bool names_a_server(std::string_view connection);

}  // namespace commitd::storage
