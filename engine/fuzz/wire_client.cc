// A server that sends anything: our client's login (also when it switches methods or sends a key) and one
// query, over a stream that gives the input in pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/client.h"
#include "wire/stream.h"

using namespace commitd;
using namespace commitd::wire;

namespace {

class InputStream final : public Stream {
 public:
  InputStream(std::string_view input, size_t piece) : input_(input), piece_(piece) {}

  Task<Result<size_t>> read(std::span<char> into, Deadline) override {
    size_t size = std::min({into.size(), piece_, input_.size()});
    std::memcpy(into.data(), input_.data(), size);
    input_.remove_prefix(size);
    co_return size;
  }
  Task<Status> write(std::string_view, Deadline) override { co_return Status(); }
  void shutdown() override {}
  std::string peer_address() const override { return "fuzz"; }

 private:
  std::string_view input_;
  size_t piece_;
};

Task<void> talk(std::string_view input, size_t piece) {
  ClientOptions options;
  options.user = "root";
  options.password = "secret";
  auto client = co_await Client::over(std::make_unique<InputStream>(input, piece), options);
  if (!client.ok()) co_return;
  for (int i = 0; i < 3; ++i) {
    auto rows = co_await (*client)->query("SELECT 1", kNoDeadline);
    if (!rows.ok()) co_return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  run_blocking(talk(input, data[0] + size_t{1}));
  return 0;
}
