#include "plugins/registry.h"

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "base/error_codes.h"
#include "observe/wait_events.h"
#include "runtime/reactor.h"

namespace commitd::plugins {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLibrary = "test_plugins.so";

uint64_t count_of(std::string_view event) {
  for (const auto& summary : observe::wait_summaries()) {
    if (summary.name == event) return summary.total.count;
  }
  return 0;
}

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() { start(); }

  void start() {
    registry_.reset();
    registry_ = std::make_unique<Registry>(observers_);
    registry_->set_directory(COMMITD_TEST_PLUGINS);
    registry_->save_with([this](const std::string& content) {
      if (disk_is_full_) return Status(make_error(er::kDiskFull, "Disk full"));
      list_ = content;
      return Status();
    });
  }

  uint16_t install(const std::string& name, const std::string& library = kLibrary) {
    return code(run_blocking(registry_->install(name, library)));
  }
  uint16_t uninstall(const std::string& name) { return code(run_blocking(registry_->uninstall(name))); }
  uint16_t code(Status status) {
    said_ = status.ok() ? "" : status.error().message;
    return status.ok() ? 0 : status.error().code;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& plugin : registry_->list()) names.push_back(plugin.named.name);
    return names;
  }

  // One whose observers are the test's own.
  void link_in(const std::string& excludes = {}) {
    LinkedIn plugin;
    plugin.library = "linked.so";
    plugin.plugin.interface_version = COMMITD_PLUGIN_INTERFACE;
    plugin.plugin.name = "linked";
    plugin.init = [this](const commitd_host* host) {
      host_ = host;
      return host->observe_transactions(host, &observer_);
    };
    plugin.why_in_use = [this] {
      listed_when_asked_ = names();
      return why_in_use_;
    };
    plugin.excludes = excludes;
    registry_->link_in(std::move(plugin));
  }

  Observers observers_;
  commitd_transaction_observer observer_{};
  const commitd_host* host_ = nullptr;
  const char* why_in_use_ = nullptr;
  std::vector<std::string> listed_when_asked_;
  std::string list_, said_;
  bool disk_is_full_ = false;
  std::unique_ptr<Registry> registry_;
};

TEST_F(RegistryTest, APluginIsInstalledOnceAndUninstalled) {
  EXPECT_EQ(install("TEST_in_USE"), 0);
  EXPECT_THAT(names(), ElementsAre("test_in_use"));
  EXPECT_EQ(install("test_in_use"), 1125);
  EXPECT_EQ(said_, "Function 'test_in_use' already exists");
  EXPECT_EQ(install("test_refuses_commits"), 0);
  EXPECT_EQ(uninstall("Test_Refuses_Commits"), 0);
  EXPECT_EQ(uninstall("test_refuses_commits"), 1305);
  EXPECT_EQ(said_, "PLUGIN test_refuses_commits does not exist");
}

TEST_F(RegistryTest, WhatCannotBeInstalledIsSaidInMysqlsWords) {
  EXPECT_EQ(install("x", "../evil.so"), 1124);
  EXPECT_EQ(install("x", "absent.so"), 1126);
  EXPECT_THAT(said_, HasSubstr(COMMITD_TEST_PLUGINS "/absent.so' (errno: "));
  EXPECT_EQ(install("x", "no_plugin.so"), 1127);
  EXPECT_EQ(said_, "Can't find symbol 'commitd_plugin_declarations' in library");
  EXPECT_EQ(install("absent"), 1127);
  EXPECT_EQ(install("test_of_another_release"), 1126);
  EXPECT_EQ(install("test_at_start"), 1722);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, OneThatFailsToStartLeavesNoObserverBehind) {
  EXPECT_EQ(install("test_fails"), 1123);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_FALSE(observers_.transactions.any());
}

TEST_F(RegistryTest, OneThatThrowsWhileItStartsHasFailed) {
  EXPECT_EQ(install("test_throws", "throwing_plugin.so"), 1123);
  EXPECT_EQ(said_, "Can't initialize function 'test_throws'; Plugin initialization function failed.");
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_FALSE(observers_.transactions.any());
}

using RegistryDeathTest = RegistryTest;

// Behind a fork there would be no thread that installs.
TEST_F(RegistryDeathTest, AHookThatThrowsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ASSERT_EQ(install("test_hook_throws", "throwing_plugin.so"), 0);
  EXPECT_DEATH((void)observers_.before_commit(1), "");
}

TEST_F(RegistryTest, OneThatStaysOrIsInUseIsNotUninstalled) {
  ASSERT_EQ(install("test_stays"), 0);
  ASSERT_EQ(install("test_in_use"), 0);
  EXPECT_EQ(uninstall("test_stays"), 1721);
  EXPECT_EQ(uninstall("test_in_use"), 1883);
  EXPECT_EQ(said_, "Plugin 'test_in_use' cannot be uninstalled now. It is in use for ever.");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("test_stays", "test_in_use"));
}

