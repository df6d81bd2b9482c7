#include "base/error_codes.h"
#include "storage/record/key_codec.h"
#include "txn/transaction_impl.h"

namespace commitd::txn {

// The key is locked exclusively before it is looked for, so of two transactions that want it one waits here
// until the other has ended. The row that has it may be about to lose it: it is locked too, and the key
// looked at again.
Task<Result<std::optional<Transaction::Duplicate>>> Transaction::Impl::check_unique(const TablePtr& table,
                                                                                    const IndexDef& index,
                                                                                    const Row& row,
                                                                                    std::string_view self) {
  using Found = std::optional<Duplicate>;
  const std::string key =
      index.primary ? clustered_key(*table, row, 0) : secondary_key(*table, index, row, std::string_view{});
  if (!services.locks.try_lock(owner, key, LockMode::Exclusive))
    COMMITD_CO_RETURN_IF_ERROR(co_await lock_key(key, LockMode::Exclusive));
  Duplicate duplicate{&index, {}};
  if (index.primary) {
    const auto taken = read_row(*table, nullptr, key, duplicate.row);
    if (!taken) co_return taken.error();
    co_return *taken ? Found(std::move(duplicate)) : Found{};
  }
  std::string entry, again;
  while (true) {
    const auto found = read(nullptr, key, entry);
    if (!found) co_return found.error();
    if (!*found) co_return Found{};
    const std::string holder = clustered_key_of_entry(*table, key, entry);
    if (holder == self) co_return Found{};
    if (holder.empty())
      co_return make_error(er::kErrorOnRead, "An entry of index '{}' is damaged", index.name);
    COMMITD_CO_RETURN_IF_ERROR(co_await lock_row(*table, holder, LockMode::Exclusive));
    const auto still = read(nullptr, key, again);
    if (!still) co_return still.error();
    if (!*still || again != entry) continue;
    const auto taken = read_row(*table, nullptr, holder, duplicate.row);
    if (!taken) co_return taken.error();
    if (*taken) co_return Found(std::move(duplicate));
    co_return make_error(er::kErrorOnRead, "Index '{}' refers to a row that is not there", index.name);
  }
}

}  // namespace commitd::txn
