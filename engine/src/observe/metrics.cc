#include "observe/metrics.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "observe/registry.h"

namespace commitd::observe {

void Histogram::observe_ns(uint64_t nanoseconds) {
  uint64_t microseconds = nanoseconds / 1000 + (nanoseconds % 1000 != 0);
  int bucket = microseconds <= 1 ? 0 : std::bit_width(microseconds - 1);
  buckets_[std::min(bucket, kBuckets)].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(nanoseconds, std::memory_order_relaxed);
}

Registry& Registry::instance() {
  static Registry* registry = new Registry;  // never destroyed: threads count until the very end
  return *registry;
}

Series& Registry::series(const std::string& type, const std::string& name, const std::string& help,
                         const Labels& labels) {
  Family& family = families_[name];
  if (family.series.empty()) {
    family.type = type;
    family.help = help;
  } else if (family.type != type) {
    std::fprintf(stderr, "metric %s is registered as %s and as %s\n", name.c_str(), family.type.c_str(),
                 type.c_str());
    std::abort();
  }
  auto found = std::find_if(family.series.begin(), family.series.end(),
                            [&](const Series& series) { return series.labels == labels; });
  if (found != family.series.end()) return *found;
  Series& added = family.series.emplace_back();
  added.labels = labels;
  return added;
}

std::vector<Registry::Named> Registry::all() {
  std::lock_guard lock(mutex_);
  std::vector<Named> named;
  for (const auto& [name, family] : families_) {
    Named& added = named.emplace_back(Named{name, family, {}});
    for (const Series& series : family.series) added.series.push_back(&series);
  }
  return named;
}

namespace {

template <class Metric>
Metric& metric(const std::string& type, const std::string& name, const std::string& help,
               const Labels& labels) {
  Registry& registry = Registry::instance();
  std::lock_guard lock(registry.mutex());
  Series& series = registry.series(type, name, help, labels);
  auto* held = std::get_if<std::unique_ptr<Metric>>(&series.metric);
  if (!held) held = &series.metric.emplace<std::unique_ptr<Metric>>(std::make_unique<Metric>());
  return **held;
}

}  // namespace

Counter& counter(const std::string& name, const std::string& help, const Labels& labels) {
  return metric<Counter>("counter", name, help, labels);
}

Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return metric<Gauge>("gauge", name, help, labels);
}

Histogram& histogram(const std::string& name, const std::string& help, const Labels& labels) {
  return metric<Histogram>("histogram", name, help, labels);
}

void callback(const std::string& type, const std::string& name, const std::string& help, const Labels& labels,
              std::function<double()> read) {
  Registry& registry = Registry::instance();
  std::lock_guard reading(registry.reading());
  std::lock_guard lock(registry.mutex());
  registry.series(type, name, help, labels).metric = std::move(read);
}

}  // namespace commitd::observe
