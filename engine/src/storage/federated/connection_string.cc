#include "storage/federated/connection_string.h"

#include <charconv>
#include <utility>

namespace commitd::storage {
namespace {

constexpr std::string_view kScheme = "mysql://";

// In front of the first `separator`, and behind it; nullopt when there is none.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair{text.substr(0, at), text.substr(at + 1)};
}

bool has_separator(std::string_view text) {
  return text.find_first_of("/@") != std::string_view::npos;
}

bool take_login(std::string_view login, RemoteTable& table) {
  const auto parts = split(login, ':');
  table.user = parts ? parts->first : login;
  if (parts) table.password = parts->second;
  return !has_separator(login);
}

bool take_address(std::string_view address, RemoteTable& table) {
  const auto parts = split(address, ':');
  table.host = parts ? parts->first : address;
  if (table.host.empty()) table.host = "localhost";
  if (!parts || parts->second.empty()) return true;
  const std::string_view port = parts->second;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), table.port);
  return error == std::errc() && end == port.data() + port.size() && table.port != 0;
}

}  // namespace

std::optional<RemoteTable> parse_connection_string(std::string_view text) {
  if (!text.starts_with(kScheme)) return std::nullopt;
  const auto login = split(text.substr(kScheme.size()), '@');
  if (!login) return std::nullopt;
  const auto address = split(login->second, '/');
  if (!address) return std::nullopt;
  const auto names = split(address->second, '/');
  if (!names) return std::nullopt;
  RemoteTable table;
  if (!take_login(login->first, table) || !take_address(address->first, table)) return std::nullopt;
  table.db = names->first;
  table.table = names->second;
  if (table.db.empty() || table.table.empty() || has_separator(table.host) || has_separator(table.db) ||
      has_separator(table.table))
    return std::nullopt;
  return table;
}

bool names_a_server(std::string_view connection) {
  return !connection.empty() && connection.find("://") == std::string_view::npos &&
         connection.find('@') == std::string_view::npos;
}

}  // namespace commitd::storage
