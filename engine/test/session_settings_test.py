"""What clients SET is done or refused by name, and means the same after a restart and in a dump."""

import contextlib
import pathlib
import unittest

import pymysql

from commitd_process import Commitd

# As ODBC and JDBC drivers, object mappers and dump programs send them.
USUAL = (
    "SET SQL_AUTO_IS_NULL = 0", "SET SQL_AUTO_IS_NULL = 0, sql_big_selects = 1", "SET max_join_size = DEFAULT",
    "SET optimizer_switch = 'index_merge_intersection=off'", "SET SESSION optimizer_switch = 'derived_merge=off,semijoin=default'",
    "SET @old = @@optimizer_switch", "SET optimizer_switch = @old", "SET SQL_QUOTE_SHOW_CREATE = 1", "SET lc_time_names = 'en_US'",
)
REFUSED = {
    "SET sql_auto_is_null = 1": 1231,
    "SET optimizer_switch = 'condition_pushdown_for_derived=off'": 1231,
    "SET lc_time_names = 'de_DE'": 1231,
    "SELECT 1 FROM (SELECT SQL_CALC_FOUND_ROWS 1) x": 1234,
}


class SessionSettingsTest(unittest.TestCase):
    def setUp(self):
        self.server = Commitd()
        self.addCleanup(self.server.__exit__)
        self.server.start()
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (a INT PRIMARY KEY)")
        self.server.query("INSERT INTO d.t VALUES (1), (2), (3)")

    def code_of(self, sql):
        with self.assertRaises(pymysql.MySQLError, msg=sql) as raised:
            self.server.query(sql)
        return raised.exception.args[0]

    def test_what_drivers_set(self):
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            for statement in USUAL:
                with self.subTest(statement):
                    cursor.execute(statement)
        for statement, number in REFUSED.items():
            with self.subTest(statement):
                self.assertEqual(self.code_of(statement), number)

    def test_safe_updates_of_the_command_line_client(self):
        def run(sql):
            done = self.server.client("mariadb", "--safe-updates", "--max-join-size=4", "--skip-column-names", "d", "-e", sql)
            return done.stdout.strip(), done.stderr

        self.assertEqual(run("SELECT COUNT(*) FROM t"), ("3", ""))
        self.assertIn("ERROR 1104 (42000)", run("SELECT COUNT(*) FROM t, t u")[1])
        self.assertEqual(run("SET sql_big_selects = 1; SELECT COUNT(*) FROM t, t u"), ("9", ""))

    def test_what_earlier_versions_persisted_and_ignored_does_not_stop_a_start(self):
        self.server.query("SET PERSIST sql_mode = 'ANSI', PERSIST lc_time_names = 'en_US', PERSIST sql_notes = 0")
        self.server.kill()
        persisted = pathlib.Path(self.server.datadir, "mysqld-auto.cnf")
        mode = "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI"
        before = persisted.read_text()
        self.assertIn(mode, before)
        persisted.write_text(before.replace(mode, "PAD_CHAR_TO_FULL_LENGTH").replace("en_US", "de_DE"))
        self.server.start()
        ((mode, names, notes),) = self.server.query("SELECT @@GLOBAL.sql_mode, @@GLOBAL.lc_time_names, @@GLOBAL.sql_notes")
        self.assertEqual((mode.split(",")[0], names, notes), ("ONLY_FULL_GROUP_BY", "en_US", 0))
        self.assertIn("sql_mode in mysqld-auto.cnf is left out", self.server.log_text())

    def test_a_check_means_what_it_meant(self):
        """Its operators were read by the sql_mode of its session, which neither a restart nor a dump has."""
        with contextlib.closing(self.server.connect(database="d")) as connection, connection.cursor() as cursor:
            cursor.execute("SET sql_mode = 'PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE'")
            cursor.execute("CREATE TABLE c (a VARCHAR(9), b VARCHAR(9), n INT, CHECK (a || b = 'ab'), CHECK (NOT n = 0))")
        dump = self.server.client("mysqldump", "--skip-opt", "d", "c").stdout
        self.server.kill()
        self.server.start()
        self.server.query("CREATE DATABASE copy")
        loaded = self.server.client("mariadb", "copy", input=dump)
        self.assertEqual((loaded.returncode, loaded.stderr), (0, ""))
        for database in ("d", "copy"):
            with self.subTest(database):
                self.server.query(f"INSERT INTO {database}.c VALUES ('a', 'b', 5)")
                self.assertEqual(self.code_of(f"INSERT INTO {database}.c VALUES ('a', 'c', 5)"), 3819)
                self.assertEqual(self.code_of(f"INSERT INTO {database}.c VALUES ('a', 'b', 0)"), 3819)


if __name__ == "__main__":
    unittest.main()
