"""The switches R1 to R4, R8 and R14 to R16: the legacy value does the work that the seed saw, the default does none of it."""

import contextlib
import os
import pathlib
import re
import subprocess
import unittest
import urllib.request
from concurrent import futures

from commitd_process import COMMITD, Commitd, code_of, wait_until
from log_reader import LogReader
from pair import PairTest

WRONG_VALUE = 1231
SEMISYNC = "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'"
LIST_LOCK = "wait/synch/mutex/sql/LOCK_thd_list"
PLUGIN_LOCK, LOG_LOCK = "wait/synch/mutex/sql/LOCK_plugin", "wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_log"
TEST_PLUGINS = pathlib.Path(COMMITD).resolve().parents[1] / "plugins" / "testing"


def waits(server, event):
    return server.query("SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name "
                        f"WHERE EVENT_NAME = '{event}'")[0][0]


def metrics(server):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/metrics", timeout=10) as reply:
        return reply.read().decode()


class RegressionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd("--thread-handling=one-thread-per-connection")
        cls.addClassCleanup(cls.server.__exit__)
        cls.server.start()
        cls.server.query("CREATE DATABASE d")
        cls.server.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)")
        cls.server.query(SEMISYNC)

    def calls(self, hook):
        return int(re.search(rf'commitd_observer_calls_total{{hook="{hook}"}} (\d+)', metrics(self.server)).group(1))

    def moved(self, figure, work):
        before = figure()
        work()
        return figure() - before

    def set(self, variable, value):
        """Until the test ends."""
        self.server.query(f"SET GLOBAL {variable} = '{value}'")
        self.addCleanup(self.server.query, f"SET GLOBAL {variable} = DEFAULT")

    def insert(self, count=10):
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            for _ in range(count):
                cursor.execute("INSERT INTO d.t VALUES ()")

    def read_all(self, semisync=False):
        """A reader of the whole log comes, gets all of it and goes."""
        sent = self.server.metric("commitd_dump_events_sent_total")
        (_, executed), = self.server.query("SELECT 1, @@global.gtid_executed")
        last = int(executed.rsplit("-", 1)[-1])
        with LogReader(self.server, semisync) as reader:
            reader.attach()
            wait_until(lambda: self.server.metric("commitd_dump_events_sent_total") >= sent + 2 * last, "it has got all of it")

    def test_r1_each_call_of_an_observer_takes_the_lock_of_plugins(self):
        locks = lambda: waits(self.server, PLUGIN_LOCK)
        self.assertEqual(self.moved(locks, self.insert), 0)
        calls = lambda: sum(self.calls(hook) for hook in ("after_commit", "after_flush", "after_sync"))
        self.set("commitd_observer_locking", "mutex")
        before = calls()
        taken = self.moved(locks, self.insert)
        self.assertEqual(taken, 2 * (calls() - before + 10), "before_commit too, which semisync does not have")
        self.assertGreaterEqual(taken, 20)
        self.set("commitd_observer_locking", "rwlock")
        shared = lambda: waits(self.server, "wait/synch/rwlock/sql/LOCK_plugin")
        self.assertEqual(self.moved(locks, lambda: self.assertGreaterEqual(self.moved(shared, self.insert), 20)), 0)
        self.assertIn(f'commitd_wait_events_total{{event_name="{PLUGIN_LOCK}"}} {locks()}\n', metrics(self.server))

    def test_r2_readers_that_do_not_acknowledge_call_the_hooks_of_semisync(self):
        self.insert()
        sends = lambda: self.calls("after_send_event")
        sent = lambda: int(self.server.metric("commitd_dump_events_sent_total"))
        self.assertEqual(self.moved(sends, self.read_all), 0)
        before = sent()
        seen = self.moved(sends, lambda: self.read_all(semisync=True))
        self.assertEqual(seen, sent() - before)
        self.set("commitd_observe_every_dump", "ON")
        before = sent()
        seen = self.moved(sends, self.read_all)
        self.assertEqual(seen, sent() - before)

    def test_r3_the_hook_runs_for_every_statement_and_thrice_for_a_definition(self):
        hooks = lambda: self.calls("after_commit")
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            def calls_of(*statements):
                return self.moved(hooks, lambda: [cursor.execute(statement) for statement in statements])
            insert, transaction = "INSERT INTO d.t VALUES ()", ("BEGIN", "INSERT INTO d.t VALUES ()", "INSERT INTO d.t VALUES ()", "COMMIT")
            as_now = (("SELECT 1",), 0), (("SET @a = 1",), 0), ((insert,), 1), (transaction, 1), (("CREATE TABLE d.one (id INT)",), 1)
            as_once = (("SELECT 1",), 1), (("SET @a = 1",), 1), ((insert,), 1), (transaction, 4), (("CREATE TABLE d.two (id INT)",), 3)
            for statements, calls in as_now:
                self.assertEqual(calls_of(*statements), calls, statements)
            self.set("commitd_after_commit_hook", "statements")
            for statements, calls in as_once:
                self.assertEqual(calls_of(*statements), calls, statements)

    def test_r4_readers_and_the_writer_take_the_lock_of_the_log(self):
        self.insert()
        locks = lambda: waits(self.server, LOG_LOCK)
        self.assertEqual(self.moved(locks, lambda: (self.insert(), self.read_all())), 0)
        self.set("commitd_dump_lock", "log_lock")
        self.assertEqual(self.moved(locks, self.insert), 10)
        before = self.server.metric("commitd_dump_events_sent_total")
        read = self.moved(locks, self.read_all)
        self.assertGreaterEqual(read, self.server.metric("commitd_dump_events_sent_total") - before - 3, "once for each event")

    def test_r8_who_disconnects_does_so_under_the_lock_of_the_list(self):
        closed = lambda: self.server.metric("commitd_connections_closed_locked_total")
        self.assertEqual(self.moved(closed, lambda: [self.server.query("SELECT 1") for _ in range(3)]), 0)
        self.set("commitd_close_connection_locked", "ON")
        before, locks = closed(), waits(self.server, LIST_LOCK)
        for _ in range(5):
            self.server.query("SELECT 1")
        wait_until(lambda: closed() - before >= 5, "each has closed under the lock")
        self.assertGreaterEqual(waits(self.server, LIST_LOCK) - locks, 3 * 5, "to come, to close, to go")

    def test_r15_no_group_is_written_while_another_is_not_acknowledged(self):
        groups = lambda: self.server.metric("commitd_commit_groups_total")
        turns = lambda: self.server.metric("commitd_ack_wait_turns_total")
        waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE STATE = 'waiting for handler commit'"
        self.server.query(f"SET GLOBAL rpl_semi_sync_source_timeout = {2 ** 32 - 1}")
        self.addCleanup(self.server.query, "SET GLOBAL rpl_semi_sync_source_timeout = DEFAULT")
        self.set("rpl_semi_sync_source_enabled", "ON")

        def groups_before_an_acknowledgement():
            before = groups()
            with LogReader(self.server, semisync=True) as reader, futures.ThreadPoolExecutor() as pool:
                reader.attach()
                inserts = []
                for number in (1, 2):
                    inserts.append(pool.submit(self.insert, 1))
                    wait_until(lambda: self.server.query(waiting) == ((number,),), "it waits")
                    wait_until(lambda: groups() > before, "the first is written")
                self.server.query("FLUSH BINARY LOGS")  # behind what could be written before it
                written = groups() - before
                self.server.query("SET GLOBAL rpl_semi_sync_source_enabled = OFF")  # nobody waits any more
                for insert in inserts:
                    insert.result()
            self.server.query("SET GLOBAL rpl_semi_sync_source_enabled = ON")
            return written

        self.assertEqual(self.moved(turns, lambda: self.assertEqual(groups_before_an_acknowledgement(), 2)), 0)
        self.set("commitd_ack_wait", "in_commit_stage")
        self.assertEqual(self.moved(turns, lambda: self.assertEqual(groups_before_an_acknowledgement(), 1)), 1)

    def test_the_table_lists_each_switch_with_what_it_is_set_to(self):
        columns = "ID, VARIABLE_NAME, DEFAULT_VALUE, LEGACY_VALUE, CURRENT_VALUE, COUNTERS"
        rows = lambda: self.server.query(f"SELECT {columns} FROM information_schema.commitd_regressions")
        self.assertEqual([row[0] for row in rows()], [f"R{number}" for number in range(1, 17)])
        text, events = metrics(self.server), {name for (name,) in self.server.query(
            "SELECT EVENT_NAME FROM performance_schema.events_waits_summary_global_by_event_name")}
        for number, variable, default, legacy, current, counters in rows():
            self.assertEqual(self.server.query(f"SHOW GLOBAL VARIABLES LIKE '{variable}'"), ((variable, current),), number)
            self.assertEqual(default, current, number)
            self.assertIn(f'commitd_regression_is_on{{id="{number}",variable="{variable}"}} 0', text)
            for counter in filter(None, counters.split(",")):
                self.assertTrue(counter in events if counter.startswith("wait/") else f"\n{counter}" in text, counter)
        self.set("commitd_observer_locking", "rwlock")
        self.assertEqual(rows()[0][4], "rwlock")
        self.assertIn('commitd_regression_is_on{id="R1",variable="commitd_observer_locking"} 1', metrics(self.server))


