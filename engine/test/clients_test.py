"""Unchanged MySQL clients against a real server."""

import contextlib
import signal
import subprocess
import tempfile
import unittest

import pymysql

from commitd_process import Commitd
from preload import SLOW_SENDS, preload


class ClientsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd()
        cls.server.start()
        cls.server.query("CREATE DATABASE shop")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def run_client(self, program, *arguments, **options):
        done = self.server.client(program, *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{program} {arguments}: {done.stdout}")
        return done.stdout

    def test_command_line_client_creates_writes_and_reads(self):
        out = self.run_client("mariadb", "shop", "-t", "-e", """
            CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, price DECIMAL(8,2), added DATETIME);
            INSERT INTO item (name, price, added) VALUES ('bolt', 0.25, '2024-02-29 12:00:00'), ('nut', NULL, NULL);
            UPDATE item SET price = price * 2 WHERE name = 'bolt';
            SELECT * FROM item ORDER BY id;""")
        self.assertIn("| bolt |  0.50 | 2024-02-29 12:00:00 |", out)
        self.assertIn("| nut  |  NULL | NULL", out)

    def test_version_names_the_engine(self):
        version = self.server.query("SELECT VERSION()")[0][0]
        self.assertTrue(version.startswith("8.4.") and version.endswith("-commitd"), version)

    def test_errors_carry_mysqls_numbers(self):
        cases = {
            "SELECT * FROM shop.nowhere": 1146,
            "SELECT nothing": 1054,
            "SELEC 1": 1064,
            "USE nowhere": 1049,
            "CREATE DATABASE shop": 1007,
        }
        for sql, number in cases.items():
            with self.subTest(sql), self.assertRaises(pymysql.MySQLError) as raised:
                self.server.query(sql)
            self.assertEqual(raised.exception.args[0], number, sql)

    def test_duplicate_key_is_refused_and_named(self):
        self.server.query("CREATE TABLE shop.uniq (id INT PRIMARY KEY, code VARCHAR(10), UNIQUE KEY by_code (code))")
        self.server.query("INSERT INTO shop.uniq VALUES (1, 'a')")
        for row, key in (("(1, 'b')", "PRIMARY"), ("(2, 'A')", "by_code")):
            with self.assertRaises(pymysql.IntegrityError) as raised:
                self.server.query(f"INSERT INTO shop.uniq VALUES {row}")
            self.assertEqual(raised.exception.args[0], 1062)
            self.assertIn(key, raised.exception.args[1])
        self.assertEqual(self.server.query("SELECT id, code FROM shop.uniq"), ((1, "a"),))

    def test_rollback_and_savepoint(self):
        self.server.query("CREATE TABLE shop.sp (id INT PRIMARY KEY)")
        with contextlib.closing(self.server.connect(autocommit=False)) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO shop.sp VALUES (1)")
            cursor.execute("SAVEPOINT one")
            cursor.execute("INSERT INTO shop.sp VALUES (2)")
            cursor.execute("ROLLBACK TO SAVEPOINT one")
            cursor.execute("INSERT INTO shop.sp VALUES (3)")
            connection.commit()
            cursor.execute("INSERT INTO shop.sp VALUES (4)")
            connection.rollback()
        self.assertEqual(self.server.query("SELECT id FROM shop.sp ORDER BY id"), ((1,), (3,)))

    def test_a_row_lock_makes_the_second_writer_wait_and_no_update_is_lost(self):
        self.server.query("CREATE TABLE shop.counter (id INT PRIMARY KEY, n INT)")
        self.server.query("INSERT INTO shop.counter VALUES (1, 0)")
        load = "BEGIN; SELECT n FROM shop.counter WHERE id = 1 FOR UPDATE; UPDATE shop.counter SET n = n + 1 WHERE id = 1; COMMIT;" * 50
        clients = [subprocess.Popen(["mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={self.server.port}",
                                     "--user=root", "-e", load], stdout=subprocess.DEVNULL) for _ in range(6)]
        self.assertEqual([client.wait(timeout=120) for client in clients], [0] * 6)
        self.assertEqual(self.server.query("SELECT n FROM shop.counter"), ((300,),))

    def test_every_changed_row_is_counted_once(self):
        def changed():
            return [self.server.metric(f"commitd_rows_{what}_total") for what in ("inserted", "updated", "deleted")]

        self.server.query("CREATE TABLE shop.counted (id INT PRIMARY KEY, n INT)")
        before = changed()
        self.server.query("INSERT INTO shop.counted VALUES (1, 1), (2, 2), (3, 3)")
        self.server.query("UPDATE shop.counted SET n = n + 1 WHERE id > 1")
        self.server.query("DELETE FROM shop.counted WHERE id = 3")
        self.assertEqual([now - then for now, then in zip(changed(), before)], [3, 2, 1])

    def test_mysqladmin(self):
        self.assertIn("mysqld is alive", self.run_client("mysqladmin", "ping"))
        self.assertRegex(self.run_client("mysqladmin", "status"), r"Uptime: \d+ +Threads: \d+ +Questions: [1-9]")
        self.assertRegex(self.run_client("mysqladmin", "extended-status"), r"\| Threads_connected +\| [1-9]")
        self.assertIn("show processlist", self.run_client("mysqladmin", "processlist"))
        variables = self.run_client("mysqladmin", "variables")
        self.assertRegex(variables, rf"\| port +\| {self.server.port} ")
        self.run_client("mysqladmin", "create", "made_by_admin")
        self.assertIn(("made_by_admin",), self.server.query("SHOW DATABASES"))
        self.run_client("mysqladmin", "--force", "drop", "made_by_admin")
        self.assertNotIn(("made_by_admin",), self.server.query("SHOW DATABASES"))

    def test_mysqldump_without_options(self):
        self.run_client("mariadb", "shop", "-e", "CREATE TABLE bare (id INT PRIMARY KEY); INSERT INTO bare VALUES (7)")
        self.assertIn("INSERT INTO `bare` VALUES (7)", self.run_client("mysqldump", "--skip-opt", "--compact", "shop", "bare"))

    def test_mysqladmin_flushes(self):
        files = len(self.server.binlog_files())
        for command in ("flush-hosts", "flush-privileges", "flush-status", "flush-tables", "flush-threads", "reload"):
            with self.subTest(command):
                self.run_client("mysqladmin", command)
        self.assertEqual(len(self.server.binlog_files()), files)
        for command in ("flush-logs", "refresh"):
            self.run_client("mysqladmin", command)
        self.assertEqual(len(self.server.binlog_files()), files + 2)

    def test_mysqladmin_sets_the_password_and_shuts_down(self):
        with Commitd() as server:
            def run(*arguments):
                return server.client("mysqladmin", *arguments)

            done = run("password", "new one")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("Access denied", run("create", "nothing").stderr)
            self.assertEqual(run("--password=new one", "shutdown").stderr, "")
            self.assertEqual(server.process.wait(timeout=60), 0)

    def test_who_asks_for_the_shutdown_is_answered(self):
        with tempfile.TemporaryDirectory() as directory:
            slow = preload(SLOW_SENDS, directory)
            for tls in ("--ssl", "--skip-ssl"):
                with self.subTest(tls), Commitd(wrapper=slow) as server:
                    self.assertEqual(server.client("mysqladmin", tls, "shutdown").stderr, "")
                    self.assertEqual(server.process.wait(timeout=60), 0)

    def slap(self, *arguments, table=None):
        """mysqlslap ends with 0 whatever its queries did: what it says on stderr decides. Seldom glibc ends it for a double free of
        its own ("fasttop"; with 100 threads on a busy machine): then it is run again, on an empty `table`."""
        done = self.server.client("mysqlslap", *arguments)
        if done.returncode == -signal.SIGABRT:
            if table:
                self.server.query(f"TRUNCATE TABLE {table}")
            return self.run_client("mysqlslap", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"mysqlslap {arguments}: {done.stdout}")
        return done.stdout

    # The recipes of the seeds as they stand there but for the number of queries (and where the server is).
    def test_write_load_of_the_contention_report_at_100_clients(self):
        before = self.server.metric("commitd_rows_inserted_total")
        out = self.slap("--concurrency=100", "--iterations=1", "--engine=innodb", "--auto-generate-sql",
                        "--auto-generate-sql-load-type=write", "--number-of-queries=10000")
        self.assertIn("Number of clients running queries: 100", out)
        self.assertGreaterEqual(self.server.metric("commitd_rows_inserted_total") - before, 10000)

    def test_quick_load_of_the_contention_report(self):
        self.assertIn("Average number of queries per client", self.slap("--auto-generate-sql"))

    def test_two_databases_load_of_the_gtid_persister_report(self):
        self.server.query("CREATE DATABASE IF NOT EXISTS test")
        for db in ("db1", "db2"):
            self.server.query(f"CREATE DATABASE {db}")
            self.server.query(f"CREATE TABLE {db}.t1 (a INT)")
            self.slap("--create-schema=test", "--delimiter=;", "--number-of-queries=2000",
                      f"--query=insert into {db}.t1 values(rand() * 1000)", "--concurrency=100", "--silent",
                      table=f"{db}.t1")
            ((rows, low, high),) = self.server.query(f"SELECT COUNT(*), MIN(a), MAX(a) FROM {db}.t1")
            self.assertEqual(rows, 2000)
            self.assertTrue(0 <= low < high <= 1000, (low, high))

    def test_command_line_client_takes_several_statements_and_names(self):
        out = self.run_client("mariadb", "--auto-rehash", "--batch", "information_schema", "-e",
                              "SELECT 1 AS one; SELECT 2 AS two; SHOW TABLES LIKE 'SCHEM%'")
        self.assertEqual(out.splitlines()[:4], ["one", "1", "two", "2"])
        self.assertIn("SCHEMATA", out)
        done = self.server.client("mariadb", "-e", "SELECT nothing; SELECT 'not reached'")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ERROR 1054 (42S22) at line 1: Unknown column 'nothing' in 'field list'", done.stderr)
        self.assertNotIn("not reached", done.stdout)

    def test_persisted_variables_outlive_a_restart(self):
        with Commitd() as server:
            server.query("SET PERSIST lock_wait_timeout = 77")
            server.query("SET PERSIST_ONLY local_infile = ON")
            server.query("SET GLOBAL net_read_timeout = 99")
            server.kill()
            server.start()
            self.assertEqual(server.query("SELECT @@GLOBAL.lock_wait_timeout, @@GLOBAL.local_infile, @@GLOBAL.net_read_timeout"),
                             ((77, 1, 30),))
            self.assertEqual(server.query("SELECT variable_source FROM performance_schema.variables_info "
                                          "WHERE variable_name = 'lock_wait_timeout'"), (("PERSISTED",),))
            server.query("RESET PERSIST")
            server.kill()
            server.start()
            self.assertEqual(server.query("SELECT @@GLOBAL.lock_wait_timeout, @@GLOBAL.local_infile"), ((31536000, 0),))

    def test_a_definition_waits_for_the_tables_readers_as_long_as_lock_wait_timeout_says(self):
        self.server.query("CREATE TABLE shop.read_here (id INT PRIMARY KEY)")
        with contextlib.closing(self.server.connect(autocommit=False)) as reader, reader.cursor() as cursor:
            cursor.execute("SELECT * FROM shop.read_here")
            with contextlib.closing(self.server.connect()) as other, other.cursor() as definition:
                definition.execute("SET lock_wait_timeout = 1")
                with self.assertRaises(pymysql.MySQLError) as raised:
                    definition.execute("ALTER TABLE shop.read_here ADD COLUMN n INT")
                self.assertEqual(raised.exception.args[0], 1205)
                reader.rollback()
                definition.execute("ALTER TABLE shop.read_here ADD COLUMN n INT")
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'read_here'"), ((2,),))

    def test_table_names_and_checks(self):
        self.server.query("CREATE DATABASE listed")
        self.server.query("CREATE TABLE listed.a (id INT PRIMARY KEY, n INT, KEY (n))")
        self.assertIn("| a      |", self.run_client("mysqlshow", "listed"))
        self.assertRegex(self.run_client("mysqlshow", "--keys", "listed", "a"), r"\| n +\| int")
        self.assertRegex(self.run_client("mysqlcheck", "listed"), r"listed\.a +OK")


if __name__ == "__main__":
    unittest.main()
