// Tells a read that takes no metadata lock whether it might have met a definition that was about to change.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace commitd::txn {

// Closed while any metadata lock is asked for, or held, exclusively, and while a definition from a source is
// taken into the engine and not shown yet. Who finds it open before a read, and still open and never closed
// in between behind it, has read as one with the table's shared lock would. There is one for the process, as
// there is one lock manager in a server; several would close it too often, never too rarely.
class DefinitionGate {
 public:
  // nullopt: it is closed.
  std::optional<uint64_t> pass() const {
    const uint64_t state = state_.load(std::memory_order_acquire);
    if ((state & kClosings) != 0) return std::nullopt;
    return state;
  }
  bool was_open_since(uint64_t passed) const { return state_.load(std::memory_order_acquire) == passed; }

  // Closes it for as long as it lives.
  class Closed {
   public:
    explicit Closed(DefinitionGate& gate) : gate_(gate) { gate_.close(); }
    ~Closed() { gate_.open(); }
    Closed(const Closed&) = delete;

   private:
    DefinitionGate& gate_;
  };

  void close() { state_.fetch_add(kOneClosed); }
  void open() { state_.fetch_sub(1); }

 private:
  // Below how many keep it closed, above how often it was closed.
  static constexpr uint64_t kClosings = UINT32_MAX, kOneClosed = (uint64_t{1} << 32) + 1;
  std::atomic<uint64_t> state_{0};
};

DefinitionGate& definition_gate();

}  // namespace commitd::txn
