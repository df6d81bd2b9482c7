"""A small memory budget, slow readers, too much of anything: one client gets MySQL's error, the server goes on."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import pymysql

from commitd_process import COMMITD, Commitd, free_port, wait_until
from process_memory import assert_memory_below, resident_bytes
from raw_client import RawClient, error_number

MEBIBYTE = 1024 * 1024
BUDGET = 64 * MEBIBYTE


class MemoryBudgetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd("--commitd-memory-budget=64M", "--commitd-block-cache-size=8M",
                             "--commitd-write-buffer-size=4M", "--max-allowed-packet=16M")
        cls.server.start()
        cls.server.query("CREATE DATABASE d")
        cls.server.query("CREATE TABLE d.big (id INT PRIMARY KEY AUTO_INCREMENT, pad LONGTEXT)")
        with contextlib.closing(cls.server.connect(database="d")) as connection, connection.cursor() as cursor:
            for _ in range(80):
                cursor.execute("INSERT INTO big (pad) VALUES (REPEAT('x', 1048576))")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def reserved(self):
        return self.server.metric("commitd_memory_reserved_bytes")

    def refused(self, number, sql, connection):
        with self.assertRaises(pymysql.MySQLError) as raised, connection.cursor() as cursor:
            cursor.execute(sql)
        self.assertEqual(raised.exception.args[0], number, raised.exception)

    def setUp(self):
        self.at_rest = self.reserved()

    def tearDown(self):
        wait_until(lambda: self.reserved() == self.at_rest, "what was reserved is given back")
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.big")[0][0], 80)

    def test_the_budget_is_shown(self):
        self.assertEqual(int(self.server.query("SELECT @@commitd_memory_budget")[0][0]), BUDGET)
        self.assertEqual(self.server.metric("commitd_memory_budget_bytes"), BUDGET)

    def test_a_transaction_beyond_it_is_1197_and_can_only_be_rolled_back_to_nothing(self):
        """Rows' values go to temporary files; their keys, and what undoes the changes, do not."""
        self.server.query("CREATE TABLE d.many (n INT, KEY (n))")
        rows = ",".join(f"({n})" for n in range(2000))
        with contextlib.closing(self.server.connect(database="d", autocommit=False)) as connection:
            with self.assertRaises(pymysql.MySQLError) as raised, connection.cursor() as cursor:
                for _ in range(200):
                    cursor.execute("INSERT INTO many VALUES " + rows)
            self.assertEqual(raised.exception.args[0], 1197)
            self.assertIn("commitd_memory_budget", raised.exception.args[1])
            # Another client's small transaction still has room.
            self.server.query("CREATE TABLE d.small (id INT PRIMARY KEY)")
            self.server.query("INSERT INTO d.small VALUES (1)")
            connection.rollback()
            with connection.cursor() as cursor:
                cursor.execute("INSERT INTO small VALUES (2)")
            connection.commit()
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.small")[0][0], 2)
        self.assertEqual(self.server.query("SELECT COUNT(*) FROM d.many")[0][0], 0)

    def test_sorts_groups_and_changes_beyond_it_are_1038(self):
        with contextlib.closing(self.server.connect(database="d")) as connection:
            for sql in ("SELECT pad FROM big ORDER BY pad DESC", "SELECT COUNT(*) FROM big GROUP BY pad, id",
                        "SELECT DISTINCT CONCAT(id, pad) FROM big", "UPDATE big SET pad = 'z'", "DELETE FROM big",
                        "SELECT * FROM (SELECT * FROM big) AS everything"):
                with self.subTest(sql):
                    self.refused(1038, sql, connection)
            with connection.cursor() as cursor:  # what fits is done
                cursor.execute("SELECT LENGTH(pad) FROM big ORDER BY 1")
                self.assertEqual(cursor.fetchall(), ((MEBIBYTE,),) * 80)

    def test_packets_of_many_clients_beyond_it_are_1041(self):
        size = 12 * MEBIBYTE
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(RawClient(self.server.port)) for _ in range(10)]
            for client in clients:
                client.log_in()
            refusals = []

            def send_most(client):
                # All but the last byte, so that they are all held at once.
                with contextlib.suppress(OSError):
                    client.socket.sendall(size.to_bytes(3, "little") + b"\0" + b"\x03" + b" " * (size - 2))
                    client.socket.settimeout(3)
                    refusals.append(error_number(client.receive()))

            senders = [threading.Thread(target=send_most, args=(client,)) for client in clients]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
        # All of them, where all grow at the same pace: how many fit is the scheduler's affair, and that the server goes on is the next query's.
        self.assertEqual(set(refusals), {1041})
        self.assertEqual(self.server.query("SELECT 1"), ((1,),))

    def test_readers_that_do_not_read_hold_no_more_than_a_buffer_and_are_cut_off(self):
        resident = resident_bytes(self.server)
        with contextlib.ExitStack() as stack:
            readers = [stack.enter_context(RawClient(self.server.port)) for _ in range(10)]
            for reader in readers:
                reader.log_in()
                reader.query("SET net_write_timeout = 2")
                reader.send(0, b"\x03SELECT pad FROM d.big")  # 80 MiB for each
            time.sleep(0.5)
            assert_memory_below(self, resident_bytes(self.server) - resident, 100 << 20)
            count = lambda: int(self.server.query("SHOW STATUS LIKE 'Threads_connected'")[0][1])
            wait_until(lambda: count() == 1, "net_write_timeout ends them")


