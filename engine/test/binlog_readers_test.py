"""Programs that are not ours read the log: mariadb-binlog (files, remote, raw, endless) and go-mysql (files, stream, canal)."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import pymysql

from commitd_process import ROOT, Commitd, wait_until

GO_MODULE = pathlib.Path(__file__).parent / "gomysql"

COLUMNS = [
    ("id", "INT PRIMARY KEY"),
    ("tiny", "TINYINT"), ("small", "SMALLINT UNSIGNED"), ("medium", "MEDIUMINT"), ("big", "BIGINT UNSIGNED"),
    ("exact", "DECIMAL(30,10)"), ("simple", "FLOAT"), ("double_", "DOUBLE"),
    ("day", "DATE"), ("clock", "TIME(3)"), ("moment", "DATETIME(6)"), ("stamp", "TIMESTAMP(2) NULL"), ("y", "YEAR"),
    ("fixed", "CHAR(10)"), ("variable", "VARCHAR(300)"), ("latin", "VARCHAR(20) CHARACTER SET latin1"),
    ("raw_fixed", "BINARY(4)"), ("raw", "VARBINARY(50)"), ("body", "TEXT"), ("large", "MEDIUMBLOB"),
    ("choice", "ENUM('red','green','blue')"), ("several", "SET('a','b','c')"),
]
ROWS = [
    "(1, -128, 65535, -8388608, 9223372036854775807, 12345678901234567890.0123456789, 0.5, -2.25, '2024-02-29', '-838:59:59.000',"
    " '9999-12-31 23:59:59.999999', '2030-01-19 03:14:07.50', 2155, 'padded', REPEAT('\u00e4', 300), 'caf\u00e9', 'ab', x'00ff27', REPEAT('t', 60000), REPEAT('b', 20000), 'blue', 'a,c')",
    "(2" + ", NULL" * (len(COLUMNS) - 1) + ")",
    "(3, 0, 0, 0, 0, 0, 0, 0, '1000-01-01', '00:00:00.001', '1000-01-01 00:00:00.000001', '1970-01-01 00:00:01.00', 1901, '', '', '', '', '', '', '', 'red', '')",
]


def workload(server):
    """Every kind of event that the server writes; DDL, a transaction larger than its parts, several files."""
    with contextlib.closing(server.connect(charset="utf8mb4")) as connection, connection.cursor() as cursor:
        run = cursor.execute
        run("CREATE DATABASE d")
        run("USE d")
        run("CREATE TABLE every (" + ", ".join(f"{name} {kind}" for name, kind in COLUMNS) + ")")
        for row in ROWS:
            run("INSERT INTO every VALUES " + row)
        run("UPDATE every SET tiny = 7, body = 'changed', large = NULL WHERE id = 1")
        run("CREATE TABLE keyless (a INT, b VARCHAR(10))")
        run("INSERT INTO keyless VALUES (1, 'x'), (2, 'y')")
        run("UPDATE keyless SET b = 'z' WHERE a = 2")
        run("DELETE FROM keyless WHERE a = 1")
        run("FLUSH BINARY LOGS")
        run("CREATE TABLE numbers (n INT PRIMARY KEY, filler VARCHAR(200))")
        run("BEGIN")
        for start in range(0, 5000, 500):
            run("INSERT INTO numbers VALUES " + ", ".join(f"({n}, '{'f' * 150}')" for n in range(start, start + 500)))
        run("DELETE FROM numbers WHERE n % 2 = 1")
        run("COMMIT")
        run("SET sql_log_bin = 0")
        run("INSERT INTO numbers VALUES (-1, 'not shipped')")
        run("SET sql_log_bin = 1")
        run("ALTER TABLE keyless ADD COLUMN c INT NOT NULL DEFAULT 5")
        run("INSERT INTO keyless VALUES (3, 'w', 6)")
        run("DROP TABLE IF EXISTS gone")
        run("FLUSH BINARY LOGS")
        run("INSERT INTO numbers VALUES (100000, 'last')")
        run("FLUSH BINARY LOGS")


class ReadersTest(unittest.TestCase):
    """A server that has every kind of event in its log."""

    @classmethod
    def setUpClass(cls):
        cls.server = Commitd()
        cls.addClassCleanup(cls.server.__exit__)
        cls.server.start()
        workload(cls.server)

    def go_mysql_program(self):
        program = ROOT / "build" / "test" / "gomysql"
        subprocess.run(["go", "build", "-o", program, "."], cwd=GO_MODULE, check=True)
        return program

    def go_mysql(self, *arguments):
        done = subprocess.run([self.go_mysql_program(), *arguments], capture_output=True, text=True, timeout=180)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def assert_go_mysql_saw_everything(self, seen):
        self.assertEqual(len(seen["tables"]["d.numbers"]), 2501)
        self.assertEqual(seen["tables"]["d.numbers"]["100000"][1], b"last".hex())
        self.assertNotIn("-1", seen["tables"]["d.numbers"])
        self.assertEqual(sorted(seen["tables"]["d.keyless"]), ["2", "3"])
        every = seen["tables"]["d.every"]
        self.assertEqual(sorted(every), ["1", "2", "3"])
        row = dict(zip((name for name, _ in COLUMNS), every["1"]))
        self.assertEqual(row["tiny"], "7")
        self.assertEqual(bytes.fromhex(row["exact"]).decode(), "12345678901234567890.0123456789")
        self.assertEqual(bytes.fromhex(row["moment"]).decode(), "9999-12-31 23:59:59.999999")
        self.assertEqual(bytes.fromhex(row["variable"]).decode(), "\u00e4" * 300)
        self.assertEqual(bytes.fromhex(row["raw"]), b"\x00\xff'")
        self.assertEqual(row["choice"], "3")
        self.assertEqual(row["several"], "5")
        self.assertEqual(set(every["2"][1:]), {None})


class BinlogReadersTest(ReadersTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = cls.server.binlog_files()
        cls.names = [os.path.basename(path) for path in cls.files]
        assert len(cls.files) == 4, cls.files
        cls.executed = cls.server.query("SELECT @@global.gtid_executed")[0][0]

    # --- mariadb-binlog ---

    def mariadb_binlog(self, *arguments):
        done = subprocess.run(["mariadb-binlog", "--no-defaults", *arguments], capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        return done.stdout.decode(errors="replace")

    def remote(self, *arguments):
        return self.mariadb_binlog("--read-from-remote-server", "--host=127.0.0.1", f"--port={self.server.port}", "--user=root", *arguments)

    def assert_has_everything(self, text):
        for statement, count in (("### INSERT INTO `d`.`numbers`", 5001), ("### DELETE FROM `d`.`numbers`", 2500),
                                 ("### UPDATE `d`.`every`", 1), ("### DELETE FROM `d`.`keyless`", 1), ("CREATE TABLE every", 1),
                                 ("ALTER TABLE keyless", 1)):
            self.assertEqual(text.count(statement), count, statement)
        self.assertIn("12345678901234567890.0123456789", text)
        self.assertIn("'2024:02:29'", text)

    def test_mariadb_binlog_decodes_the_files(self):
        text = self.mariadb_binlog("-vv", *self.files)
        self.assert_has_everything(text)
        self.assertNotIn("Unknown event", text)

    def test_mariadb_binlog_decodes_the_log_from_the_server(self):
        text = self.remote("-vv", *self.names)
        self.assert_has_everything(text)
        self.assertNotIn("not shipped", text)

    def test_mariadb_binlog_copies_raw_files_that_decode_to_the_same(self):
        with tempfile.TemporaryDirectory() as copies:
            self.remote("--raw", f"--result-file={copies}/", *self.names)
            text = self.mariadb_binlog("-vv", *(os.path.join(copies, name) for name in self.names))
        self.assert_has_everything(text)

    def test_mariadb_binlog_follows_without_end(self):
        with tempfile.TemporaryDirectory() as copies:
            with self.follower(copies, 77) as follower:
                last = self.names[-1]
                wait_until(lambda: self.copied(copies, last) or follower.poll() is not None, "the last file is copied")
                self.assertIsNone(follower.poll(), "it ended")
                self.server.query("CREATE DATABASE IF NOT EXISTS seen_by_the_follower")
                wait_until(lambda: b"seen_by_the_follower" in self.copied(copies, last) or follower.poll() is not None,
                           "what comes later is copied too")
                self.assertIsNone(follower.poll(), "it ended")

    def test_forty_followers_write_the_same_files(self):
        with tempfile.TemporaryDirectory() as copies, contextlib.ExitStack() as stack:
            directories = [os.path.join(copies, str(number)) for number in range(40)]
            for number, directory in enumerate(directories):
                os.mkdir(directory)
                stack.enter_context(self.follower(directory, 100 + number))
            last, names = self.names[-1], self.names[:-1]
            for directory in directories:
                wait_until(lambda: self.copied(directory, last), f"{directory} follows", progress=lambda: self.size_of_copies(copies))
            shared = self.server.metric("commitd_dump_pages_shared_total")
            self.write_while_they_follow()
            self.server.query("CREATE DATABASE IF NOT EXISTS seen_by_all")
            for directory in directories:
                wait_until(lambda: b"seen_by_all" in self.copied(directory, last), f"{directory} has all of it",
                           progress=lambda: self.size_of_copies(copies))
            for name in [*names, last]:
                self.assertEqual(len({self.copied(directory, name) for directory in directories}), 1, name)
            self.assertGreater(len(self.copied(directories[0], names[0])), 100000)
            text = self.mariadb_binlog("-vv", os.path.join(directories[0], last))
        self.assertGreater(self.server.metric("commitd_dump_pages_shared_total"), shared)
        for statement, count in (("### INSERT INTO `live`.`t`", 120), ("### DELETE FROM `live`.`t`", 10), ("CREATE TABLE t", 1), ("not shipped", 0)):
            self.assertEqual(text.count(statement), count, statement)

    def write_while_they_follow(self):
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            for statement in ("DROP DATABASE IF EXISTS live", "CREATE DATABASE live", "USE live", "CREATE TABLE t (id INT PRIMARY KEY, v LONGBLOB)"):
                cursor.execute(statement)
            for number in range(100):
                cursor.execute("INSERT INTO t VALUES (%s, 'small')", [number])
            cursor.execute("SET sql_log_bin = 0")
            cursor.execute("INSERT INTO t VALUES (-1, 'not shipped')")
            cursor.execute("DELETE FROM t WHERE id = -1")
            cursor.execute("SET sql_log_bin = 1")
            for number in range(100, 120):
                cursor.execute("INSERT INTO t VALUES (%s, REPEAT('large', 40000))", [number])
            cursor.execute("DELETE FROM t WHERE id < 10")

    def size_of_copies(self, copies):
        """It grows as long as anybody copies, however slow that is where forty share the processors."""
        return sum(path.stat().st_size for path in pathlib.Path(copies).rglob("*"))

    def copied(self, directory, name):
        path = pathlib.Path(directory, name)
        return path.read_bytes() if path.exists() else b""

    @contextlib.contextmanager
    def follower(self, copies, server_id):
        command = ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "--host=127.0.0.1", f"--port={self.server.port}",
                   "--user=root", "--raw", "--stop-never", f"--stop-never-slave-server-id={server_id}", f"--result-file={copies}/", self.names[0]]
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def test_what_mariadb_binlog_prints_makes_the_same_tables_elsewhere(self):
        printed = subprocess.run(["mariadb-binlog", "--no-defaults", *self.files], capture_output=True, check=True, timeout=120).stdout
        with Commitd(server_id=2) as other:
            self.assert_runs(other, printed)
            self.server.query("DELETE FROM d.numbers WHERE n = -1")  # was not logged for others
            for table, order in (("every", "id"), ("keyless", "a"), ("numbers", "n")):
                query = f"SELECT * FROM d.{table} ORDER BY {order}"
                self.assertEqual(other.query(query), self.server.query(query), table)
                definition = f"SHOW CREATE TABLE d.{table}"
                self.assertEqual(other.query(definition), self.server.query(definition), table)
            again = self.mariadb_binlog("-vv", *other.binlog_files())
        self.assert_has_everything(again)

    def assert_runs(self, server, statements):
        done = subprocess.run(["mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={server.port}", "--user=root"],
                              input=statements, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_binlog_statements_that_cannot_be_executed_are_refused_and_change_nothing(self):
        printed = subprocess.run(["mariadb-binlog", "--no-defaults", *self.files], capture_output=True, check=True, timeout=120).stdout.decode(errors="replace")
        events = [part.split("'")[0] for part in printed.split("BINLOG '")[1:]]
        description, rows = events[0], next(part for part in events[1:] if len(part) > 400)
        damaged = rows[:41] + ("A" if rows[41] != "A" else "B") + rows[42:]
        with Commitd() as other, contextlib.closing(other.connect()) as connection, connection.cursor() as cursor:
            for statement, number in ((f"BINLOG '{rows}'", 1609), ("BINLOG '*'", 1610), ("BINLOG 'AAAA'", 1149)):
                with self.assertRaises(pymysql.MySQLError) as raised:
                    cursor.execute(statement)
                self.assertEqual(raised.exception.args[0], number, statement[:40])
            cursor.execute(f"BINLOG '{description}'")
            for statement, number in ((f"BINLOG '{damaged}'", 1149), (f"BINLOG '{rows}'", 1049)):
                with self.assertRaises(pymysql.MySQLError) as raised:
                    cursor.execute(statement)
                self.assertEqual(raised.exception.args[0], number, statement[:40])

    def test_only_mariadb_binlog_is_told_mariadbs_version_prefix(self):
        for attributes, prefixed in (({"program_name": "mysqlbinlog", "_client_name": "libmariadb"}, True),
                                     ({"program_name": "mysqlbinlog", "_client_name": "libmysql"}, False),
                                     ({"program_name": "mysql", "_client_name": "libmariadb"}, False)):
            with contextlib.closing(self.connect_as(attributes)) as connection, connection.cursor() as cursor:
                cursor.execute("SELECT VERSION()")
                version = cursor.fetchone()[0]
            self.assertEqual(version.startswith("5.5.5-8.4."), prefixed, (attributes, version))
            self.assertEqual(version.startswith("8.4."), not prefixed, (attributes, version))

    def connect_as(self, attributes):
        connection = self.server.connect(defer_connect=True)
        connection._connect_attrs = attributes
        connection.connect()
        return connection

    # --- go-mysql ---

    def test_go_mysql_parses_the_files(self):
        # Behind the end of the file that is written stands an event without a checksum, the zeros written ahead.
        seen = self.go_mysql("-files=" + ",".join(self.files[:-1]))
        self.assert_go_mysql_saw_everything(seen)

    def test_go_mysql_follows_the_stream(self):
        seen = self.go_mysql(f"-port={self.server.port}", "-until=" + self.executed)
        self.assert_go_mysql_saw_everything(seen)


class CanalTest(ReadersTest):
    """Catching up flushes the log, so it has a server of its own."""

    def test_canal_follows_the_log(self):
        self.assert_go_mysql_saw_everything(self.go_mysql(f"-port={self.server.port}", "-canal"))

    def test_canal_begins_with_what_mysqldump_prints(self):
        seen = self.go_mysql(f"-port={self.server.port}", "-canal", "-dump=mysqldump")
        self.assertEqual(seen["events"]["dumped"], 2502 + 2 + 3)
        self.assertEqual(len(seen["tables"]["d.numbers"]), 2502)  # the one that is not shipped, too
        self.assertEqual(seen["tables"]["d.keyless"]["3"][2], "6")


class SemisyncSyncerTest(ReadersTest):
    def status(self, name):
        return self.server.query(f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_{name}'")[0][1]

    def test_go_mysql_acknowledges_what_a_commit_waits_for(self):
        executed = self.server.query("SELECT @@global.gtid_executed")[0][0]
        uuid, last = executed.split(":1-")
        self.server.query("SET GLOBAL commitd_semi_sync_on_timeout = block")
        self.server.query("SET GLOBAL rpl_semi_sync_source_enabled = ON")
        awaited = 3
        syncer = subprocess.Popen([self.go_mysql_program(), f"-port={self.server.port}", "-semisync", f"-until={uuid}:1-{int(last) + awaited + 1}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(syncer.kill)
        wait_until(lambda: self.status("clients") == "1" or syncer.poll() is not None, "it has come")
        for number in range(awaited):  # each would wait for ever
            self.server.query(f"INSERT INTO d.numbers VALUES ({200000 + number}, 'acknowledged')")
        self.assertEqual((self.status("yes_tx"), self.status("no_tx")), (str(awaited), "0"))
        self.server.query("SET GLOBAL rpl_semi_sync_source_enabled = OFF")
        self.server.query("INSERT INTO d.numbers VALUES (300000, 'for the end')")
        output, errors = syncer.communicate(timeout=180)
        self.assertEqual((syncer.returncode, errors), (0, ""))
        self.assertIn("200002", json.loads(output)["tables"]["d.numbers"])


if __name__ == "__main__":
    unittest.main()
