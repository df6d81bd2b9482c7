// All metrics of the process; the inside of metrics.h.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "observe/metrics.h"

namespace commitd::observe {

struct Series {
  Labels labels;
  std::variant<std::monostate, std::unique_ptr<Counter>, std::unique_ptr<Gauge>, std::unique_ptr<Histogram>,
               std::function<double()>>
      metric;
};

struct Family {
  std::string type, help;
  std::deque<Series> series;
};

class Registry {
 public:
  static Registry& instance();

  std::mutex& mutex() { return mutex_; }
  // Both under the mutex.
  Series& series(const std::string& type, const std::string& name, const std::string& help,
                 const Labels& labels);
  const std::map<std::string, Family>& families() const { return families_; }

 private:
  std::mutex mutex_;
  std::map<std::string, Family> families_;
};

}  // namespace commitd::observe
