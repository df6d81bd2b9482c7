"""A MariaDB server follows commitd: by file and position, as it does with any MySQL source, and acknowledges."""

import shutil
import threading
import unittest

import pymysql

from binlog_readers_test import workload
from commitd_process import Commitd, wait_until
from differential.servers import MariaDB, Session

USER, PASSWORD = "replicator", "not-a-secret"
QUERIES = ("SELECT * FROM d.every ORDER BY id", "SELECT * FROM d.keyless ORDER BY a, b", "SELECT * FROM d.numbers WHERE n >= 0 ORDER BY n")


class MariaDBReplicaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("mariadb-install-db"):
            raise unittest.SkipTest("there is no MariaDB: make -C engine test-deps")
        cls.source = cls.enterClassContext(Commitd())
        cls.source.query(f"CREATE USER {USER} IDENTIFIED WITH mysql_native_password BY '{PASSWORD}'")
        cls.source.query(f"GRANT REPLICATION SLAVE ON *.* TO {USER}")
        cls.mariadb = cls.enterClassContext(MariaDB("--server-id=2"))
        cls.replica = Session(cls.mariadb.port)
        cls.addClassCleanup(cls.replica.close)
        cls.on_replica(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={cls.source.port}, MASTER_USER='{USER}', MASTER_PASSWORD='{PASSWORD}', "
                       "MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=no")
        cls.on_replica("START SLAVE")

    @classmethod
    def on_replica(cls, statement):
        outcome = cls.replica.run(statement, want_warnings=False)
        assert not outcome.error, f"{statement}: {outcome}"
        return outcome

    def status(self):
        outcome = self.on_replica("SHOW SLAVE STATUS")
        return {name: value.decode() if value is not None else None for name, value in zip(outcome.names, outcome.rows[0])}

    def wait_for_all(self):
        file, position = self.source.query("SHOW BINARY LOG STATUS")[0][:2]
        outcome = self.on_replica(f"SELECT MASTER_POS_WAIT('{file}', {position}, 60)")
        self.assertNotIn(outcome.rows[0][0], (None, b"-1"), self.status())

    def assert_equal_rows(self):
        source = Session(self.source.port)
        self.addCleanup(source.close)
        for query in QUERIES:
            ours, theirs = source.run(query), self.on_replica(query)
            self.assertFalse(ours.error, ours)
            self.assertGreater(len(ours.rows), 0, query)
            self.assertEqual(ours.rows, theirs.rows, query)

    def test_it_has_what_every_kind_of_event_made(self):
        workload(self.source)
        self.wait_for_all()
        self.assert_equal_rows()
        self.assertEqual(self.status()["Slave_IO_Running"], "Yes")

    def test_its_acknowledgements_are_what_a_commit_waits_for(self):
        self.on_replica("STOP SLAVE")
        self.on_replica("SET GLOBAL rpl_semi_sync_slave_enabled = 1")
        self.addCleanup(self.source.query, "SET GLOBAL rpl_semi_sync_source_enabled = 0")
        self.source.query("SET GLOBAL commitd_semi_sync_on_timeout = 'block'")
        self.source.query("SET GLOBAL rpl_semi_sync_source_enabled = 1")
        writer = threading.Thread(target=self.source.query, args=("CREATE DATABASE acknowledged",))
        writer.start()
        self.addCleanup(writer.join, 60)
        wait_until(lambda: self.semisync("wait_sessions") == "1", "the commit waits")
        self.assertEqual(self.source.query("SHOW DATABASES LIKE 'acknowledged'"), ())
        self.on_replica("START SLAVE")
        wait_until(lambda: self.source.query("SHOW DATABASES LIKE 'acknowledged'"), "it is acknowledged")
        self.assertEqual((self.semisync("clients"), self.semisync("no_tx")), ("1", "0"))
        self.wait_for_all()

    def test_what_counts_in_version_comments_reaches_it(self):
        with self.source.connect() as connection, connection.cursor() as cursor:
            for statement in ("CREATE DATABASE /*!32312 IF NOT EXISTS*/ commented /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin */",
                              "CREATE TABLE commented.a (id INT PRIMARY KEY) /*! ENGINE = innodb */",
                              "/*! CREATE */ TABLE commented.b (id INT /*!80016 NOT NULL */ PRIMARY KEY, r INT /*M!100000 COMMENT 'no' */)",
                              "/*!50001 ALTER TABLE commented.b ADD c INT /* plain */ DEFAULT 5 */",
                              "SET sql_mode = 'ANSI'",
                              'CREATE TABLE commented."c" (id INT PRIMARY KEY, r REAL)',
                              "INSERT INTO commented.b (id, r) VALUES (1, 2)", "INSERT INTO commented.c VALUES (1, 0.1)"):
                cursor.execute(statement)
        self.wait_for_all()
        self.assertEqual(self.status()["Last_SQL_Error"], "")
        source = Session(self.source.port)
        self.addCleanup(source.close)
        for query in ("SELECT * FROM commented.b", "SELECT * FROM commented.c",
                      "SELECT table_name, column_name, data_type, is_nullable, column_comment FROM information_schema.columns "
                      "WHERE table_schema = 'commented' ORDER BY 1, 2",
                      "SELECT schema_name, default_collation_name FROM information_schema.schemata WHERE schema_name = 'commented'"):
            ours, theirs = source.run(query), self.on_replica(query)
            self.assertGreater(len(ours.rows), 0, query)
            self.assertEqual(ours.rows, theirs.rows, query)

    def semisync(self, name):
        return self.source.query(f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_{name}'")[0][1]

    def test_an_account_can_log_in_there_as_well(self):
        self.wait_for_all()
        pymysql.connect(host="127.0.0.1", port=self.mariadb.port, user=USER, password=PASSWORD).close()


if __name__ == "__main__":
    unittest.main()
