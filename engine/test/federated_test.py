"""Tables on other servers (ENGINE=FEDERATED): a commitd and a MariaDB as the other server, links that stop and break, and what
the other server is told."""

import contextlib
import pathlib
import shutil
import threading
import unittest

import pymysql

from commitd_process import Commitd, wait_until
from differential.servers import MariaDB, Session
from remote_proxy import Proxy

COLUMNS = """id INT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, mi MEDIUMINT, i INT UNSIGNED, b BIGINT, bu BIGINT UNSIGNED,
    de DECIMAL(30,10), f FLOAT, d DOUBLE, c CHAR(10), vc VARCHAR(40), tx TEXT, bi BINARY(4), vb VARBINARY(10), bl BLOB, da DATE,
    tm TIME(3), dt DATETIME(6), ts TIMESTAMP(2) NULL, y YEAR, e ENUM('small','größer'), s SET('a','b','c'), bt BIT(12),
    l1 VARCHAR(20) CHARACTER SET latin1"""
ROWS = """(1, -128, 255, -32768, -8388608, 4294967295, -9223372036854775808, 18446744073709551615,
     -12345678901234567890.0123456789, 16777215, 0.1, 'a  ', 'naïve 😀', 'it''s \\\\ "x"\\n', X'00FF', X'0027FE', X'80818283FF', '1000-01-01',
     '-838:59:59.000', '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.25', 1901, 'größer', 'a,c', b'100000000001', 'é'),
    (2, 127, 0, 32767, 8388607, 0, 9223372036854775807, 0, 0.0000000001, 1.1, 1e300, '', 'it''s \\\\ so', '', '', '', '', '2024-02-29', '00:00:00.5',
     '0001-01-01 00:00:00', '1970-01-02 00:00:00', 2155, 'small', '', b'0', ''),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (4, 0, 1, 0, 0, 1, 0, 1, 99999999999999999999.9999999999, -3.4e38, -2.5e-300, 'x', REPEAT('ü', 40), REPEAT('😀', 1000), X'20202020', X'20', X'00',
     '9999-12-31', '838:59:59', '2024-01-01 12:00:00.000001', '2024-06-30 23:59:59.99', 2024, NULL, 'b', b'111111111111', 'ÿ')"""


def connection_to(port, table="d.t", user="root", password=""):
    return f"CONNECTION='mysql://{user}:{password}@127.0.0.1:{port}/{table.replace('.', '/')}'"


