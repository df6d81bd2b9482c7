// ENGINE=FEDERATED as clients see it, the other servers being lists of answers.
#include "base/error_codes.h"
#include "base/memory_budget.h"
#include "sql/testing/sql_fixture.h"
#include "storage/federated/testing/fake_servers.h"

namespace commitd::sql {
namespace {

using Asked = std::vector<std::string>;
using Row = storage::testing::FakeServers::Row;

constexpr std::string_view kConnection = "CONNECTION = 'mysql://joe:secret@far/shop/orders'";

class Federated : public testing::SqlTest {
 protected:
  Federated() {
    storage::federated_tables(*server().engine)->reach_by(&far);
    create("f", "id INT PRIMARY KEY, v INT, name VARCHAR(20), KEY (v, name)");
    far.answers[kAll] = {{"1", "10", "one"}, {"2", "20", std::nullopt}, {"3", "30", "three"}};
    run("CREATE TABLE l (id INT PRIMARY KEY, w INT); INSERT INTO l VALUES (1, 100), (3, 300), (4, 400)");
  }
  // The session goes behind the servers that it has connections to.
  ~Federated() override { run_blocking(session().close()); }

  std::string create(std::string_view table, std::string_view columns) {
    return run(fmt::format("CREATE TABLE {} ({}) ENGINE = FEDERATED {}", table, columns, kConnection));
  }
  // What a statement asks of the other server.
  Asked asked_by(std::string_view sql) {
    far.asked.clear();
    run(sql);
    std::erase(far.asked, "connect far");
    return far.asked;
  }
  std::string code(std::string_view sql) { return run(sql).substr(0, 10); }

