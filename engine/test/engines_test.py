"""Storage engines beside the default one, on real processes: what the log says of them, replicas, restarts and kill -9."""

import contextlib
import unittest

import pymysql

from commitd_process import Commitd, wait_until


def events(server):
    """(type, info) of every event that says what was done, over all files."""
    found = []
    for file, *_ in server.query("SHOW BINARY LOGS"):
        for _, _, kind, _, _, info in server.query(f"SHOW BINLOG EVENTS IN '{file}'"):
            found.append((kind, info))
    return found


def last_statements(server, count):
    """What the last transactions did, in the log's order: tables of row changes, texts of statements."""
    done = []
    for kind, info in events(server):
        if kind == "Table_map":
            done.append(info.split("(", 1)[1].split(")")[0])
        elif kind == "Query" and not info.endswith(("BEGIN", "COMMIT")):
            done.append(info.split("; ", 1)[-1])
    return done[-count:]


def rows(server, table):
    return [row[0] for row in server.query(f"SELECT id FROM {table} ORDER BY id")]


class MemoryEngineTest(unittest.TestCase):
    def server(self, *flags, server_id=1):
        server = Commitd(*flags, server_id=server_id)
        self.addCleanup(server.__exit__)
        server.start()
        return server

    def with_tables(self, *flags):
        server = self.server(*flags)
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.m (id INT PRIMARY KEY, v INT, KEY (v)) ENGINE=MEMORY")
        server.query("CREATE TABLE d.r (id INT PRIMARY KEY)")
        return server

    def replica_of(self, server):
        replica = self.server(server_id=2)
        self.follow(replica, server)
        return replica

    def follow(self, replica, server):
        replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {server.port}, "
                      "SOURCE_USER = 'root', SOURCE_PASSWORD = '', SOURCE_AUTO_POSITION = 1")
        replica.query("START REPLICA")

    def caught_up(self, replica, server):
        ((executed,),) = server.query("SELECT @@global.gtid_executed")
        self.assertEqual(replica.query(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)"), ((0,),))

    def test_a_statement_is_a_transaction_of_its_own_before_the_one_around_it(self):
        server = self.with_tables()
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("INSERT INTO d.r VALUES (1)")
            cursor.execute("INSERT INTO d.m VALUES (1, 1)")
            self.assertEqual(rows(server, "d.m"), [1])
            self.assertEqual(rows(server, "d.r"), [])
            cursor.execute("INSERT INTO d.r VALUES (2)")
            cursor.execute("COMMIT")
        self.assertEqual(last_statements(server, 3), ["d.m", "d.r", "d.r"])
        kinds = [kind if kind != "Query" else info.split("; ")[-1] for kind, info in events(server)]
        log = [kind for kind in kinds if kind in ("Gtid", "Xid", "BEGIN", "COMMIT", "Table_map", "Write_rows")]
        self.assertEqual(log[-12:], ["Gtid", "BEGIN", "Table_map", "Write_rows", "Xid",
                                     "Gtid", "BEGIN", "Table_map", "Write_rows", "Table_map", "Write_rows", "Xid"])

    def test_a_rollback_leaves_its_changes_in_the_log_and_warns(self):
        server = self.with_tables()
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("INSERT INTO d.r VALUES (1)")
            cursor.execute("INSERT INTO d.m VALUES (1, 1)")
            cursor.execute("ROLLBACK")
            cursor.execute("SHOW WARNINGS")
            self.assertEqual([warning[1] for warning in cursor.fetchall()], [1196])
        self.assertEqual(last_statements(server, 1), ["d.m"])
        self.assertEqual((rows(server, "d.m"), rows(server, "d.r")), ([1], []))

    def restarted_empty(self, server, *replicas):
        """After a restart the first use logs that the table is empty, once."""
        server.start()
        self.assertEqual(rows(server, "d.r"), [7])
        self.assertEqual(rows(server, "d.m"), [])
        self.assertIn("TRUNCATE TABLE `d`.`m`", last_statements(server, 1)[0])
        server.query("INSERT INTO d.m VALUES (9, 9)")
        self.assertEqual(rows(server, "d.m"), [9])
        self.assertEqual(last_statements(server, 1), ["d.m"])

    def test_tables_are_empty_after_kill_and_after_a_clean_end(self):
        for mode in ("single_log", "xa"):
            for end in ("kill", "terminate"):
                with self.subTest(mode=mode, end=end):
                    server = self.with_tables(f"--commitd-durability={mode}")
                    for number in range(20):
                        server.query(f"INSERT INTO d.m VALUES ({number}, 1)")
                    server.query("UPDATE d.m SET v = 2 WHERE id < 5")
                    server.query("DELETE FROM d.m WHERE id = 3")
                    server.query("INSERT INTO d.r VALUES (7)")
                    getattr(server, end)()
                    self.restarted_empty(server)

    def test_replicas_follow_and_agree_after_the_sources_restart(self):
        server = self.with_tables()
        replica = self.replica_of(server)
        server.query("INSERT INTO d.m VALUES (1, 10), (2, 20), (3, 30)")
        server.query("UPDATE d.m SET v = 25 WHERE id = 2")
        server.query("DELETE FROM d.m WHERE id = 1")
        server.query("INSERT INTO d.r VALUES (7)")
        self.caught_up(replica, server)
        self.assertEqual(replica.query("SELECT * FROM d.m WHERE v > 0 ORDER BY v"), ((2, 25), (3, 30)))
        server.kill()
        self.restarted_empty(server)
        self.caught_up(replica, server)
        self.assertEqual(rows(replica, "d.m"), [9])

    def test_a_restarted_replica_goes_on_without_the_rows_it_lost(self):
        server = self.with_tables()
        server.query("CREATE TABLE d.w (id INT, KEY (id)) ENGINE=MEMORY")
        replica = self.replica_of(server)
        server.query("INSERT INTO d.m VALUES (1, 10), (2, 20)")
        server.query("INSERT INTO d.w VALUES (1), (2)")
        self.caught_up(replica, server)
        replica.kill()
        for image in ("FULL", "MINIMAL"):
            with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
                cursor.execute(f"SET binlog_row_image = {image}")
                cursor.execute("UPDATE d.m SET v = v + 1 WHERE id = 1")
                cursor.execute("UPDATE d.w SET id = id + 100 WHERE id = 1")
        server.query("INSERT INTO d.m VALUES (3, 30)")
        server.query("INSERT INTO d.w VALUES (3)")
        server.query("DELETE FROM d.m WHERE id = 2")
        server.query("DELETE FROM d.w WHERE id = 3")
        replica.start()
        self.caught_up(replica, server)
        # Reading them here logs nothing: the log has one writer.
        self.assertEqual(replica.query("SELECT * FROM d.m"), ((3, 30),))
        self.assertEqual(replica.query("SELECT * FROM d.m WHERE v > 0"), ((3, 30),))
        self.assertEqual(rows(replica, "d.w"), [])
        server.query("TRUNCATE TABLE d.m")
        server.query("INSERT INTO d.m VALUES (4, 40)")
        self.caught_up(replica, server)
        self.assertEqual(replica.query("SELECT * FROM d.m"), server.query("SELECT * FROM d.m"))

    def test_rows_that_an_alter_made_durable_survive_a_crash_and_reach_replicas(self):
        server = self.with_tables()
        replica = self.replica_of(server)
        server.query("INSERT INTO d.m VALUES (1, 10), (2, 20)")
        self.caught_up(replica, server)
        replica.kill()
        server.query("ALTER TABLE d.m ENGINE=InnoDB")
        server.kill()
        server.start()
        self.assertEqual(server.query("SELECT * FROM d.m ORDER BY v"), ((1, 10), (2, 20)))
        replica.start()
        self.caught_up(replica, server)
        self.assertEqual(replica.query("SELECT * FROM d.m ORDER BY v"), ((1, 10), (2, 20)))
        statements = last_statements(server, 3)
        self.assertIn("TRUNCATE", statements[0])
        self.assertIn("ALTER TABLE", statements[1])
        self.assertEqual(statements[2], "d.m")

    def test_the_sessions_default_engine_holds_for_replicas_and_recovery(self):
        server = self.with_tables()
        replica = self.replica_of(server)
        done = server.client("mariadb-slap", "--engine=memory", "--concurrency=2", "--iterations=1", "--no-drop", "--auto-generate-sql",
                             "--auto-generate-sql-load-type=write", "--number-of-queries=100", "--create-schema=slap")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.caught_up(replica, server)
        server.kill()
        server.start()
        for each in (server, replica):
            self.assertEqual(each.query("SELECT engine FROM information_schema.tables WHERE table_schema = 'slap'"), (("MEMORY",),))

    def test_gtid_next_names_what_is_committed_first(self):
        server = self.with_tables()
        gtid = "11111111-2222-3333-4444-555555555555:7"
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(f"SET gtid_next = '{gtid}'")
            cursor.execute("INSERT INTO d.m VALUES (1, 1)")
            cursor.execute("SET gtid_next = AUTOMATIC")
        infos = [info for kind, info in events(server) if kind == "Gtid"]
        self.assertIn(gtid, infos[-1])
        self.assertEqual(sum(gtid in info for info in infos), 1)
        self.assertEqual(last_statements(server, 1), ["d.m"])

    def test_locked_for_writing_after_a_restart_the_table_is_emptied_first(self):
        server = self.with_tables()
        server.query("INSERT INTO d.m VALUES (1, 1)")
        server.kill()
        server.start()
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("LOCK TABLES d.m WRITE")
            cursor.execute("INSERT INTO d.m VALUES (5, 5)")
            cursor.execute("UNLOCK TABLES")
        self.assertIn("TRUNCATE", last_statements(server, 2)[0])
        self.assertEqual(rows(server, "d.m"), [5])

    def test_one_statement_for_both_kinds_of_table_is_refused(self):
        server = self.with_tables()
        server.query("INSERT INTO d.r VALUES (1)")
        server.query("INSERT INTO d.m VALUES (1, 1)")
        for statement in ("UPDATE d.m JOIN d.r USING (id) SET d.m.v = 5, d.r.id = 6", "DELETE d.r, d.m FROM d.m JOIN d.r USING (id)"):
            with self.assertRaises(pymysql.MySQLError) as raised:
                server.query(statement)
            self.assertEqual(raised.exception.args[0], 1785, raised.exception)
        self.assertEqual((rows(server, "d.r"), server.query("SELECT * FROM d.m")), ([1], ((1, 1),)))
        server.query("UPDATE d.m JOIN d.r USING (id) SET d.m.v = 5")
        self.assertEqual(server.query("SELECT v FROM d.m"), ((5,),))
        server.query("UPDATE d.m JOIN d.r USING (id) SET d.r.id = 1, d.r.id = 2 WHERE d.m.v = 5")
        self.assertEqual(rows(server, "d.r"), [2])

    def test_events_of_both_kinds_of_table_in_one_binlog_statement_are_refused(self):
        server = self.with_tables()
        server.query("INSERT INTO d.r VALUES (1)")
        server.query("INSERT INTO d.m VALUES (1, 1)")
        decoded = server.client("mariadb-binlog", "--read-from-remote-server", "binlog.000001").stdout
        format_description, *changes = [block.split("'")[0] for block in decoded.split("BINLOG '")[1:]]
        self.assertEqual(len(changes), 2, decoded)
        server.query("DELETE FROM d.r")
        server.query("DELETE FROM d.m")
        with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(f"BINLOG '{format_description}'")
            with self.assertRaises(pymysql.MySQLError) as raised:
                cursor.execute(f"BINLOG '{changes[0]}{changes[1]}'")
        self.assertEqual(raised.exception.args[0], 1785, raised.exception)
        self.assertEqual((rows(server, "d.r"), rows(server, "d.m")), ([], []))


if __name__ == "__main__":
    unittest.main()