class SmallLimitsTest(unittest.TestCase):
    def test_connections_beyond_the_limit_are_1040_but_not_on_the_admin_port(self):
        admin = free_port()
        with Commitd("--max-connections=2", f"--admin-port={admin}") as server:
            with contextlib.ExitStack() as stack:
                first, _ = (stack.enter_context(contextlib.closing(server.connect())) for _ in range(2))
                with self.assertRaises(pymysql.MySQLError) as raised:
                    server.connect()
                self.assertEqual(raised.exception.args[0], 1040)
                with contextlib.closing(pymysql.connect(host="127.0.0.1", port=admin, user="root")) as connection:
                    with connection.cursor() as cursor:
                        cursor.execute("SET GLOBAL max_connections = 10, GLOBAL max_user_connections = 4")

                def connected():
                    with first.cursor() as cursor:
                        cursor.execute("SHOW STATUS LIKE 'Threads_connected'")
                        return cursor.fetchone()[1]
                wait_until(lambda: connected() == "2", "the one on the admin port is gone")
                stack.enter_context(contextlib.closing(server.connect()))
                stack.enter_context(contextlib.closing(server.connect()))
                with self.assertRaises(pymysql.MySQLError) as raised:
                    server.connect()
                self.assertEqual(raised.exception.args[0], 1203)

    def test_wait_timeout_and_interactive_timeout(self):
        with Commitd() as server, contextlib.ExitStack() as stack:
            server.query("SET GLOBAL interactive_timeout = 1")
            interactive = pymysql.constants.CLIENT.INTERACTIVE
            patient = stack.enter_context(contextlib.closing(server.connect()))
            hasty = server.connect(client_flag=interactive)
            with hasty.cursor() as cursor:
                cursor.execute("SELECT @@wait_timeout")
                self.assertEqual(cursor.fetchall(), ((1,),))
            wait_until(lambda: server.query("SHOW STATUS LIKE 'Threads_connected'")[0][1] == "2", "one is gone")
            with self.assertRaises(pymysql.MySQLError) as raised:
                hasty.ping(reconnect=False)
            self.assertIn(raised.exception.args[0], (4031, 2013))
            patient.ping(reconnect=False)

    def test_prepared_statements_beyond_the_limit_are_1461(self):
        with Commitd("--max-prepared-stmt-count=3") as server:
            with RawClient(server.port) as client:
                client.log_in()
                for number in range(4):
                    answer = client.command(22, b"DO 1")
                    self.assertEqual(error_number(answer), 1461 if number == 3 else 0)
            with RawClient(server.port) as client:  # those of a session end with it
                client.log_in()
                wait_until(lambda: error_number(client.command(22, b"DO 1")) == 0, "room again")

    def test_max_allowed_packet_is_global_and_live(self):
        with Commitd() as server, contextlib.closing(server.connect()) as before:
            server.query("SET GLOBAL max_allowed_packet = 65536")
            with before.cursor() as cursor:
                cursor.execute("SELECT LENGTH('%s')" % ("x" * 100_000))  # this session's is the old one
                with self.assertRaises(pymysql.MySQLError) as raised:
                    cursor.execute("SET SESSION max_allowed_packet = 1048576")
                self.assertEqual(raised.exception.args[0], 1621)
            with self.assertRaises(pymysql.MySQLError) as raised:
                server.query("SELECT LENGTH('%s')" % ("x" * 100_000))
            self.assertIn(raised.exception.args[0], (1153, 2013, 2006))


