// Users and privileges as clients see them.
#include "sql/accounts/accounts.h"

#include "base/error_codes.h"
#include "sql/accounts/account_statements.h"
#include "sql/parser/parser.h"
#include "sql/testing/sql_fixture.h"

namespace commitd::sql {
namespace {

class AccountsTest : public testing::SqlTest {
 protected:
  AccountsTest() {
    run("CREATE DATABASE d; USE d; CREATE TABLE a (x INT); CREATE TABLE b (x INT); INSERT INTO a VALUES (1)");
    run("CREATE USER 'u'@'%'");
    user_ = connect("u");
  }
  std::string as_user(std::string_view sql) { return run(*user_, sql); }
  static std::string denied(std::string_view command, std::string_view table) {
    return fmt::format("ERROR 1142: {} command denied to user 'u'@'localhost' for table '{}'", command,
                       table);
  }

  std::unique_ptr<Session> user_;
};

TEST_F(AccountsTest, TheMostSpecificHostIsTakenAndANameBeforeTheAnonymous) {
  run("CREATE USER ''@'localhost', ''@'10.%', 'u'@'10.%', 'u'@'10.0.%', 'ua'@'%'");
  const auto found = [&](std::string_view user, std::string_view host) {
    const auto account = server().accounts->find(user, host);
    return account ? account->user + "@" + account->host : "nobody";
  };
  EXPECT_EQ(found("u", "192.168.0.1"), "u@%");
  EXPECT_EQ(found("u", "10.1.2.3"), "u@10.%");
  EXPECT_EQ(found("u", "10.0.2.3"), "u@10.0.%");
  EXPECT_EQ(found("u", "localhost"), "@localhost");
  EXPECT_EQ(found("ua", "10.1.2.3"), "@10.%");
  EXPECT_EQ(found("ua", "192.168.0.1"), "ua@%");
  EXPECT_EQ(found("x", "localhost"), "@localhost");
  EXPECT_EQ(found("", "10.1.2.3"), "@10.%");
  EXPECT_EQ(found("x", "192.168.0.1"), "nobody");
  EXPECT_EQ(found("", "192.168.0.1"), "nobody");
}

TEST_F(AccountsTest, PrivilegesOnATableAreThatTablesAlone) {
  EXPECT_EQ(as_user("SELECT * FROM d.a"), denied("SELECT", "a"));
  EXPECT_EQ(run("GRANT SELECT, INSERT ON a TO u"), "");
  EXPECT_EQ(as_user("SELECT * FROM d.a"), "1");
  EXPECT_EQ(as_user("INSERT INTO d.a VALUES (2)"), "");
  EXPECT_EQ(as_user("DELETE FROM d.a"), denied("DELETE", "a"));
  EXPECT_EQ(as_user("SELECT * FROM d.b"), denied("SELECT", "b"));
  EXPECT_EQ(as_user("USE d"), "");
  EXPECT_EQ(run("SHOW GRANTS FOR u"),
            "GRANT USAGE ON *.* TO `u`@`%`\nGRANT SELECT, INSERT ON `d`.`a` TO `u`@`%`");
  EXPECT_EQ(run("REVOKE INSERT ON d.a FROM u"), "");
  EXPECT_EQ(as_user("INSERT INTO a VALUES (3)"), denied("INSERT", "a"));
  EXPECT_EQ(run("SELECT table_schema, table_name, privilege_type FROM information_schema.table_privileges"),
            "d|a|SELECT");
  EXPECT_EQ(run("SELECT Db, Table_name, Table_priv FROM mysql.tables_priv WHERE User = 'u'"), "d|a|SELECT");
  EXPECT_EQ(run("REVOKE SELECT ON d.a FROM u"), "");
  EXPECT_EQ(run("SHOW GRANTS FOR u"), "GRANT USAGE ON *.* TO `u`@`%`");
}

TEST_F(AccountsTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(run("GRANT SELECT ON d.nothing TO u"), "ERROR 1146: Table 'd.nothing' doesn't exist");
  EXPECT_EQ(run("GRANT RELOAD ON d.a TO u").substr(0, 11), "ERROR 1144:");
  EXPECT_EQ(run("GRANT RELOAD ON d.* TO u").substr(0, 11), "ERROR 1221:");
  EXPECT_EQ(run("REVOKE SELECT ON d.a FROM u"),
            "ERROR 1147: There is no such grant defined for user 'u' on host '%' on table 'a'");
  EXPECT_EQ(run("REVOKE SELECT ON d.* FROM u"),
            "ERROR 1141: There is no such grant defined for user 'u' on host '%'");
  EXPECT_EQ(run("GRANT SELECT ON d.* TO nobody"),
            "ERROR 1410: You are not allowed to create a user with GRANT");
  EXPECT_EQ(run("CREATE ROLE r"), "ERROR 1235: This version of MySQL doesn't yet support 'roles'");
  EXPECT_EQ(run("SET ROLE NONE"), "ERROR 1235: This version of MySQL doesn't yet support 'roles'");
}

TEST_F(AccountsTest, TheNativeMethodsHashIsTakenInItsTextForm) {
  const auto create = [this](const char* user, const char* hash) {
    return run(fmt::format("CREATE USER {} IDENTIFIED WITH mysql_native_password AS '{}'", user, hash))
        .substr(0, 11);
  };
  EXPECT_EQ(create("hashed", "*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9"), "");
  EXPECT_EQ(create("other", "6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9"), "ERROR 1827:");
}

TEST_F(AccountsTest, OnlyWhatOneHasWithGrantOptionCanBeGranted) {
  run("CREATE USER other; GRANT SELECT ON d.* TO u");
  EXPECT_EQ(as_user("GRANT SELECT ON d.* TO other").substr(0, 11), "ERROR 1044:");
  run("GRANT SELECT ON d.* TO u WITH GRANT OPTION");
  EXPECT_EQ(as_user("GRANT SELECT ON d.* TO other"), "");
  EXPECT_EQ(as_user("GRANT INSERT ON d.* TO other").substr(0, 11), "ERROR 1044:");
  EXPECT_EQ(as_user("GRANT ALL ON d.* TO other").substr(0, 11), "ERROR 1044:");
  EXPECT_EQ(run("SHOW GRANTS FOR other"),
            "GRANT USAGE ON *.* TO `other`@`%`\nGRANT SELECT ON `d`.* TO `other`@`%`");
}

TEST_F(AccountsTest, GrantOptionEverywhereGrantsNothingThatOneDoesNotHold) {
  run("CREATE USER other; GRANT SELECT ON *.* TO u WITH GRANT OPTION");
  for (const char* more : {"ALL", "INSERT", "SELECT, SUPER"}) {
    EXPECT_EQ(as_user(fmt::format("GRANT {} ON *.* TO u", more)).substr(0, 11), "ERROR 1227:") << more;
    EXPECT_EQ(as_user(fmt::format("REVOKE {} ON *.* FROM root", more)).substr(0, 11), "ERROR 1227:") << more;
  }
  EXPECT_EQ(as_user("GRANT SELECT ON *.* TO other WITH GRANT OPTION"), "");
  EXPECT_EQ(run("SHOW GRANTS FOR u"), "GRANT SELECT ON *.* TO `u`@`%` WITH GRANT OPTION");
}

TEST_F(AccountsTest, AnOwnerChangesThePasswordAndNotWhatOthersDemand) {
  run("ALTER USER u REQUIRE SSL");
  EXPECT_EQ(as_user("ALTER USER CURRENT_USER() IDENTIFIED BY 'new'"), "");
  EXPECT_EQ(as_user("ALTER USER CURRENT_USER() REQUIRE NONE").substr(0, 11), "ERROR 1227:");
  EXPECT_EQ(as_user("ALTER USER CURRENT_USER() IDENTIFIED BY 'x' REQUIRE NONE").substr(0, 11), "ERROR 1227:");
  EXPECT_EQ(as_user("ALTER USER CURRENT_USER() ACCOUNT UNLOCK").substr(0, 11), "ERROR 1227:");
}

TEST_F(AccountsTest, WhatConcernsTheServerNeedsAPrivilege) {
  EXPECT_EQ(as_user("SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED").substr(0, 11), "ERROR 1227:");
  EXPECT_EQ(as_user("SET GLOBAL TRANSACTION READ ONLY").substr(0, 11), "ERROR 1227:");
  EXPECT_EQ(as_user("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"), "");
  EXPECT_EQ(as_user("SHOW REPLICA STATUS").substr(0, 11), "ERROR 1227:");
  EXPECT_EQ(as_user("SHOW REPLICAS").substr(0, 11), "ERROR 1227:");
}

TEST_F(AccountsTest, EverythingCanBeTakenAway) {
  run("GRANT RELOAD ON *.* TO u; GRANT SELECT ON d.* TO u; GRANT INSERT ON d.a TO u WITH GRANT OPTION");
  EXPECT_EQ(run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM u"), "");
  EXPECT_EQ(run("SHOW GRANTS FOR u"), "GRANT USAGE ON *.* TO `u`@`%`");
}

TEST_F(AccountsTest, TheMysqlDatabaseShowsAccountsToThoseWhoMayRead) {
  EXPECT_EQ(run("SELECT User, Host, Select_priv, plugin, account_locked FROM mysql.user WHERE User = 'u'"),
            "u|%|N|caching_sha2_password|N");
  EXPECT_EQ(as_user("SELECT User FROM mysql.user"), denied("SELECT", "user"));
  EXPECT_EQ(run("INSERT INTO mysql.user (User) VALUES ('x')").substr(0, 11), "ERROR 1044:");
  run("GRANT SELECT, DELETE ON d.* TO u");
  EXPECT_EQ(run("SELECT Db, Select_priv, Insert_priv, Delete_priv FROM mysql.db WHERE User = 'u'"),
            "d|Y|N|Y");
}

TEST(BuiltInAccounts, AreThereOnlyWithAPasswordAndCannotBeChanged) {
  Accounts none{BuiltInPasswords{}};
  EXPECT_FALSE(none.find("commitlab_replication", "10.0.0.1"));
  EXPECT_EQ(none.built_in_names(), "");

  Accounts accounts{{.of_operator = "a", .of_replication = "b"}};
  EXPECT_EQ(accounts.built_in_names(), "commitlab_operator,commitlab_replication");
  const auto replication = accounts.find("commitlab_replication", "10.0.0.1");
  ASSERT_TRUE(replication);
  EXPECT_TRUE(replication->is_built_in());
  EXPECT_FALSE(replication->is_operator());
  EXPECT_EQ(accounts.record_of(*replication)->global, privilege::kReplicationSlave | privilege::kBackupAdmin);
  EXPECT_FALSE(accounts.record("commitlab_replication", "%"));

  accounts.require_of_built_in(TlsRequirement::Certificate);
  EXPECT_EQ(accounts.find("commitlab_replication", "10.0.0.1")->require, TlsRequirement::Certificate);
  EXPECT_EQ(accounts.find("commitlab_operator", "10.0.0.1")->require, TlsRequirement::Certificate);
}

// What a release without the built-in account has logged must be replayed by one that has it.
TEST(BuiltInAccounts, AStatementOfThatNameIsRefusedFromPeopleAndTakenFromTheLog) {
  Accounts accounts{{.of_operator = "a", .of_replication = "b"}};
  AccountRecord root;
  root.user = "root";
  root.host = "%";
  Arena arena;
  auto parsed = parse_logged_statement("CREATE USER 'commitlab_replication'@'%'", 0, arena);
  ASSERT_TRUE(parsed.ok());
  Diagnostics diagnostics;
  const auto plan = [&](const AccountRecord* current) {
    return plan_account_statement(*parsed->statement, accounts, current, "", diagnostics);
  };
  auto refused = plan(&root);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, er::kCannotUser);
  EXPECT_TRUE(plan(nullptr).ok());
}

}  // namespace
}  // namespace commitd::sql
