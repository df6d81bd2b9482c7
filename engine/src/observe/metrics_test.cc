#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "observe/process_metrics.h"

namespace commitd::observe {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_with(const std::string& part) {
  std::vector<std::string> found;
  std::istringstream text(prometheus_text());
  for (std::string line; std::getline(text, line);) {
    if (line.find(part) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameCounter) {
  counter("test_same_total", "Help.", {{"kind", "a"}}).add(2);
  counter("test_same_total", "Help.", {{"kind", "a"}}).add();
  counter("test_same_total", "Help.", {{"kind", "b"}}).add(5);
  EXPECT_THAT(lines_with("test_same_total"),
              testing::ElementsAre("# HELP test_same_total Help.", "# TYPE test_same_total counter",
                                   "test_same_total{kind=\"a\"} 3", "test_same_total{kind=\"b\"} 5"));
}

TEST(Metrics, LabelValuesAndHelpAreEscaped) {
  gauge("test_escape", "One\nline \\ only.", {{"path", "C:\\a \"b\"\n"}}).set(1.5);
  EXPECT_THAT(lines_with("test_escape"),
              testing::ElementsAre("# HELP test_escape One\\nline \\\\ only.", "# TYPE test_escape gauge",
                                   R"(test_escape{path="C:\\a \"b\"\n"} 1.5)"));
}

TEST(Metrics, HistogramBucketsAreCumulativeAndEndWithInfinity) {
  auto& seconds = histogram("test_wait_seconds", "Waits.", {{"stage", "sync"}});
  seconds.observe_ns(900);              // ≤ 1 µs
  seconds.observe_ns(1'000);            // a bound belongs to its bucket
  seconds.observe_ns(1'001);            // ≤ 2 µs
  seconds.observe_ns(500'000'000'000);  // beyond the last bound
  auto buckets = lines_with("test_wait_seconds_bucket");
  ASSERT_EQ(buckets.size(), 28u);
  EXPECT_EQ(buckets[0], "test_wait_seconds_bucket{stage=\"sync\",le=\"1e-06\"} 2");
  EXPECT_EQ(buckets[1], "test_wait_seconds_bucket{stage=\"sync\",le=\"2e-06\"} 3");
  EXPECT_EQ(buckets[26], "test_wait_seconds_bucket{stage=\"sync\",le=\"67.108864\"} 3");
  EXPECT_EQ(buckets[27], "test_wait_seconds_bucket{stage=\"sync\",le=\"+Inf\"} 4");
  EXPECT_THAT(prometheus_text(), HasSubstr("test_wait_seconds_count{stage=\"sync\"} 4\n"));
  EXPECT_THAT(prometheus_text(), HasSubstr("test_wait_seconds_sum{stage=\"sync\"} 500.000002901\n"));
}

TEST(Metrics, AHugeDurationStaysInTheLastBucket) {
  auto& seconds = histogram("test_huge_seconds", "Waits.");
  seconds.observe_ns(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(seconds.bucket(Histogram::kBuckets), 1u);
}

TEST(Metrics, CallbacksAreReadWhenScrapedAndStandInTheSnapshot) {
  double value = 1;
  callback("gauge", "test_callback", "Read on demand.", {}, [&] { return value; });
  value = 7;
  EXPECT_THAT(prometheus_text(), HasSubstr("\ntest_callback 7\n"));
  EXPECT_THAT(snapshot(), testing::Contains(testing::Pair("test_callback", 7.0)));
  callback("gauge", "test_callback", "Read on demand.", {}, [] { return 0.0; });
}

TEST(ProcessMetrics, AreThoseOfARunningProcess) {
  register_process_metrics();
  auto values = snapshot();
  auto value_of = [&](const std::string& name) {
    for (const auto& [known, value] : values) {
      if (known == name) return value;
    }
    return -1.0;
  };
  EXPECT_GT(value_of("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(value_of("process_open_fds"), 3);
  EXPECT_GT(value_of("process_start_time_seconds"), 1.6e9);
  EXPECT_GE(value_of("commitd_voluntary_context_switches_total"), 0);
}

}  // namespace
}  // namespace commitd::observe