  static constexpr const char* kAll = "SELECT `id`, `v`, `name` FROM `shop`.`orders`";
  storage::testing::FakeServers far;
};

TEST_F(Federated, ADefinitionShowsItsConnection) {
  EXPECT_EQ(run("SHOW CREATE TABLE f"),
            "f|CREATE TABLE `f` (\n  `id` int NOT NULL,\n  `v` int DEFAULT NULL,\n"
            "  `name` varchar(20) DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  KEY `v` (`v`,`name`)\n) "
            "ENGINE=FEDERATED DEFAULT CHARSET=utf8mb4 CONNECTION='mysql://joe:secret@far/shop/orders'");
  EXPECT_EQ(run("SELECT engine FROM information_schema.tables WHERE table_name = 'f'"), "FEDERATED");
  EXPECT_EQ(run("SELECT support, transactions FROM information_schema.engines WHERE engine = 'FEDERATED'"),
            "YES|NO");
  EXPECT_EQ(run("CREATE TABLE g LIKE f"), "");
  EXPECT_EQ(run("SELECT * FROM g LIMIT 1"), "1|10|one");
}

TEST_F(Federated, NothingIsAskedBeforeATableIsRead) {
  run("SHOW CREATE TABLE f; SHOW COLUMNS FROM f; EXPLAIN SELECT * FROM f; SELECT * FROM "
      "information_schema.tables");
  EXPECT_EQ(far.asked, Asked{});
}

TEST_F(Federated, BadConnectionsAreRefusedAtCreateTable) {
  const auto created = [this](std::string_view connection) {
    return code(fmt::format("CREATE TABLE b (id INT) ENGINE=FEDERATED {}", connection));
  };
  EXPECT_EQ(created(""), "ERROR 1432");
  EXPECT_EQ(created("CONNECTION='mysql://joe@far/shop'"), "ERROR 1432");
  EXPECT_EQ(created("CONNECTION='server1'"), "ERROR 1477");
  EXPECT_EQ(created("CONNECTION='server1/t'"), "ERROR 1477");
  run("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'far')");
  EXPECT_EQ(created("CONNECTION='s'"), "ERROR 1432");  // of which database?
  run("ALTER SERVER s OPTIONS (DATABASE 'shop')");
  EXPECT_EQ(created("CONNECTION='s/'"), "ERROR 1432");
  EXPECT_EQ(created("CONNECTION='s/a/b'"), "ERROR 1432");
  run("ALTER SERVER s OPTIONS (PORT 65536)");
  EXPECT_EQ(created("CONNECTION='s'"), "ERROR 1432");
  run("ALTER SERVER s OPTIONS (PORT 0, HOST '', SOCKET '/far.sock')");
  EXPECT_EQ(created("CONNECTION='s'"), "ERROR 1235");
  EXPECT_EQ(run("SHOW TABLES"), "f\nl");
}

constexpr const char* kCreateServer =
    "CREATE SERVER Shop FOREIGN DATA WRAPPER mysql OPTIONS (USER 'joe', PASSWORD 'secret', HOST 'far', "
    "DATABASE 'shop', PORT 3307, OWNER 'me')";

TEST_F(Federated, ServersHaveNames) {
  EXPECT_EQ(run(kCreateServer), "");
  EXPECT_EQ(last().last.affected_rows, 1u);
  EXPECT_EQ(run("SELECT * FROM mysql.servers"), "Shop|far|shop|joe|secret|3307||mysql|me");
  EXPECT_EQ(run("CREATE SERVER 'sHOP' FOREIGN DATA WRAPPER 'mysql' OPTIONS (HOST 'h')"),
            "ERROR 1476: The foreign server, sHOP, you are trying to create already exists.");
  EXPECT_EQ(run("ALTER SERVER shop OPTIONS (PASSWORD 'other', HOST 'near', HOST 'nearer')"), "");
  EXPECT_EQ(run("SELECT * FROM mysql.servers"), "Shop|nearer|shop|joe|other|3307||mysql|me");
  EXPECT_EQ(run("DROP SERVER SHOP; SELECT * FROM mysql.servers"), " ; ");
  EXPECT_EQ(run("DROP SERVER shop"),
            "ERROR 1477: The foreign server name you are trying to reference does not exist. Data source "
            "error:  shop");
  EXPECT_EQ(code("ALTER SERVER shop OPTIONS (HOST 'h')"), "ERROR 1477");
  EXPECT_EQ(run("DROP SERVER IF EXISTS shop"), "");
  EXPECT_EQ(code("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS ()"), "ERROR 1064");
  EXPECT_EQ(
      run("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWORD '" + std::string(65, 'p') + "')"),
      "ERROR 1470: String '…' is too long for password (should be no longer than 64)");
}

TEST_F(Federated, ATableIsWhereItsServerIs) {
  run(kCreateServer);
  const std::string columns = " (id INT PRIMARY KEY, v INT, name VARCHAR(20)) ENGINE=FEDERATED CONNECTION=";
  EXPECT_EQ(run("CREATE TABLE orders" + columns + "'shop'"), "");
  EXPECT_EQ(run("CREATE TABLE o" + columns + "'shop/orders'"), "");
  for (const char* table : {"orders", "o"})
    EXPECT_EQ(asked_by(fmt::format("SELECT * FROM {}", table)), Asked{kAll});
  const std::string shown = run("SHOW CREATE TABLE o");
  EXPECT_TRUE(shown.ends_with(" CONNECTION='shop/orders'")) << shown;

  run("ALTER SERVER shop OPTIONS (HOST 'near')");
  far.asked.clear();
  EXPECT_EQ(run("SELECT id FROM o WHERE id = 1"), "");
  EXPECT_EQ(far.asked.at(0), "connect near");

  run("DROP SERVER shop");
  EXPECT_EQ(run("SELECT * FROM o"),
            "ERROR 1477: The foreign server name you are trying to reference does not exist. Data source "
            "error:  server name: 'shop' doesn't exist!");
  EXPECT_EQ(code("SELECT (SELECT name FROM o WHERE o.id = l.id) FROM l"), "ERROR 1477");
  EXPECT_EQ(run("DROP TABLE o"), "");
}

TEST_F(Federated, ServersNeedSuperAndTheirTableMayHavePasswords) {
  run("CREATE USER u; GRANT ALL ON test.* TO u");
  const auto user = connect("u");
  for (const char* statement : {kCreateServer, "ALTER SERVER shop OPTIONS (PORT 1)", "DROP SERVER shop"}) {
    EXPECT_EQ(
        run(*user, statement),
        "ERROR 1227: Access denied; you need (at least one of) the SUPER privilege(s) for this operation");
  }
  EXPECT_EQ(run(*user, "SELECT * FROM mysql.servers").substr(0, 10), "ERROR 1142");
}

TEST_F(Federated, RowsAreRead) {
  EXPECT_EQ(run("SELECT * FROM f"), "1|10|one\n2|20|NULL\n3|30|three");
  EXPECT_EQ(far.asked, (Asked{"connect far", kAll}));
  EXPECT_EQ(run("SELECT * FROM f ORDER BY v DESC LIMIT 1"), "3|30|three");
  EXPECT_EQ(run("SELECT f.id, name FROM f WHERE name LIKE 't%' AND id + v > 0"), "3|three");
  far.answers["SELECT `v` FROM `shop`.`orders`"] = {{"10"}, {"20"}, {"30"}};
  EXPECT_EQ(run("SELECT SUM(v), COUNT(*) FROM f"), "60|3");
  far.answers["SELECT `id` FROM `shop`.`orders`"] = {{"1"}, {"2"}};
  EXPECT_EQ(run("SELECT COUNT(*) FROM f"), "2");
}

TEST_F(Federated, AnIndexGivesTheConditionThatIsAsked) {
  const auto where = [](std::string_view condition) {
    return Asked{fmt::format("{} WHERE {}", kAll, condition)};
  };
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE id = 2"), where("`id` = 2"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE id IN (3, 1)"), where("(`id` = 1) OR (`id` = 3)"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE id > 1 AND id <= 7"), where("`id` > 1 AND `id` <= 7"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE id BETWEEN -1 AND 2"), where("`id` >= -1 AND `id` <= 2"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE v = 5 AND name = 'it''s \\\\'"),
            where("`v` = 5 AND `name` = 'it\\'s \\\\'"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE v = 5 AND name < 'b'"), where("`v` = 5 AND `name` < 'b'"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE v IS NULL AND name > 'b'"),
            where("`v` IS NULL AND `name` > 'b'"));
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE name = 'x'"), Asked{kAll});
  EXPECT_EQ(asked_by("SELECT * FROM f WHERE id = NULL"), Asked{});
}

TEST_F(Federated, WhatIsNotExactAsTextIsNotAsked) {
  create("x", "d DOUBLE, r FLOAT, b VARBINARY(4), y DATE, PRIMARY KEY (b, y), KEY (d), KEY (r)");
  const std::string all = "SELECT `d`, `r` + 0e0, `b`, `y` FROM `shop`.`orders`";
  EXPECT_EQ(asked_by("SELECT * FROM x WHERE d = 1.5"), Asked{all});
  EXPECT_EQ(asked_by("SELECT * FROM x WHERE r > 1.5"), Asked{all});
  EXPECT_EQ(asked_by("SELECT * FROM x WHERE b = X'00FF27' AND y >= '2024-02-29'"),
            Asked{all + " WHERE `b` = X'00FF27' AND `y` >= '2024-02-29'"});
}

TEST_F(Federated, RowsThatTheOtherServerGivesTooManyAreLeftOut) {
  far.answers[std::string(kAll) + " WHERE `id` = 2"] = {{"1", "10", "one"}, {"2", "20", "two"}};
  far.answers[std::string(kAll) + " WHERE `id` >= 1 AND `id` <= 2"] = {{"2", "20", "two"}, {"3", "30", "x"}};
  EXPECT_EQ(run("SELECT * FROM f WHERE id = 2"), "2|20|two");
  EXPECT_EQ(run("SELECT * FROM f WHERE id BETWEEN 1 AND 2"), "2|20|two");
}

TEST_F(Federated, AJoinFetchesTheInnerTableOnceOrByItsKey) {
  EXPECT_EQ(asked_by("SELECT * FROM l JOIN f ON w = v * 10"), Asked{kAll});
  EXPECT_EQ(run("SELECT l.id, w, f.* FROM l JOIN f ON w = v * 10"), "1|100|1|10|one\n3|300|3|30|three");
  const Asked by_key = {std::string(kAll) + " WHERE `id` = 1", std::string(kAll) + " WHERE `id` = 3",
                        std::string(kAll) + " WHERE `id` = 4"};
  far.answers[by_key[0]] = {{"1", "10", "one"}};
  EXPECT_EQ(asked_by("SELECT l.id, f.* FROM l LEFT JOIN f ON f.id = l.id"), by_key);
  EXPECT_EQ(run("SELECT l.id, f.* FROM l LEFT JOIN f ON f.id = l.id"),
            "1|1|10|one\n3|NULL|NULL|NULL\n4|NULL|NULL|NULL");
  EXPECT_EQ(run("SELECT a.* FROM f a JOIN f b ON a.v + 0 = b.v + 0"), "1|10|one\n2|20|NULL\n3|30|three");
}

TEST_F(Federated, SubqueriesReadThem) {
  EXPECT_EQ(run("SELECT id FROM l WHERE id IN (SELECT t.id FROM (SELECT * FROM f) t)"), "1\n3");
  EXPECT_EQ(run("SELECT id FROM l WHERE EXISTS (SELECT * FROM f WHERE f.v * 10 = l.w)"), "1\n3");
  EXPECT_EQ(run("SELECT id, (SELECT w FROM l WHERE l.id = f.id AND f.v > 10) FROM (SELECT * FROM f) f"),
            "1|NULL\n2|NULL\n3|300");
}

TEST_F(Federated, TheyCanBeCopiedFromAndNotWrittenTo) {
  EXPECT_EQ(run("INSERT INTO l SELECT id + 10, v FROM (SELECT * FROM f) t"), "");
  EXPECT_EQ(run("SELECT COUNT(*) FROM l"), "6");
  for (const char* change : {"INSERT INTO f VALUES (9, 9, '')", "REPLACE INTO f VALUES (9, 9, '')",
                             "INSERT INTO f SELECT 1, 2, ''", "UPDATE f SET v = 1", "DELETE FROM f",
                             "UPDATE l JOIN f ON l.id = f.id SET f.v = 1",
                             "DELETE f FROM l JOIN f ON l.id = f.id", "TRUNCATE TABLE f"})
    EXPECT_EQ(run(change), "ERROR 1036: Table 'f' is read only") << change;
  EXPECT_EQ(run("UPDATE l JOIN (SELECT * FROM f) t ON t.id = l.id SET w = v; SELECT w FROM l WHERE id < 4"),
            " ; 10\n30");
  far.answers[std::string(kAll) + " WHERE `id` = 1"] = {{"1", "77", "one"}};
  EXPECT_EQ(run("UPDATE l JOIN f ON f.id = l.id SET w = v; SELECT w FROM l WHERE id < 4"), " ; 77\n30");
}

TEST_F(Federated, DefinitionsAreRenamedAndDroppedOnly) {
  for (const char* change :
       {"ALTER TABLE f ADD COLUMN c INT", "ALTER TABLE f DROP COLUMN v", "CREATE INDEX i ON f (name)",
        "DROP INDEX v ON f", "ALTER TABLE f ENGINE=ROCKS", "ALTER TABLE f COMMENT 'x'"})
    EXPECT_EQ(run(change), "ERROR 1031: Table storage engine for 'f' doesn't have this option") << change;
  EXPECT_EQ(code("ALTER TABLE l ENGINE=FEDERATED"), "ERROR 1031");
  EXPECT_EQ(run("RENAME TABLE f TO g; ALTER TABLE g RENAME TO h; SELECT * FROM h WHERE name = 'one'"),
            " ;  ; 1|10|one");
  EXPECT_EQ(run("DROP TABLE h; SHOW TABLES"), " ; l");
  EXPECT_EQ(far.asked.size(), 2u);  // one connection, one SELECT
}

TEST_F(Federated, ErrorsEndTheStatementAndTheNextOneIsTriedAnew) {
  far.unreachable = Error{er::kClientConnHost, "Can't connect to MySQL server on 'far' (111)"};
  EXPECT_EQ(
      run("SELECT * FROM f"),
      "ERROR 1429: Unable to connect to foreign data source: error: 2003  'Can't connect to MySQL server "
      "on 'far' (111)'");
  far.unreachable.reset();
  far.refusals[kAll] = Error{er::kNoSuchTable, "Table 'shop.orders' doesn't exist"};
  EXPECT_EQ(code("SELECT * FROM f"), "ERROR 1431");
  EXPECT_EQ(code("SELECT id FROM l WHERE EXISTS (SELECT * FROM f WHERE f.v > l.w)"), "ERROR 1431");
  far.refusals.clear();
  EXPECT_EQ(run("SELECT id FROM f WHERE name IS NULL OR v = 10"), "1\n2");
  EXPECT_EQ(run("SELECT * FROM f LIMIT 1"), "1|10|one");
}

TEST_F(Federated, ValuesMustFitTheDefinition) {
  far.answers[kAll] = {{"1", "10", "one"}, {"2", "99999999999", ""}};
  EXPECT_EQ(run("SELECT * FROM f"), "ERROR 1264: Out of range value for column 'v' at row 2");
  far.answers[kAll] = {{std::nullopt, "10", "one"}};
  EXPECT_EQ(run("SELECT * FROM f"), "ERROR 1048: Column 'id' cannot be null");
  far.answers[kAll] = {{"1", "10"}};
  EXPECT_EQ(code("SELECT * FROM f"), "ERROR 1430");
}

TEST_F(Federated, RowsAreWithinTheMemoryBudget) {
  far.answers[kAll].assign(2000, {"1", "10", std::string(20, 'x')});
  MemoryBudget& budget = MemoryBudget::process();
  budget.set_limit(budget.used() + 100'000);
  EXPECT_EQ(code("SELECT * FROM f"), "ERROR 1038");
  budget.set_limit(UINT64_MAX);
  EXPECT_EQ(run("SELECT COUNT(name) FROM (SELECT * FROM f) t"), "2000");
  EXPECT_EQ(budget.used(MemoryUse::Rows), 0u);
}

TEST_F(Federated, APreparedStatementAsksEachTime) {
  run("PREPARE s FROM 'SELECT * FROM f WHERE id = ?'; SET @one = 1, @two = 2");
  EXPECT_EQ(asked_by("EXECUTE s USING @one"), Asked{std::string(kAll) + " WHERE `id` = 1"});
  EXPECT_EQ(asked_by("EXECUTE s USING @two; EXECUTE s USING @two"),
            Asked(2, std::string(kAll) + " WHERE `id` = 2"));
}

TEST_F(Federated, MaintenanceIsNothingForThem) {
  EXPECT_EQ(run("CHECK TABLE f"), "test.f|check|note|The storage engine for the table doesn't support check");
  EXPECT_EQ(run("CHECKSUM TABLE f"), "test.f|NULL");
  EXPECT_EQ(far.asked, Asked{});
}

TEST_F(Federated, TheSessionsEndIsSaidToTheOtherServer) {
  const auto other = connect();
  EXPECT_EQ(run(*other, "SELECT id FROM test.f WHERE name = 'one' OR 1"), "");
  EXPECT_EQ(run(*other, "SELECT name, v, id FROM test.f WHERE id > 2"), "");
  run_blocking(other->reset());
  far.asked.clear();
  run_blocking(other->close());
  EXPECT_EQ(far.asked, Asked{"quit"});
}

}  // namespace
}  // namespace commitd::sql
