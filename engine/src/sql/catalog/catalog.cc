#include "sql/catalog.h"

#include <algorithm>

#include "base/error_codes.h"
#include "base/text_case.h"
#include "storage/record/key_codec.h"

namespace commitd::sql {

std::string Catalog::table_name_key(std::string_view db, std::string_view table) {
  std::string key;
  key.reserve(db.size() + table.size() + 1);
  return key.append(db).append(1, '\0').append(table);
}

Status Catalog::load() {
  State state;
  std::string prefix = catalog_prefix();
  auto iterator = engine_.iterate(engine_.snapshot(), prefix, prefix_end(prefix));
  for (iterator->seek(prefix); iterator->valid(); iterator->next()) {
    std::string_view rest = iterator->key().substr(prefix.size());
    if (rest.starts_with('d')) {
      auto database = decode_database(rest.substr(1), iterator->value());
      if (!database.ok()) return std::move(database).error();
      state.databases[database->name] = std::move(*database);
    } else if (rest.starts_with('t')) {
      auto table = decode_table(iterator->value());
      if (!table.ok()) return std::move(table).error();
      std::string key = table_name_key(table->db, table->name);
      state.tables[key] = std::make_shared<const TableDef>(std::move(*table));
    } else if (rest.starts_with('s')) {
      auto server = decode_server(iterator->value());
      if (!server.ok()) return std::move(server).error();
      state.servers[lower_case(server->name)] = std::move(*server);
    } else if (rest.starts_with('n')) {
      auto ids = decode_ids(iterator->value());
      if (!ids.ok()) return std::move(ids).error();
      state.ids = *ids;
    }
  }
  COMMITD_RETURN_IF_ERROR(iterator->status());
  std::unique_lock lock(mutex_);
  state_ = std::move(state);
  return {};
}

void Catalog::initialize(WriteSet& writes) {
  for (const char* name : {"mysql", "sys"}) writes.put(database_key(name), encode_database({name, 45}));
  writes.put(ids_key(), encode_ids({1, storage::kFirstUserIndexId}));
}

TablePtr Catalog::find_table(std::string_view db, std::string_view table) const {
  std::string key = table_name_key(db, table);
  std::shared_lock lock(mutex_);
  auto found = state_.tables.find(key);
  return found == state_.tables.end() ? nullptr : found->second;
}

std::optional<DatabaseDef> Catalog::find_database(std::string_view db) const {
  std::shared_lock lock(mutex_);
  auto found = state_.databases.find(std::string(db));
  if (found == state_.databases.end()) return std::nullopt;
  return found->second;
}

std::optional<ServerDef> Catalog::find_server(std::string_view name) const {
  std::shared_lock lock(mutex_);
  const auto found = state_.servers.find(lower_case(name));
  if (found == state_.servers.end()) return std::nullopt;
  return found->second;
}

std::vector<ServerDef> Catalog::servers() const {
  std::vector<ServerDef> servers;
  std::shared_lock lock(mutex_);
  for (const auto& [name, server] : state_.servers) servers.push_back(server);
  return servers;
}

std::vector<std::string> Catalog::databases() const {
  std::vector<std::string> names;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [name, database] : state_.databases) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<TablePtr> Catalog::tables(std::string_view db) const {
  std::vector<TablePtr> tables;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [key, table] : state_.tables) {
      if (table->db == db) tables.push_back(table);
    }
  }
  std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  return tables;
}

CatalogChange::CatalogChange(Catalog& catalog) : catalog_(catalog) {
  std::shared_lock lock(catalog.mutex_);
  ids_ = catalog.state_.ids;
}

// Not one that is filled, or was, by a change that the catalog does not show.
uint32_t CatalogChange::new_index_id() {
  if (auto* unnamed = catalog_.engine_.unnamed_indexes()) {
    for (auto taken = unnamed->contains(ids_.next_index); taken.ok() && *taken;
         taken = unnamed->contains(ids_.next_index))
      ++ids_.next_index;
  }
  return ids_.next_index++;
}

void CatalogChange::put_database(DatabaseDef database) {
  writes_.put(database_key(database.name), encode_database(database));
  edits_.push_back(
      [database = std::move(database)](Catalog::State& state) { state.databases[database.name] = database; });
}

void CatalogChange::drop_database(std::string_view db) {
  writes_.erase(database_key(db));
  edits_.push_back([name = std::string(db)](Catalog::State& state) { state.databases.erase(name); });
}

void CatalogChange::put_table(TableDef table) {
  writes_.put(table_key(table.id), encode_table(table));
  auto shared = std::make_shared<const TableDef>(std::move(table));
  edits_.push_back([shared](Catalog::State& state) {
    std::erase_if(state.tables, [&](const auto& entry) { return entry.second->id == shared->id; });
    state.tables[Catalog::table_name_key(shared->db, shared->name)] = shared;
  });
}

void CatalogChange::drop_table(const TableDef& table) {
  writes_.erase(table_key(table.id));
  for (const auto& index : table.indexes) erase_index(index);
  edits_.push_back([key = Catalog::table_name_key(table.db, table.name)](Catalog::State& state) {
    state.tables.erase(key);
  });
}

void CatalogChange::put_server(ServerDef server) {
  writes_.put(server_key(server.name), encode_server(server));
  edits_.push_back([server = std::move(server)](Catalog::State& state) {
    state.servers[lower_case(server.name)] = server;
  });
}

void CatalogChange::drop_server(std::string_view name) {
  writes_.erase(server_key(name));
  edits_.push_back([key = lower_case(name)](Catalog::State& state) { state.servers.erase(key); });
}

void CatalogChange::erase_index(const IndexDef& index) {
  std::string begin;
  append_index_id(begin, index.id);
  std::string end = prefix_end(begin);
  writes_.erase_range(std::move(begin), std::move(end));
}

std::function<void()> CatalogChange::finish() {
  writes_.put(ids_key(), encode_ids(ids_));
  return [catalog = &catalog_, ids = ids_, edits = std::move(edits_)] {
    std::unique_lock lock(catalog->mutex_);
    for (const auto& edit : edits) edit(catalog->state_);
    catalog->state_.ids = ids;
  };
}

}  // namespace commitd::sql
