#include <array>
#include <cstdlib>
#include <new>

#include "runtime/task.h"

namespace commitd {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kReuseFrames = false;  // the sanitizers shall see every frame's life
#else
constexpr bool kReuseFrames = true;
#endif

constexpr std::size_t kGranule = 64;
constexpr std::size_t kLargestReused = 4096;
constexpr std::size_t kClasses = kLargestReused / kGranule;
constexpr std::size_t kKeptPerClass = 32;

struct FreeFrame {
  FreeFrame* next;
};

// A thread keeps a bounded number of frames of each size; frames that end on another thread than they began
// on just change lists.
class FrameCache {
 public:
  ~FrameCache() {
    for (auto& list : lists_) {
      while (list.first) std::free(pop(list));
      list.count = kKeptPerClass;  // frames freed later in this thread's exit go straight back
    }
  }

  void* take(std::size_t size_class) {
    List& list = lists_[size_class];
    return list.first ? pop(list) : nullptr;
  }

  bool keep(void* frame, std::size_t size_class) {
    List& list = lists_[size_class];
    if (list.count >= kKeptPerClass) return false;
    list.first = new (frame) FreeFrame{list.first};
    ++list.count;
    return true;
  }

 private:
  struct List {
    FreeFrame* first = nullptr;
    std::size_t count = 0;
  };

  static void* pop(List& list) {
    FreeFrame* frame = list.first;
    list.first = frame->next;
    --list.count;
    return frame;
  }

  std::array<List, kClasses> lists_{};
};

[[gnu::tls_model("initial-exec")]] thread_local FrameCache frame_cache;  // found without a call

std::size_t class_of(std::size_t size) {
  return (size - 1) / kGranule;
}

void* allocate_or_throw(std::size_t size) {
  void* memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* allocate_frame(std::size_t size) {
  if (!kReuseFrames || size > kLargestReused) return allocate_or_throw(size);
  std::size_t size_class = class_of(size);
  if (void* frame = frame_cache.take(size_class)) return frame;
  return allocate_or_throw((size_class + 1) * kGranule);
}

void free_frame(void* frame, std::size_t size) noexcept {
  if (kReuseFrames && size <= kLargestReused && frame_cache.keep(frame, class_of(size))) return;
  std::free(frame);
}

}  // namespace commitd
