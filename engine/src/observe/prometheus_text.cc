// The text format that Prometheus scrapes, and the flat view for SHOW GLOBAL STATUS.
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "observe/registry.h"

namespace commitd::observe {

namespace {

std::string escape(std::string_view text, bool quotes) {
  std::string escaped;
  for (char c : text) {
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '"' && quotes) {
      escaped += "\\\"";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// "{a="1",b="2"}", or nothing without labels. `bound` is added as the label le.
std::string label_text(const Labels& labels, std::string_view bound = {}) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escape(value, true));
  }
  if (!bound.empty()) text += fmt::format("{}le=\"{}\"", text.empty() ? "" : ",", bound);
  return text.empty() ? text : "{" + text + "}";
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

double seconds_of_bucket(int i) {
  return std::ldexp(1e-6, i);
}

void write_histogram(std::string& out, const std::string& name, const Labels& labels,
                     const Histogram& histogram) {
  // The sum is read before the buckets and the count is what the buckets say, so that no scrape sees a count
  // below its buckets.
  double sum = static_cast<double>(histogram.sum_ns()) * 1e-9;
  uint64_t cumulative = 0;
  for (int i = 0; i < Histogram::kBuckets; ++i) {
    cumulative += histogram.bucket(i);
    out +=
        fmt::format("{}_bucket{} {}\n", name, label_text(labels, number(seconds_of_bucket(i))), cumulative);
  }
  cumulative += histogram.bucket(Histogram::kBuckets);
  out += fmt::format("{}_bucket{} {}\n", name, label_text(labels, "+Inf"), cumulative);
  out += fmt::format("{}_sum{} {}\n", name, label_text(labels), number(sum));
  out += fmt::format("{}_count{} {}\n", name, label_text(labels), cumulative);
}

// The value of a metric that has just one.
struct SingleValue {
  std::string operator()(const std::unique_ptr<Counter>& counter) const {
    return fmt::format("{}", counter->value());
  }
  std::string operator()(const std::unique_ptr<Gauge>& gauge) const { return number(gauge->value()); }
  std::string operator()(const std::function<double()>& read) const { return number(read()); }
  std::string operator()(const std::unique_ptr<Histogram>&) const { return {}; }
  std::string operator()(std::monostate) const { return {}; }
};

}  // namespace

std::string prometheus_text() {
  Registry& registry = Registry::instance();
  std::lock_guard reading(registry.reading());
  std::string out;
  for (const auto& [name, family, all_series] : registry.all()) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escape(family.help, false), name, family.type);
    for (const Series* one : all_series) {
      const Series& series = *one;
      if (auto* histogram = std::get_if<std::unique_ptr<Histogram>>(&series.metric)) {
        write_histogram(out, name, series.labels, **histogram);
      } else {
        out += fmt::format("{}{} {}\n", name, label_text(series.labels),
                           std::visit(SingleValue{}, series.metric));
      }
    }
  }
  return out;
}

std::vector<std::pair<std::string, double>> snapshot() {
  Registry& registry = Registry::instance();
  std::lock_guard reading(registry.reading());
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [name, family, all_series] : registry.all()) {
    for (const Series* one : all_series) {
      const Series& series = *one;
      std::string full_name = name + label_text(series.labels);
      if (auto* counter = std::get_if<std::unique_ptr<Counter>>(&series.metric)) {
        values.emplace_back(full_name, static_cast<double>((*counter)->value()));
      } else if (auto* gauge = std::get_if<std::unique_ptr<Gauge>>(&series.metric)) {
        values.emplace_back(full_name, (*gauge)->value());
      } else if (auto* read = std::get_if<std::function<double()>>(&series.metric)) {
        values.emplace_back(full_name, (*read)());
      }
    }
  }
  return values;
}

}  // namespace commitd::observe