TEST_F(RegistryTest, WhatIsInstalledIsInstalledAtTheNextStart) {
  ASSERT_EQ(install("test_stays"), 0);
  ASSERT_EQ(install("test_refuses_commits"), 0);
  EXPECT_EQ(list_, "test_stays\ttest_plugins.so\ntest_refuses_commits\ttest_plugins.so\n");
  start();
  EXPECT_FALSE(observers_.transactions.any());
  registry_->load_list(list_ + "gone\tabsent.so\n");
  registry_->load_option("test_at_start=test_plugins.so;absent.so");
  EXPECT_THAT(names(), ElementsAre("test_stays", "test_refuses_commits", "test_at_start"));
  EXPECT_EQ(observers_.before_commit(1).error().code, 3100);
  ASSERT_EQ(uninstall("test_refuses_commits"), 0);
  EXPECT_EQ(list_, "test_stays\ttest_plugins.so\n");
  EXPECT_TRUE(observers_.before_commit(1).ok());
}

TEST_F(RegistryTest, WhatCannotBeNotedIsNotChanged) {
  ASSERT_EQ(install("test_refuses_readers"), 0);
  disk_is_full_ = true;
  EXPECT_EQ(install("test_refuses_commits"), 1021);
  EXPECT_FALSE(observers_.transactions.any());
  EXPECT_EQ(uninstall("test_refuses_readers"), 1021);
  EXPECT_THAT(names(), ElementsAre("test_refuses_readers"));
  EXPECT_TRUE(observers_.transmit.any());
}

TEST_F(RegistryTest, AnOptionWithoutANameLoadsAllOfALibrary) {
  registry_->load_option(kLibrary);
  EXPECT_THAT(names(), ElementsAre("test_refuses_commits", "test_refuses_readers", "test_stays",
                                   "test_at_start", "test_in_use"));
  EXPECT_EQ(list_, "");
}

TEST_F(RegistryTest, OneThatIsLinkedInTakesItsNameFromALibraryThatIsNotThere) {
  link_in("test_stays");
  EXPECT_EQ(install("linked", "other.so"), 1126);
  ASSERT_EQ(install("test_stays"), 0);
  EXPECT_EQ(install("linked", "linked.so"), 4045);
  start();
  link_in("test_stays");
  EXPECT_EQ(install("linked", "linked.so"), 0);
  EXPECT_NE(host_->observe_transactions(host_, &observer_), 0) << "only while it starts";
  why_in_use_ = "Not now.";
  EXPECT_EQ(uninstall("linked"), 1883);
  EXPECT_THAT(listed_when_asked_, ElementsAre("linked"));
  why_in_use_ = nullptr;
  EXPECT_EQ(uninstall("linked"), 0);
}

struct Hook {
  std::promise<void> inside, leave;
  std::atomic<bool> left{false};
};

TEST_F(RegistryTest, AHookThatRunsKeepsItsPluginFromGoing) {
  Hook hook;
  observer_.data = &hook;
  observer_.after_commit = [](void* data, const commitd_transaction*) {
    auto& self = *static_cast<Hook*>(data);
    self.inside.set_value();
    self.leave.get_future().wait();
    self.left = true;
  };
  link_in();
  ASSERT_EQ(install("linked", "linked.so"), 0);
  std::thread session([&] { observers_.after_commit(1, "binlog.000001", 4, ""); });
  hook.inside.get_future().wait();
  auto uninstalled = std::async(std::launch::async, [&] {
    const uint16_t answer = uninstall("linked");
    EXPECT_TRUE(hook.left);
    return answer;
  });
  EXPECT_EQ(uninstalled.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  hook.leave.set_value();
  EXPECT_EQ(uninstalled.get(), 0);
  session.join();
}

TEST_F(RegistryTest, OnlyTheLegacyWaysTakeLocks) {
  observer_.after_commit = [](void*, const commitd_transaction*) {};
  link_in();
  ASSERT_EQ(install("linked", "linked.so"), 0);
  const auto counts = [&](ObserverLocking locking) {
    observers_.settings.locking = locking;
    observe::reset_wait_events();
    for (int i = 0; i < 10; ++i) observers_.after_commit(1, "binlog.000001", 4, "");
    return std::vector<uint64_t>{count_of("wait/synch/mutex/sql/LOCK_plugin"),
                                 count_of("wait/synch/rwlock/sql/LOCK_plugin"),
                                 count_of("wait/synch/rwlock/sql/Trans_delegate::lock")};
  };
  EXPECT_THAT(counts(ObserverLocking::LockFree), ElementsAre(0, 0, 0));
  EXPECT_THAT(counts(ObserverLocking::Mutex), ElementsAre(20, 0, 10));
  EXPECT_THAT(counts(ObserverLocking::RwLock), ElementsAre(0, 20, 10));
}

}  // namespace
}  // namespace commitd::plugins