class FederatedTest(unittest.TestCase):
    def server(self, *flags, database=True, **options):
        server = Commitd(*flags, **options)
        self.addCleanup(server.__exit__)
        server.start()
        if database:
            server.query("CREATE DATABASE d")
        return server

    def maria(self):
        if not shutil.which("mariadb-install-db"):
            self.skipTest("there is no MariaDB: make -C engine test-deps")
        server = MariaDB()
        self.addCleanup(server.__exit__)
        server.__enter__()
        self.run_on(server.port, "CREATE DATABASE d")
        return server

    def proxy(self, server):
        proxy = Proxy(server.port)
        self.addCleanup(proxy.close)
        return proxy

    def run_on(self, port, *statements):
        with contextlib.closing(Session(port)) as session:
            for statement in statements:
                outcome = session.run(statement)
                self.assertEqual(outcome.error, 0, f"{statement}: {outcome}")
        return outcome.rows

    def numbers(self, *flags, rows=3):
        """A server, a proxy in front of another with d.t (id, v), and d.f here that is read through the proxy."""
        here, there = self.server(*flags), self.server(server_id=2)
        self.run_on(there.port, "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(200))",
                    "INSERT INTO d.t VALUES " + ", ".join(f"({i}, REPEAT('v', 200))" for i in range(1, rows + 1)))
        proxy = self.proxy(there)
        here.query(f"CREATE TABLE d.f (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=FEDERATED {connection_to(proxy.port)}")
        return here, there, proxy

    def fails(self, server, sql, number):
        with self.assertRaises(pymysql.err.MySQLError) as raised:
            server.query(sql)
        self.assertEqual(raised.exception.args[0], number, raised.exception.args)
        return raised.exception.args[1]

    def in_background(self, connection, sql):
        """Runs a statement; the error's number, or None, is there when the thread has ended."""
        result = []

        def work():
            try:
                with connection.cursor() as cursor:
                    cursor.execute(sql)
                    result.append(None)
            except pymysql.err.MySQLError as error:
                result.append(error.args[0])
        thread = threading.Thread(target=work)
        thread.start()
        return thread, result

    def check_types(self, there, columns, rows):
        here = self.server()
        self.run_on(there.port, "SET time_zone = '+00:00'", f"CREATE TABLE d.t ({columns})", f"INSERT INTO d.t VALUES {rows}",
                    "SET GLOBAL time_zone = '+03:00', GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")  # what it has for others does not matter
        self.run_on(here.port, f"CREATE TABLE d.f ({columns}) ENGINE=FEDERATED {connection_to(there.port)}",
                    f"CREATE TABLE d.local ({columns})", "INSERT INTO d.local SELECT * FROM d.f")
        for zone in ("+00:00", "+05:30"):
            in_zone = f"SET time_zone = '{zone}'"
            expected = self.run_on(there.port, in_zone, "SELECT * FROM d.t ORDER BY id")
            self.assertEqual(len(expected), 4)
            self.assertEqual(self.run_on(here.port, in_zone, "SELECT * FROM d.f ORDER BY id"), expected)
            self.assertEqual(self.run_on(here.port, in_zone, "SELECT * FROM d.local ORDER BY id"), expected)
            for condition in ("vc = 'naïve 😀'", "bu = 18446744073709551615", "dt >= '2024-01-01'", "ts < '2038-01-01'", "vb = X'0027FE'",
                              "f = 16777215", "e = 'größer'", "bt = 2049", "de > 0", "l1 = 'é'", "c IS NULL"):
                wanted = f"SELECT id FROM d.{{}} WHERE {condition} ORDER BY id"
                self.assertEqual(self.run_on(here.port, in_zone, wanted.format("f")),
                                 self.run_on(there.port, in_zone, wanted.format("t")), condition)
            self.assertEqual(self.run_on(here.port, in_zone, "SELECT COUNT(*), SUM(b), MAX(vc) FROM d.f"),
                             self.run_on(there.port, in_zone, "SELECT COUNT(*), SUM(b), MAX(vc) FROM d.t"))
        return here

    def test_every_type_comes_as_it_is_from_commitd(self):
        there = self.server(server_id=2)
        here = self.check_types(there, COLUMNS, ROWS)
        documents = "id INT PRIMARY KEY, j JSON"
        self.run_on(there.port, f"CREATE TABLE d.j ({documents})",
                    """INSERT INTO d.j VALUES (1, '{"a": [1, 2.5, "ü", null]}'), (2, NULL), (3, '"text"')""")
        self.run_on(here.port, f"CREATE TABLE d.j ({documents}) ENGINE=FEDERATED {connection_to(there.port, 'd.j')}")
        self.assertEqual(here.query("SELECT id, j FROM d.j"), there.query("SELECT id, j FROM d.j"))
        self.assertEqual(here.query("SELECT id FROM d.j WHERE j->'$.a[0]' = 1"), ((1,),))

    def test_every_type_comes_as_it_is_from_mariadb(self):
        self.check_types(self.maria(), COLUMNS, ROWS)

    def test_key_columns_of_each_type_are_found(self):
        """The condition that is asked of the other server finds what a scan would."""
        keys = ["i", "bu", "de", "vc", "vb", "da", "tm", "dt", "ts", "y", "l1"]
        columns = COLUMNS + "".join(f", KEY ({key})" for key in keys)
        for there in (self.server(server_id=2), self.maria()):
            here = self.check_types(there, columns, ROWS)
            for key in keys:
                by_key = f"SELECT a.id, b.id FROM d.local a JOIN d.f b ON a.{key} = b.{key} ORDER BY a.id, b.id"
                expected = [(i, i) for i in (1, 2, 4)]
                self.assertEqual([tuple(row) for row in here.query(by_key)], expected, key)

    def test_logins_with_passwords(self):
        for there in (self.server(server_id=2), self.maria()):
            self.run_on(there.port, "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (7)",
                        "CREATE USER 'joe'@'%' IDENTIFIED BY 'secret'", "GRANT SELECT ON d.t TO 'joe'@'%'")
            here = self.server()
            for table, password in (("f", "secret"), ("g", "wrong")):
                here.query(f"CREATE TABLE d.{table} (id INT PRIMARY KEY) ENGINE=FEDERATED {connection_to(there.port, user='joe', password=password)}")
            self.assertEqual(here.query("SELECT id FROM d.f"), ((7,),))
            told = self.fails(here, "SELECT id FROM d.g", 1429)
            self.assertIn("1045", told)
            self.assertNotIn("wrong", told)

    def test_errors_of_the_other_server(self):
        here, there = self.server(), self.server(server_id=2)
        here.query(f"CREATE TABLE d.f (id INT PRIMARY KEY) ENGINE=FEDERATED {connection_to(there.port)}")
        self.assertIn("d.t", self.fails(here, "SELECT * FROM d.f", 1431))
        there.query("CREATE TABLE d.t (other INT)")
        self.assertIn("1054", self.fails(here, "SELECT * FROM d.f", 1430))
        there.kill()
        self.assertIn("2003", self.fails(here, "SELECT * FROM d.f", 1429))
        self.fails(here, "INSERT INTO d.f VALUES (1)", 1036)

    def test_joins_with_tables_here(self):
        here, _, _ = self.numbers(rows=100)
        here.query("CREATE TABLE d.l (id INT PRIMARY KEY)")
        here.query("INSERT INTO d.l VALUES (5), (50), (500)")
        self.assertEqual(here.query("SELECT l.id, LENGTH(f.v) FROM d.l l LEFT JOIN d.f f ON f.id = l.id ORDER BY 1"),
                         ((5, 200), (50, 200), (500, None)))
        self.assertEqual(here.query("SELECT COUNT(*) FROM d.f a JOIN d.f b ON a.v = b.v"), ((10000,),))
        self.assertEqual(here.query("SELECT id FROM d.f WHERE id NOT IN (SELECT id FROM d.l) ORDER BY id DESC LIMIT 2"), ((100,), (99,)))

    def test_a_session_has_one_connection_and_says_when_it_ends(self):
        for mode in ("reactor", "one-thread-per-connection"):
            here, there, proxy = self.numbers(f"--thread-handling={mode}")
            connection = here.connect()
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                self.assertEqual(proxy.connections, 0)
                for _ in range(3):
                    cursor.execute("SELECT COUNT(*) FROM d.f")
            clients = "SELECT COUNT(*) FROM information_schema.processlist"
            self.assertEqual((proxy.connections, proxy.open), (1, 1))
            self.assertEqual(there.query(clients), ((2,),))
            connection.close()
            proxy.wait_for(lambda: proxy.open == 0, "the connection ends with the session")
            self.assertEqual(proxy.quits, 1)
            wait_until(lambda: there.query(clients) == ((1,),), "the other server has ended its session")

    def test_a_killed_or_lost_session_ends_its_connection_too(self):
        here, _, proxy = self.numbers()
        lost, killed = here.connect(), here.connect()
        for connection in (lost, killed):
            with connection.cursor() as cursor:
                cursor.execute("SELECT COUNT(*) FROM d.f")
        lost._force_close()
        here.query(f"KILL {killed.thread_id()}")
        proxy.wait_for(lambda: proxy.open == 0, "both connections end")
        self.assertEqual(proxy.quits, 2)

    def test_a_link_that_breaks_in_the_middle_of_an_answer(self):
        here, _, proxy = self.numbers(rows=1000)
        with contextlib.closing(here.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM d.f")
            proxy.allow(30_000, cut=True)
            with self.assertRaises(pymysql.err.MySQLError) as raised:
                cursor.execute("SELECT * FROM d.f")
            self.assertEqual(raised.exception.args[0], 1430, raised.exception.args)
            self.assertIn("2013", raised.exception.args[1])
            proxy.allow(None)
            cursor.execute("SELECT COUNT(v) FROM d.f")
            self.assertEqual(cursor.fetchall(), ((1000,),))
        self.assertEqual(proxy.connections, 2)

    def test_the_other_server_is_killed_and_comes_back(self):
        here, there, proxy = self.numbers()
        with contextlib.closing(here.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM d.f")
            proxy.allow(0)
            thread, result = self.in_background(connection, "SELECT * FROM d.f")
            proxy.wait_for(lambda: proxy.stalled == 1, "the other server has answered")
            there.kill()
            proxy.allow(0, cut=True)
            thread.join(60)
            self.assertIn(result[0], (1429, 1430))
            there.start()
            proxy.allow(None)
            cursor.execute("SELECT COUNT(*) FROM d.f")
            self.assertEqual(cursor.fetchall(), ((3,),))

    def test_kill_query_ends_the_wait_for_an_answer(self):
        for mode in ("reactor", "one-thread-per-connection"):
            here, _, proxy = self.numbers(f"--thread-handling={mode}", rows=1000)
            here.query("SET GLOBAL net_read_timeout = 3600")
            for used_before in (False, True):
                for let_through in ((0, 30_000) if used_before else (0,)):  # at the head, in the middle; the login when it is new
                    with contextlib.closing(here.connect()) as connection, connection.cursor() as cursor:
                        if used_before:
                            cursor.execute("SELECT COUNT(*) FROM d.f")
                        proxy.allow(let_through)
                        thread, result = self.in_background(connection, "SELECT * FROM d.f")
                        proxy.wait_for(lambda: proxy.stalled == 1, "the other server's answer is held up")
                        self.assertTrue(thread.is_alive())
                        here.query(f"KILL QUERY {connection.thread_id()}")
                        thread.join(60)
                        self.assertEqual(result, [1317])
                        proxy.allow(None)
                        cursor.execute("SELECT COUNT(*) FROM d.f")
                        self.assertEqual(cursor.fetchall(), ((1000,),))

    def test_a_server_that_waits_for_another_still_stops(self):
        here, _, proxy = self.numbers()
        here.query("SET GLOBAL net_read_timeout = 3600")
        connection = here.connect()
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM d.f")
        proxy.allow(0)
        thread, result = self.in_background(connection, "SELECT * FROM d.f")
        proxy.wait_for(lambda: proxy.stalled == 1, "the other server's answer is held up")
        self.assertEqual(here.terminate(), 0)
        thread.join(60)
        self.assertNotEqual(result, [None])

    def test_timeouts(self):
        here, _, proxy = self.numbers("--connect-timeout=2")
        with contextlib.closing(here.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM d.f")
            cursor.execute("SET net_read_timeout = 1")
            proxy.allow(0)
            for number in (1430, 1429):  # the connection that stalled is not used again, and a new one does not come to be
                with self.assertRaises(pymysql.err.MySQLError) as raised:
                    cursor.execute("SELECT * FROM d.f")
                self.assertEqual(raised.exception.args[0], number, raised.exception.args)

    def test_sessions_that_wait_hold_up_nobody(self):
        here, _, proxy = self.numbers("--commitd-reactor-threads=1")
        here.query("SET GLOBAL net_read_timeout = 3600")
        connection = here.connect()
        proxy.allow(0)
        thread, result = self.in_background(connection, "SELECT COUNT(*) FROM d.f")
        proxy.wait_for(lambda: proxy.stalled == 1, "the other server's answer is held up")
        self.assertEqual(here.query("SELECT 1"), ((1,),))
        proxy.allow(None)
        thread.join(60)
        self.assertEqual(result, [None])

    def replica_of(self, source):
        replica = self.server(database=False, server_id=3)
        replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {source.port}, "
                      "SOURCE_USER = 'root', SOURCE_PASSWORD = '', SOURCE_AUTO_POSITION = 1")
        replica.query("START REPLICA")
        return replica

    def catch_up(self, replica, source):
        ((executed,),) = source.query("SELECT @@global.gtid_executed")
        self.assertEqual(replica.query(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)"), ((0,),))

    def test_named_servers_survive_kills_get_to_replicas_and_into_dumps(self):
        password = "hidden-from-logs"
        here, there = self.server("--slow-query-log=ON", "--long-query-time=0"), self.server(server_id=2)
        self.run_on(there.port, "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 10), (2, 20)",
                    f"CREATE USER reader IDENTIFIED BY '{password}'", "GRANT SELECT ON d.* TO reader")
        replica = self.replica_of(here)
        here.query(f"CREATE SERVER gone FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', PASSWORD '{password}')")
        here.query("CREATE SERVER there FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1', DATABASE 'd', USER 'nobody')")
        here.query(f"ALTER SERVER there OPTIONS (USER 'reader', PASSWORD '{password}', PORT {there.port})")
        here.query("DROP SERVER gone")
        here.query("CREATE TABLE d.f (id INT PRIMARY KEY, v INT) ENGINE=FEDERATED CONNECTION='there/t'")
        self.fails(here, "CREATE SERVER There FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h')", 1476)
        servers = (("there", "127.0.0.1", "d", "reader", password, there.port, "", "mysql", ""),)
        rows = ((1, 10), (2, 20))
        self.catch_up(replica, here)
        for server in (here, replica):
            for end in (lambda: None, server.kill, server.terminate):  # from the log, then from the engine
                end()
                if server.process.poll() is not None:
                    server.start()
                self.assertEqual(server.query("SELECT * FROM mysql.servers"), servers)
                self.assertEqual(server.query("SELECT * FROM d.f"), rows)
                self.assertIn("CONNECTION='there/t'", server.query("SHOW CREATE TABLE d.f")[0][1])

        statements = here.client("mariadb-dump", "--system=servers")
        self.assertEqual((statements.returncode, statements.stderr), (0, ""))
        with self.subTest("the statements of a dump make the same"):
            copy = self.server(server_id=4)
            self.assertEqual(copy.client("mariadb", input=statements.stdout).stderr, "")
            self.assertEqual(copy.query("SELECT * FROM mysql.servers"), servers)

        slow = "".join(path.read_text() for path in pathlib.Path(here.datadir).glob("*slow*"))
        self.assertIn("SHOW CREATE TABLE d.f", slow)
        for text in (here.log_text(), replica.log_text(), slow):
            self.assertNotIn(password, text)

    def test_definitions_survive_restarts_and_get_to_replicas(self):
        here, there, proxy = self.numbers()
        replica = self.replica_of(here)
        here.query("RENAME TABLE d.f TO d.g")
        self.catch_up(replica, here)
        definition = here.query("SHOW CREATE TABLE d.g")
        self.assertIn(connection_to(proxy.port), definition[0][1])
        self.assertEqual(replica.query("SHOW CREATE TABLE d.g"), definition)
        self.assertEqual(replica.query("SELECT COUNT(*) FROM d.g"), ((3,),))
        connections = proxy.connections
        for end in (here.terminate, here.kill):
            end()
            here.start()
            self.assertEqual(here.query("SHOW CREATE TABLE d.g"), definition)
            self.assertEqual(proxy.connections, connections)  # recovery asks nobody
            self.assertEqual(here.query("SELECT COUNT(*) FROM d.g"), ((3,),))
            connections += 1
        here.query("DROP TABLE d.g")
        self.assertEqual(there.query("SELECT COUNT(*) FROM d.t"), ((3,),))

    @unittest.skipUnless(shutil.which("mysqldump"), "mysqldump is not installed")
    def test_a_dump_has_the_definition_and_no_rows(self):
        here, _, _ = self.numbers()
        definition = here.query("SHOW CREATE TABLE d.f")
        dump = here.client("mysqldump", "--databases", "d")
        self.assertEqual(dump.returncode, 0, dump.stderr)
        self.assertNotIn("INSERT INTO", dump.stdout)
        here.query("DROP DATABASE d")
        loaded = here.client("mariadb", input=dump.stdout)
        self.assertEqual((loaded.returncode, loaded.stderr), (0, ""))
        self.assertEqual(here.query("SHOW CREATE TABLE d.f"), definition)
        self.assertEqual(here.query("SELECT COUNT(*) FROM d.f"), ((3,),))


if __name__ == "__main__":
    unittest.main()
