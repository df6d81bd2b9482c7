#include "storage/federated/federated_tables.h"

#include <gtest/gtest.h>

#include "runtime/reactor.h"
#include "storage/federated/testing/fake_servers.h"

namespace commitd::storage {
namespace {

using testing::FakeServers;
using Asked = std::vector<std::string>;

class FederatedTablesTest : public ::testing::Test {
 protected:
  FederatedTablesTest() {
    tables.reach_by(&servers);
    servers.answers["SELECT 1"] = {{"1"}, {std::nullopt}};
  }

  // The rows one behind the other, or the error's number.
  std::string read(const std::string& select = "SELECT 1", const RemoteTable& table = {.host = "h"}) {
    struct Joined : RemoteRows {
      Status row(std::span<const Field> fields) override {
        for (const Field& field : fields) text += std::string(field.value_or("NULL")) + ";";
        return refusal;
      }
      std::string text;
      Status refusal;
    } rows;
    rows.refusal = refusal;
    FederatedTables::Patience patience;
    patience.interrupted = [this] { return interrupted; };
    const Status status = run_blocking(tables.read(data, table, select, rows, patience));
    if (!status.ok()) message = status.error().message;
    return status.ok() ? rows.text : std::to_string(status.error().code);
  }

  FakeServers servers;
  FederatedTables tables;
  ConnectionData data;
  Status refusal;
  bool interrupted = false;
  std::string message;
};

TEST_F(FederatedTablesTest, AConnectionIsMadeAtFirstUseAndKept) {
  EXPECT_EQ(servers.asked, Asked{});
  EXPECT_EQ(read(), "1;NULL;");
  EXPECT_EQ(read(), "1;NULL;");
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "SELECT 1"}));
}

TEST_F(FederatedTablesTest, EachLoginHasItsOwn) {
  read("SELECT 1", {.host = "h", .db = "d", .table = "t"});
  read("SELECT 1", {.host = "h", .db = "e", .table = "u"});
  read("SELECT 1", {.host = "h", .user = "joe"});
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "SELECT 1", "connect h", "SELECT 1"}));
}

TEST_F(FederatedTablesTest, TheEndIsSaidToEachServer) {
  read();
  read("SELECT 1", {.host = "other"});
  servers.asked.clear();
  run_blocking(tables.close(data));
  EXPECT_EQ(servers.asked, (Asked{"quit", "quit"}));
  run_blocking(tables.close(data));
  EXPECT_EQ(servers.asked.size(), 2u);
}

TEST_F(FederatedTablesTest, ASessionThatIsDestroyedDropsItsConnections) {
  read();
  servers.asked.clear();
  data.federated.reset();
  EXPECT_EQ(servers.asked, Asked{"dropped"});
}

TEST_F(FederatedTablesTest, ErrorsAreThoseOfMySQL) {
  servers.unreachable = Error{er::kClientConnHost, "Can't connect"};
  EXPECT_EQ(read(), "1429");
  EXPECT_EQ(message, "Unable to connect to foreign data source: error: 2003  'Can't connect'");
  servers.unreachable.reset();
  servers.refusals["SELECT 1"] = Error{er::kNoSuchTable, "Table 'd.t' doesn't exist"};
  EXPECT_EQ(read(), "1431");
  servers.refusals["SELECT 1"] = Error{er::kAccessDenied, "denied"};
  EXPECT_EQ(read(), "1430");
  EXPECT_EQ(message,
            "There was a problem processing the query on the foreign data source. Data source error: error: "
            "1045  'denied'");
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "SELECT 1"}));  // an answer is no loss
}

TEST_F(FederatedTablesTest, WithoutAWayToServersNoneIsReached) {
  tables.reach_by(nullptr);
  EXPECT_EQ(read(), "1429");
}

TEST_F(FederatedTablesTest, AConnectionThatWasLostWhileIdleIsMadeAnew) {
  read();
  servers.losses = 1;
  EXPECT_EQ(read(), "1;NULL;");
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "SELECT 1", "dropped", "connect h", "SELECT 1"}));
}

TEST_F(FederatedTablesTest, ANewConnectionThatIsLostIsAnError) {
  servers.losses = 1;
  EXPECT_EQ(read(), "1430");
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "dropped"}));
}

TEST_F(FederatedTablesTest, NoRowIsReadTwice) {
  read();
  servers.losses_behind_a_row = 1;
  EXPECT_EQ(read(), "1430");
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "SELECT 1", "dropped"}));
}

TEST_F(FederatedTablesTest, WhoTakesTheRowsCanEndTheReading) {
  refusal = Error{er::kOutOfSortMemory, "full"};
  EXPECT_EQ(read(), "1038");
  EXPECT_EQ(message, "full");
  refusal = {};
  EXPECT_EQ(read(), "1;NULL;");
  EXPECT_EQ(servers.asked, (Asked{"connect h", "SELECT 1", "dropped", "connect h", "SELECT 1"}));
}

TEST_F(FederatedTablesTest, WhoIsKilledAsksNothing) {
  read();
  servers.asked.clear();
  interrupted = true;
  EXPECT_EQ(read(), "1317");
  EXPECT_EQ(servers.asked, Asked{});
}

TEST(ConnectionData, AnInterruptEndsTheWaitThatThereIs) {
  ConnectionData data;
  int ended = 0;
  data.interrupt();
  {
    const ConnectionData::Wait wait(data, [&ended] { ++ended; });
    data.interrupt();
  }
  data.interrupt();
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace commitd::storage