class StartAndStopTest(unittest.TestCase):
    def run_commitd(self, *arguments):
        environment = dict(os.environ, MYSQL_ALLOW_EMPTY_PASSWORD="yes")
        return subprocess.run([COMMITD, *arguments], capture_output=True, text=True, timeout=60, env=environment)

    def test_a_second_server_on_the_datadir_is_refused(self):
        with Commitd() as server:
            done = self.run_commitd(f"--datadir={server.datadir}", "--port=0", "--http-port=0", "--admin-port=0")
            self.assertEqual(done.returncode, 1)
            self.assertIn("Another server is running", done.stderr)
            self.assertEqual(server.query("SELECT 1"), ((1,),))

    def test_an_unknown_option_names_the_nearest_and_a_loose_one_only_warns(self):
        with tempfile.TemporaryDirectory() as directory:
            done = self.run_commitd(f"--datadir={directory}/data", "--max-conections=3")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("did you mean '--max-connections'?", done.stderr)
            self.assertFalse(pathlib.Path(directory, "data").exists())
        with Commitd("--loose-max-conections=3") as server:
            self.assertIn("max-conections", server.log_text())

    def test_log_error_verbosity_is_live(self):
        with Commitd("--log-error-verbosity=1") as server:
            self.assertNotIn("level=info", server.log_text())
            server.query("SET GLOBAL log_error_verbosity = 3")
            self.assertEqual(server.query("SELECT @@log_error_verbosity"), ((3,),))
            self.assertEqual(server.terminate(), 0)
            self.assertIn("level=info", server.log_text())

    def test_option_files_set_options_and_variables(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "server.cnf")
            file.write_text("[mysqld]\nmax_connections = 77\nskip-session_track_schema\nnet_read_timeout=5 # seconds\n")
            with Commitd() as server:
                server.kill()
                server.wrapper = []
                command = server.command
                server.command = lambda: [command()[0], f"--defaults-file={file}"] + command()[1:]
                server.start()
                self.assertEqual(server.query("SELECT @@max_connections, @@session_track_schema, @@net_read_timeout"),
                                 ((77, 0, 5),))

    def test_sigterm_ends_it_in_time_whatever_clients_do(self):
        with Commitd() as server, contextlib.ExitStack() as stack:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY, pad LONGTEXT)")
            server.query("INSERT INTO d.t VALUES (1, REPEAT('x', 8000000))")
            for _ in range(100):
                stack.enter_context(RawClient(server.port)).log_in()
            stack.enter_context(RawClient(server.port))  # never logs in
            deaf = stack.enter_context(RawClient(server.port))
            deaf.log_in()
            deaf.send(0, b"\x03SELECT pad, pad, pad FROM d.t")
            open_transaction = stack.enter_context(contextlib.closing(server.connect(autocommit=False)))
            with open_transaction.cursor() as cursor:
                cursor.execute("INSERT INTO d.t VALUES (2, '')")
            started = time.monotonic()
            self.assertEqual(server.terminate(), 0)
            self.assertLess(time.monotonic() - started, 10)  # what sessions are given: none of them takes it
            server.start()
            self.assertEqual(server.query("SELECT id FROM d.t"), ((1,),))


if __name__ == "__main__":
    unittest.main()
