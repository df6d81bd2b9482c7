// Counters, gauges and histograms with Prometheus names (the list is in engine/CONTROL.md). Registered once,
// at first use:
//   static auto& groups = observe::counter("commitd_commit_groups_total", "Commit groups flushed.");
//   groups.add();
// Updating one is a relaxed atomic on a per-thread slot or a plain atomic; reading happens only when somebody
// scrapes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace commitd::observe {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  void add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double v) { value_.store(v, std::memory_order_relaxed); }
  void add(double v) { value_.fetch_add(v, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Seconds, in powers of two from 1 µs to 64 s.
class Histogram {
 public:
  void observe_ns(uint64_t nanoseconds);
  static constexpr int kBuckets = 27;
  uint64_t bucket(int i) const { return buckets_[i].load(std::memory_order_relaxed); }
  uint64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> buckets_[kBuckets + 1]{};
  std::atomic<uint64_t> sum_ns_{0};
};

Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
Histogram& histogram(const std::string& name, const std::string& help, const Labels& labels = {});
// A value computed when scraped. `type` is "gauge" or "counter". `read` is called under the registry's lock:
// it must not look up metrics.
void callback(const std::string& type, const std::string& name, const std::string& help, const Labels& labels,
              std::function<double()> read);

std::string prometheus_text();

// Every counter and gauge as (name, value), for SHOW GLOBAL STATUS and tests.
std::vector<std::pair<std::string, double>> snapshot();

}  // namespace commitd::observe
