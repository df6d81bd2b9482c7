"""Unchanged MySQL clients against a real server."""

import contextlib
import subprocess
import unittest

import pymysql

from commitd_process import Commitd


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
        self.assertIn("alive", self.run_client("mariadb-admin", "ping"))
        self.run_client("mariadb-admin", "extended-status")

    def test_write_load_of_the_contention_report_at_100_clients(self):
        before = self.server.metric("commitd_rows_inserted_total")
        out = self.run_client("mariadb-slap", "--concurrency=100", "--iterations=1", "--engine=innodb", "--auto-generate-sql",
                              "--auto-generate-sql-load-type=write", "--number-of-queries=20000")
        self.assertIn("Number of clients running queries: 100", out)
        self.assertGreaterEqual(self.server.metric("commitd_rows_inserted_total") - before, 20000)


if __name__ == "__main__":
    unittest.main()
