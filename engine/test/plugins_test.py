"""Plugins: installing them as in MySQL, what they observe, and that they stay over a restart."""

import contextlib
import pathlib
import unittest
from concurrent import futures

import pymysql

from commitd_process import COMMITD, Commitd, code_of, wait_until
from log_reader import LogReader
from pair import PairTest

EXISTS, CANNOT_OPEN, NO_SUCH_PLUGIN, DENIED, IN_USE, CONFLICT, IN_HOOK, FATAL = 1125, 1126, 1305, 1142, 1883, 4045, 3100, 1236
TEST_PLUGINS = pathlib.Path(COMMITD).resolve().parents[1] / "plugins" / "testing"
WATCH = "INSTALL PLUGIN commit_watch SONAME 'commit_watch.so'"


def seen(server, what):
    return int(server.metric(f"commitd_plugin_commit_watch_{what}_total"))


def shown(server):
    """The plugins that are not built in."""
    return [(name, status, library) for name, status, _, library, _ in server.query("SHOW PLUGINS") if library]


class PluginsTest(unittest.TestCase):
    def started(self, *flags):
        server = Commitd(*flags)
        self.addCleanup(server.__exit__)
        server.start()
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        return server

    def test_a_plugin_sees_what_happens_until_it_is_uninstalled(self):
        server = self.started()
        server.query(WATCH)
        self.assertEqual(shown(server), [("commit_watch", "ACTIVE", "commit_watch.so")])
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            for number in range(3):
                cursor.execute(f"INSERT INTO d.t VALUES ({number})")
            connection.begin()
            cursor.execute("INSERT INTO d.t VALUES (3)")
            connection.rollback()
            cursor.execute("SELECT * FROM d.t")
            cursor.execute("CREATE TABLE d.u (id INT)")
        self.assertEqual((seen(server, "commits"), seen(server, "rollbacks"), seen(server, "groups")), (4, 1, 4))
        with LogReader(server) as reader:
            reader.attach()
            wait_until(lambda: seen(server, "readers") == 1, "the reader is seen")
        self.assertIn("plugin commit_watch: reader 99 has come", server.log_text())
        self.assertEqual(seen(server, "events"), 0, "it does not acknowledge")
        server.query("UNINSTALL PLUGIN commit_watch")
        server.query("INSERT INTO d.t VALUES (4)")
        self.assertEqual(seen(server, "commits"), 4)
        self.assertEqual(shown(server), [])

    def test_what_is_installed_stays_over_a_restart(self):
        server = self.started("--plugin-load-add=rpl_semi_sync_source=semisync_source.so", "--plugin-load-add=absent.so")
        self.assertIn("Couldn't load plugins from 'absent.so'", server.log_text())
        server.query(WATCH)
        self.assertEqual([name for name, _, _ in shown(server)], ["rpl_semi_sync_source", "commit_watch"])
        self.assertEqual(server.query("SELECT * FROM mysql.plugin"), (("commit_watch", "commit_watch.so"),))
        server.kill()
        server.flags = []
        server.start()
        self.assertEqual([name for name, _, _ in shown(server)], ["commit_watch"])
        server.query("INSERT INTO d.t VALUES (1)")
        self.assertEqual(seen(server, "commits"), 1)
        server.query("UNINSTALL PLUGIN commit_watch")
        server.kill()
        server.start()
        self.assertEqual(shown(server), [])

    def test_what_cannot_be_done_is_said_in_mysqls_words(self):
        server = self.started()
        server.query("CREATE USER u")
        self.assertEqual(code_of(lambda: server.query(WATCH, user="u")), DENIED)
        server.query(WATCH)
        for statement, code in ((WATCH, EXISTS), ("INSTALL PLUGIN x SONAME 'absent.so'", CANNOT_OPEN), ("UNINSTALL PLUGIN x", NO_SUCH_PLUGIN),
                                ("INSTALL PLUGIN binlog SONAME 'x.so'", EXISTS), ("UNINSTALL PLUGIN binlog", NO_SUCH_PLUGIN)):
            self.assertEqual(code_of(lambda: server.query(statement)), code, statement)
        self.assertEqual(code_of(lambda: server.query("UNINSTALL PLUGIN commit_watch", user="u")), DENIED)

    def test_libraries_that_are_no_plugins_are_refused_and_the_server_goes_on(self):
        server = self.started(f"--plugin-dir={TEST_PLUGINS}")
        for name, library, code, text in (
                ("x", "../testing/test_plugins.so", 1124, "No paths allowed for shared library"),
                ("x", "no_plugin.so", 1127, "Can't find symbol 'commitd_plugin_declarations' in library"),
                ("x", "test_plugins.so", 1127, "Can't find symbol 'x' in library"),
                ("test_of_another_release", "test_plugins.so", CANNOT_OPEN,
                 "Can't open shared library 'test_plugins.so' (errno: 0 plugin interface version mismatch)"),
                ("test_fails", "test_plugins.so", 1123, "Can't initialize function 'test_fails'; Plugin initialization function failed."),
                ("test_throws", "throwing_plugin.so", 1123, "Can't initialize function 'test_throws'; Plugin initialization function failed.")):
            with self.assertRaises(pymysql.MySQLError) as refused:
                server.query(f"INSTALL PLUGIN {name} SONAME '{library}'")
            self.assertEqual(refused.exception.args, (code, text))
        self.assertEqual(shown(server), [])
        self.assertEqual(server.query("SELECT * FROM mysql.plugin"), ())
        server.query("INSERT INTO d.t VALUES (1)")

    def test_uninstalling_beside_commits_takes_none_with_it(self):
        server = self.started()
        with contextlib.ExitStack() as stack:
            writers = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(4)]
            def write(number):
                with writers[number].cursor() as cursor:
                    for row in range(200):
                        cursor.execute(f"INSERT INTO d.t VALUES ({number * 1000 + row})")
            with futures.ThreadPoolExecutor() as pool:
                running = [pool.submit(write, number) for number in range(4)]
                rounds = 0
                while rounds < 5 or not all(writer.done() for writer in running):
                    server.query(WATCH)
                    before = seen(server, "commits")
                    wait_until(lambda: seen(server, "commits") > before or all(writer.done() for writer in running), "it sees commits")
                    server.query("UNINSTALL PLUGIN commit_watch")
                    rounds += 1
                for writer in running:
                    writer.result()
        self.assertEqual(server.query("SELECT COUNT(*) FROM d.t"), ((800,),))

    def test_a_plugin_refuses_commits_and_readers(self):
        server = self.started(f"--plugin-dir={TEST_PLUGINS}")
        server.query("INSTALL PLUGIN test_refuses_commits SONAME 'test_plugins.so'")
        before = server.query("SELECT @@gtid_executed")
        self.assertEqual(code_of(lambda: server.query("INSERT INTO d.t VALUES (1)")), IN_HOOK)
        self.assertEqual(code_of(lambda: server.query("CREATE TABLE d.u (id INT)")), IN_HOOK)
        self.assertEqual(server.query("SELECT * FROM d.t"), ())
        self.assertEqual(server.query("SELECT @@gtid_executed"), before)
        server.query("UNINSTALL PLUGIN test_refuses_commits")
        server.query("INSERT INTO d.t VALUES (1)")
        server.query("INSTALL PLUGIN test_refuses_readers SONAME 'test_plugins.so'")
        with LogReader(server) as reader, self.assertRaises(pymysql.MySQLError) as refused:
            reader.attach()
        self.assertEqual(refused.exception.args, (FATAL, "run 'transmit_start' hook failed"))


