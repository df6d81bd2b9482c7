"""commitd follows a MariaDB server by file and position, and gives its transactions GTIDs."""

import contextlib
import shutil
import unittest

import pymysql

from commitd_process import Commitd, wait_until
from differential.servers import MariaDB, Session
from killed_replica import kill_while_source_is_written

USER, PASSWORD = "replicator", "not-a-secret"
UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
NO_GTIDS, OTHER_GTIDS = 1593, 1236
TABLES = {
    "every": "(id INT PRIMARY KEY AUTO_INCREMENT, i BIGINT UNSIGNED, s VARCHAR(50), u VARCHAR(20) UNIQUE, t TIMESTAMP(3) NULL, d DATETIME(6), "
             "y YEAR, n DECIMAL(20, 5), f DOUBLE, e ENUM('a', 'b'), b BLOB, KEY (s))",
    "keyless": "(a INT, b VARCHAR(20))",
}


class MariaDBSourceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("mariadb-install-db"):
            raise unittest.SkipTest("there is no MariaDB: make -C engine test-deps")
        cls.source = cls.enterClassContext(MariaDB("--server-id=1", "--log-bin=maria-bin", "--binlog-format=ROW"))
        cls.session = Session(cls.source.port)
        cls.addClassCleanup(cls.session.close)
        cls.at_source(f"CREATE USER {USER} IDENTIFIED BY '{PASSWORD}'", f"GRANT REPLICATION SLAVE, REPLICATION SLAVE ADMIN ON *.* TO {USER}",
                      "RESET MASTER")

    @classmethod
    def at_source(cls, *statements):
        for statement in statements:
            outcome = cls.session.run(statement, want_warnings=False)
            assert not outcome.error, f"{statement}: {outcome}"
        return outcome.rows

    def setUp(self):
        self.at_source("DROP DATABASE IF EXISTS d", "RESET MASTER", "CREATE DATABASE d CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
        self.replica = Commitd(server_id=2)
        self.addCleanup(self.replica.__exit__)
        self.replica.start()

    def follow(self, *options, auto_position=0):
        place = [] if auto_position else ["SOURCE_LOG_FILE='maria-bin.000001'", "SOURCE_LOG_POS=4"]
        self.replica.query("CHANGE REPLICATION SOURCE TO " + ", ".join(
            ["SOURCE_HOST='127.0.0.1'", f"SOURCE_PORT={self.source.port}", f"SOURCE_USER='{USER}'", f"SOURCE_PASSWORD='{PASSWORD}'",
             f"SOURCE_AUTO_POSITION={auto_position}", *place, *options]))
        self.replica.query("START REPLICA")

    def status(self):
        with contextlib.closing(self.replica.connect()) as connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute("SHOW REPLICA STATUS")
            return cursor.fetchone()

    def wait_for_all(self):
        file, position = self.at_source("SHOW MASTER STATUS")[0][:2]
        place = (file.decode(), int(position))

        def stands_there():
            status = self.status()
            return ((status["Source_Log_File"], int(status["Read_Source_Log_Pos"])) == place
                    == (status["Relay_Source_Log_File"], int(status["Exec_Source_Log_Pos"])))
        wait_until(stands_there, f"it stands at {place}: {self.status()}")

    def assert_equal_rows(self, query):
        ours = Session(self.replica.port)
        self.addCleanup(ours.close)
        self.assertEqual(ours.run(query).rows, self.at_source(query), query)

    def test_it_has_what_every_kind_of_event_made(self):
        self.follow("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS=LOCAL")
        self.at_source("USE d", *(f"CREATE TABLE {name} {columns} ENGINE=InnoDB" for name, columns in TABLES.items()))
        for number in range(1, 6):
            self.at_source(f"INSERT INTO every VALUES (NULL, {number} * 1000000000000, REPEAT('é', {number}), 'u{number}', '2024-05-06 07:08:09.123', "
                           f"'1999-12-31 23:59:59.999999', 2000, -{number}.5, {number} / 3, 'b', UNHEX('00ff'))",
                           f"INSERT INTO keyless VALUES ({number}, 'one'), ({number}, 'one'), (NULL, NULL)")
        self.at_source("BEGIN", "UPDATE every SET s = CONCAT(s, 'x'), i = NULL WHERE id < 3", "DELETE FROM every WHERE id = 4",
                       "UPDATE keyless SET b = 'two' WHERE a = 2 LIMIT 1", "COMMIT", "DELETE FROM keyless WHERE a = 5 LIMIT 1",
                       "BEGIN", "INSERT INTO keyless VALUES (99, 'not')", "ROLLBACK",
                       "ALTER TABLE every ADD COLUMN later INT DEFAULT 7", "FLUSH BINARY LOGS", "INSERT INTO every (u) VALUES ('last')",
                       "CREATE TABLE filled LIKE keyless", "INSERT INTO filled SELECT * FROM keyless", "TRUNCATE TABLE filled",
                       "INSERT INTO filled VALUES (1, 'x')")
        self.wait_for_all()
        self.assertEqual((self.status()["Last_SQL_Error"], self.status()["Replica_SQL_Running"]), ("", "Yes"))
        for query in ("SELECT * FROM d.every ORDER BY id", "SELECT * FROM d.keyless ORDER BY a, b", "SELECT * FROM d.filled"):
            self.assert_equal_rows(query)
        own = self.replica.query("SELECT @@server_uuid")[0][0]
        executed = self.replica.query("SELECT @@gtid_executed")[0][0]
        self.assertRegex(executed, f"^{own}:1-[0-9]+$")
        self.replica.query("STOP REPLICA")
        self.replica.query("INSERT INTO d.keyless VALUES (0, 'own')")  # its numbers go on behind those
        self.assertRegex(self.replica.query("SELECT @@gtid_executed")[0][0], f"^{own}:1-{int(executed.rpartition('-')[2]) + 1}$")

    def test_killed_at_any_moment_it_has_each_transaction_once(self):
        self.at_source("CREATE TABLE d.log (n INT) ENGINE=InnoDB")
        self.follow(f"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS='{UUID}'")
        kill_while_source_is_written(lambda: pymysql.connect(host="127.0.0.1", port=self.source.port, user="root", autocommit=True), self.replica,
                                     flush_every=200, seed=11)
        self.wait_for_all()
        self.assert_equal_rows("SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM d.log")
        (count, greatest), = self.replica.query("SELECT COUNT(*), MAX(n) FROM d.log")
        self.assertEqual(count, greatest)
        self.assertGreater(count, 50)
        self.assertRegex(self.replica.query("SELECT @@gtid_executed")[0][0], f"^{UUID}:1-[0-9]+$")

    def test_its_transactions_reach_a_replica_of_the_replica(self):
        self.follow(f"ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS='{UUID}'")
        leaf = Commitd(server_id=3)
        self.addCleanup(leaf.__exit__)
        leaf.start()
        leaf.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={self.replica.port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
        leaf.query("START REPLICA")
        self.at_source("CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO d.t VALUES (1), (2)", "DELETE FROM d.t WHERE id = 1")
        self.wait_for_all()
        executed = self.replica.query("SELECT @@gtid_executed")[0][0]
        wait_until(lambda: leaf.query("SELECT @@gtid_executed")[0][0] == executed, "the leaf has everything")
        self.assertEqual(leaf.query("SELECT id FROM d.t"), ((2,),))

    def refused_with(self, number, *words):
        wait_until(lambda: int(self.status()["Last_IO_Errno"]) == number, f"it is refused: {self.status()}")
        for word in words:
            self.assertIn(word, self.status()["Last_IO_Error"])

    def test_without_somebody_who_gives_gtids_it_is_refused(self):
        self.follow()
        self.refused_with(NO_GTIDS, "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS")

    def test_by_auto_position_it_is_refused(self):
        self.follow(auto_position=1)
        self.refused_with(OTHER_GTIDS, "MariaDB", "SOURCE_AUTO_POSITION = 0")


if __name__ == "__main__":
    unittest.main()
