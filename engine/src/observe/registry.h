// All metrics of the process; the inside of metrics.h.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

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
  // Under the mutex.
  Series& series(const std::string& type, const std::string& name, const std::string& help,
                 const Labels& labels);

  // Held while functions are called for their values, so that none runs any more once it was replaced. They
  // take locks of their own, under which others register metrics: mutex() is not held then. In front of
  // mutex().
  std::mutex& reading() { return reading_; }
  struct Named {
    const std::string& name;
    const Family& family;
    std::vector<const Series*> series;
  };
  // What there is now, and stays.
  std::vector<Named> all();

 private:
  std::mutex reading_, mutex_;
  std::map<std::string, Family> families_;
};

}  // namespace commitd::observe