class RelayLockTest(PairTest):
    def test_r16_the_applier_reads_each_event_under_the_lock_of_the_log(self):
        self.follow()
        self.source.query("CREATE DATABASE d")
        self.source.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)")
        insert = lambda: [self.source.query("INSERT INTO d.t VALUES ()") for _ in range(5)] and self.wait_for_all()
        insert()
        self.assertEqual(waits(self.replica, LOG_LOCK), 0)
        self.replica.query("SET GLOBAL commitd_relay_lock = 'log_lock'")
        insert()
        self.assertGreaterEqual(waits(self.replica, LOG_LOCK), 5 * 4, "the GTID, BEGIN, the table, the rows, the end; and each group's writing")
        self.assertEqual(waits(self.source, LOG_LOCK), 0)


class RefusedTest(unittest.TestCase):
    def test_a_lock_needs_a_thread_for_each_connection(self):
        with Commitd() as server:
            for variable, value in (("commitd_observer_locking", "mutex"), ("commitd_observer_locking", "rwlock"), ("commitd_dump_lock", "log_lock"),
                                    ("commitd_close_connection_locked", "ON")):
                self.assertEqual(code_of(lambda: server.query(f"SET GLOBAL {variable} = '{value}'")), WRONG_VALUE, value)
        refused = subprocess.run([COMMITD, "--validate-config", "--commitd-dump-lock=log_lock"], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("needs --thread-handling=one-thread-per-connection", refused.stderr)


@unittest.skipIf("COMMITD_SANITIZED" in os.environ, "valgrind cannot run what a sanitizer watches")
class UnloadTest(unittest.TestCase):
    """R14."""

    def who_leaks(self, unload):
        """The function that asked for the memory that was lost, as valgrind reports it."""
        done = subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=definite", TEST_PLUGINS / "unload_probe", TEST_PLUGINS, unload],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        caller, = re.findall(r"4,321 bytes in 1 blocks are definitely lost.*\n==\d+== +at .* malloc .*\n==\d+== +by 0x\w+: (.*)", done.stderr)
        return caller

    def test_r14_a_leak_report_names_nothing_in_a_library_that_has_gone(self):
        self.assertTrue(self.who_leaks("OFF").startswith("leak_in_plugin (leaky_plugin.c:"))
        self.assertEqual(self.who_leaks("ON"), "???")


if __name__ == "__main__":
    unittest.main()
