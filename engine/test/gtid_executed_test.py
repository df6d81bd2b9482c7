"""R6 and R7: the persister's list that nothing merges, and mysql.gtid_executed with a row for each transaction."""

import contextlib
import unittest

from commitd_process import Commitd, code_of, wait_until
from pair import PairTest

OTHER = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
PERSISTER, PERIOD = "commitd_gtid_persister", "gtid_executed_compression_period"
LOCK = "wait/synch/rwlock/sql/gtid_commit_rollback"
NO_SUCH_VALUE = 1231


def insert(server, count):
    with contextlib.closing(server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
        for _ in range(count):
            cursor.execute("INSERT INTO d.t VALUES ()")


def insert_with_gaps(server, first, count):
    with contextlib.closing(server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
        for number in range(first, first + 2 * count, 2):
            cursor.execute(f"SET gtid_next = '{OTHER}:{number}'")
            cursor.execute("INSERT INTO d.t VALUES ()")


def waits(server):
    return server.query("SELECT COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name "
                        f"WHERE EVENT_NAME = '{LOCK}'")[0][0]


class OneServerTest(unittest.TestCase):
    def setUp(self):
        self.server = Commitd()
        self.addCleanup(self.server.__exit__)
        self.server.start()
        self.server.query("CREATE DATABASE d")
        self.server.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)")

    def executed(self):
        return self.server.query("SELECT @@global.gtid_executed")[0][0].replace("\n", "")

    def rows(self):
        return self.server.query("SELECT source_uuid, interval_start, interval_end, gtid_tag FROM mysql.gtid_executed")

    def restart(self, *flags):
        self.server.terminate()
        self.server.flags = list(flags)
        self.server.start()

    def text_of_rows(self):
        """As gtid_executed has it, with intervals that meet made one."""
        merged = {}
        for uuid, start, end, tag in self.rows():
            self.assertEqual(tag, "")
            intervals = merged.setdefault(uuid, [])
            if intervals and intervals[-1][1] + 1 == start:
                intervals[-1][1] = end
            else:
                intervals.append([start, end])
        text = lambda intervals: ":".join(str(a) if a == b else f"{a}-{b}" for a, b in intervals)
        return ",".join(f"{uuid}:{text(intervals)}" for uuid, intervals in sorted(merged.items()))


class PersisterTest(OneServerTest):
    def counts(self):
        return [self.server.metric(f"commitd_gtid_persister_{name}_total") for name in ("calls", "intervals_passed")]

    def persisted(self, intervals):
        """On a busy machine the persister's thread comes late, and one call takes what several have written."""
        wait_until(lambda: self.server.metric("commitd_gtid_persister_intervals") >= intervals, f"{intervals} intervals in the list")

    def test_r6_each_call_walks_over_the_gaps_while_the_switch_is_legacy(self):
        insert_with_gaps(self.server, 1, 50)
        self.assertEqual(self.counts(), [0, 0])
        self.assertEqual(waits(self.server), 0)
        self.server.query(f"SET GLOBAL {PERSISTER} = 'append_only'")
        passed = []
        for number in range(3):
            before = self.counts()
            insert_with_gaps(self.server, 1001 + number * 200, 100)
            self.persisted(150 + number * 100)
            calls, intervals = (after - earlier for after, earlier in zip(self.counts(), before, strict=True))
            passed.append(intervals / calls)
        self.assertGreater(passed[1], 1.5 * passed[0])
        self.assertGreater(passed[2], 1.2 * passed[1])
        self.assertGreaterEqual(waits(self.server), 300, "who commits takes the lock of the set")
        self.server.query(f"SET GLOBAL {PERSISTER} = DEFAULT")
        insert(self.server, 1)  # notices
        before = self.counts()
        insert_with_gaps(self.server, 5001, 20)
        self.assertEqual(self.counts(), before)
        self.assertEqual(code_of(lambda: self.server.query(f"SET GLOBAL {PERSISTER} = 'sometimes'")), NO_SUCH_VALUE)


class FilteredTest(PairTest):
    def test_r6_what_a_filter_leaves_out_leaves_gaps_that_nothing_fills(self):
        """The recipe of seed 001: db1 is applied, db2 is not."""
        self.replica.query("CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE = ('db2.%')")
        self.replica.query(f"SET GLOBAL {PERSISTER} = 'append_only'")
        self.follow()
        for db in ("db1", "db2"):
            self.source.query(f"CREATE DATABASE {db}")
            self.source.query(f"CREATE TABLE {db}.t1 (i INT)")
        for _ in range(30):
            for db in ("db1", "db2"):
                self.source.query(f"INSERT INTO {db}.t1 VALUES (1)")
        self.wait_for_all()
        self.assertEqual(self.replica.query("SELECT COUNT(*) FROM mysql.gtid_executed"), ((1,),))
        self.assertGreaterEqual(self.replica.metric("commitd_gtid_persister_intervals"), 25)
        self.assertEqual(self.source.metric("commitd_gtid_persister_calls_total"), 0)


class CompressionTest(OneServerTest):
    def start_reads(self, *flags):
        self.restart(*flags)
        return self.server.metric("commitd_gtid_executed_rows_read_total")

    def check(self):
        self.assertEqual(self.text_of_rows(), self.executed())
        self.assertEqual(self.server.metric("commitd_gtid_executed_rows"), len(self.rows()))

    def test_r7_without_compression_each_transaction_has_a_row_that_every_start_reads(self):
        insert(self.server, 30)
        insert_with_gaps(self.server, 1, 5)
        self.assertEqual(len(self.rows()), 1 + 5)
        self.check()
        self.assertLessEqual(self.start_reads(), 6)

        self.server.query(f"SET GLOBAL {PERIOD} = 0")
        insert(self.server, 40)
        self.assertEqual(len(self.rows()), 1 + 5 + 40)
        self.check()
        executed = self.executed()
        self.assertGreaterEqual(self.start_reads(f"--{PERIOD}=0"), 46)
        self.assertEqual(self.executed(), executed)
        self.check()

        self.server.query(f"SET GLOBAL {PERIOD} = 1000")
        insert(self.server, 1)
        self.assertEqual(len(self.rows()), 1 + 5)
        self.assertEqual(self.server.metric("commitd_gtid_executed_compressions_total"), 1)
        insert(self.server, 10)
        self.check()
        self.assertEqual(self.server.metric("commitd_gtid_executed_compressions_total"), 1)
        self.assertLessEqual(self.start_reads(), 6)

    def test_r7_killed_in_either_way_and_behind_the_switch_nothing_is_lost(self):
        for period in (0, 1000, 0, 1000):
            self.server.query(f"SET GLOBAL {PERIOD} = {period}")
            insert(self.server, 20)
            executed = self.executed()
            self.server.kill()
            self.server.start()
            self.assertEqual(self.executed(), executed)
            self.check()


if __name__ == "__main__":
    unittest.main()