class SemisyncPluginsTest(PairTest):
    def test_mysqls_plugins_are_there_under_either_name_and_stay_while_they_are_in_use(self):
        install, uninstall = "INSTALL PLUGIN {0} SONAME '{1}'", "UNINSTALL PLUGIN {0}"
        for name, library, other, other_library in (
                ("rpl_semi_sync_source", "semisync_source.so", "rpl_semi_sync_master", "semisync_master.so"),
                ("rpl_semi_sync_replica", "semisync_replica.so", "rpl_semi_sync_slave", "semisync_slave.so")):
            self.source.query(install.format(other, other_library))
            self.assertEqual(code_of(lambda: self.source.query(install.format(name, library))), CONFLICT)
            self.source.query(uninstall.format(other))
            self.source.query(install.format(name, library))
        self.source.query("SET GLOBAL rpl_semi_sync_source_enabled = ON")
        self.assertEqual(code_of(lambda: self.source.query("UNINSTALL PLUGIN rpl_semi_sync_source")), IN_USE)
        self.replica.query("INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'")
        self.replica.query(WATCH)
        self.follow()
        self.source.query("CREATE DATABASE d")
        self.wait_for_all()
        self.source.query("SET GLOBAL rpl_semi_sync_source_enabled = OFF")
        self.assertEqual(code_of(lambda: self.source.query("UNINSTALL PLUGIN rpl_semi_sync_source")), IN_USE)
        self.assertEqual(code_of(lambda: self.replica.query("UNINSTALL PLUGIN rpl_semi_sync_replica")), IN_USE)
        self.assertEqual(seen(self.replica, "received"), 1)
        self.replica.query("STOP REPLICA")
        self.replica.query("UNINSTALL PLUGIN rpl_semi_sync_replica")
        wait_until(lambda: code_of(lambda: self.source.query("UNINSTALL PLUGIN rpl_semi_sync_source")) in (None, NO_SUCH_PLUGIN),
                   "the replica has gone")


if __name__ == "__main__":
    unittest.main()
