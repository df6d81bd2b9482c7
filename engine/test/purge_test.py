"""R10: garbage is counted by table, purged in slices once there is much of it, or in one go."""

import contextlib
import re
import unittest

from commitd_process import Commitd, wait_until

ROWS = 20000
ENOUGH = 15000  # commitd_purge_history_length


class PurgeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Commitd("--commitd-purge-history-length=0")
        cls.addClassCleanup(cls.server.__exit__)
        cls.server.start()
        cls.server.query("CREATE DATABASE d")

    def set(self, variable, value):
        """Until the test ends."""
        self.server.query(f"SET GLOBAL {variable} = {value}")
        self.addCleanup(self.server.query, f"SET GLOBAL {variable} = DEFAULT" if variable.endswith("size") else f"SET GLOBAL {variable} = 0")

    def counts(self):
        names = ("rounds", "slices", "pages", "removed")
        return {name: self.server.metric(f"commitd_purge_{name}_total") for name in names}

    def added(self, before):
        return {name: value - before[name] for name, value in self.counts().items()}

    def table(self, name):
        """Rows that do not compress, in files."""
        self.server.query(f"CREATE TABLE d.{name} (id INT PRIMARY KEY AUTO_INCREMENT, v INT, noise VARBINARY(200))")
        self.addCleanup(self.server.query, f"DROP TABLE d.{name}")
        self.server.query(f"INSERT INTO d.{name} (v, noise) VALUES (0, NULL)")
        noise = "UNHEX(CONCAT(MD5(RAND()), MD5(RAND()), MD5(RAND()), MD5(RAND()), MD5(RAND()), MD5(RAND())))"
        while self.server.query(f"SELECT COUNT(*) FROM d.{name}")[0][0] < ROWS:
            self.server.query(f"INSERT INTO d.{name} (v, noise) SELECT 0, {noise} FROM d.{name}")

    def into_files(self):
        self.server.query("SET GLOBAL commitd_checkpoint_bytes = 1")
        wait_until(lambda: self.server.metric("commitd_checkpoint_age_bytes") == 0, "everything is in files")
        self.server.query("SET GLOBAL commitd_checkpoint_bytes = DEFAULT")

    def length(self):
        return int(self.server.metric("commitd_history_length"))

    def ways_to_ask(self):
        (_, status), = self.server.query("SHOW GLOBAL STATUS LIKE 'Innodb_history_list_length'")
        (metric,), = self.server.query("SELECT COUNT FROM information_schema.innodb_metrics WHERE NAME = 'trx_rseg_history_len'")
        (_, _, text), = self.server.query("SHOW ENGINE INNODB STATUS")
        return [int(status), metric, int(re.search(r"History list length (\d+)\n", text).group(1)), self.length()]

    def of(self, table):
        rows = self.server.query(f"SELECT INDEX_NAME, HISTORY_LENGTH FROM information_schema.commitd_history WHERE TABLE_NAME = '{table}'")
        return dict(rows)

    def churn(self, table):
        self.server.query(f"UPDATE d.{table} SET v = v + 1")
        self.assertGreaterEqual(sum(self.of(table).values()), ROWS)

    def test_the_history_is_what_was_overwritten_and_erased_by_index(self):
        self.server.query("CREATE TABLE d.counted (id INT PRIMARY KEY, v INT, KEY by_v (v))")
        self.addCleanup(self.server.query, "DROP TABLE d.counted")
        self.server.query("INSERT INTO d.counted VALUES (1, 1), (2, 2), (3, 3)")
        self.assertEqual(self.of("counted"), {})
        self.server.query("UPDATE d.counted SET v = 10 WHERE id = 1")
        self.assertEqual(self.of("counted"), {"PRIMARY": 1, "by_v": 2}, "the row's version; the entry of 1, and its tombstone")
        self.server.query("DELETE FROM d.counted WHERE id = 2")
        self.assertEqual(self.of("counted"), {"PRIMARY": 3, "by_v": 4})
        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            for statement in ("BEGIN", "INSERT INTO d.counted VALUES (4, 4)", "UPDATE d.counted SET v = 5 WHERE id = 4", "COMMIT"):
                cursor.execute(statement)
        self.assertEqual(self.of("counted")["PRIMARY"], 3, "nobody ever saw the version that was overwritten")
        # RocksDB may merge what other tests left.
        wait_until(lambda: len(set(self.ways_to_ask())) == 1, "all ways to ask say the same")
        self.assertGreaterEqual(self.length(), sum(self.of("counted").values()))

    def test_one_go_is_one_slice_and_slices_are_many_and_smaller(self):
        self.table("churned")
        at_once = self.purge("churned", 0)
        self.assertGreaterEqual(at_once["rounds"], 1)
        self.assertEqual(at_once["slices"], at_once["rounds"])
        self.assertEqual(self.server.query("SELECT @@global.innodb_max_purge_size"), ((0,),))
        sliced = self.purge("churned", 100)
        self.assertGreaterEqual(sliced["slices"], 4 * sliced["rounds"])
        self.assertGreaterEqual(sliced["removed"], ROWS - ENOUGH)
        self.assertGreater(at_once["pages"] / at_once["slices"], 2 * sliced["pages"] / sliced["slices"])
        self.assertEqual(self.server.query("SELECT MIN(v), MAX(v) FROM d.churned"), ((2, 2),))

    def purge(self, table, pages):
        """What it counts to purge what an update of every row left; the rows lie in files before."""
        self.into_files()
        before = self.counts()
        self.churn(table)
        self.set("commitd_purge_batch_size", pages)
        self.set("commitd_purge_history_length", ENOUGH)
        wait_until(lambda: self.length() < ENOUGH and self.added(before)["slices"], "the garbage is purged")
        self.server.query("SET GLOBAL commitd_purge_history_length = 0")
        return self.added(before)

    def test_scans_count_what_they_step_over_while_the_history_is_long(self):
        self.server.query("CREATE TABLE d.queue (id INT PRIMARY KEY)")
        self.addCleanup(self.server.query, "DROP TABLE d.queue")
        self.server.query("INSERT INTO d.queue VALUES " + ", ".join(f"({number})" for number in range(1000)))
        skipped = lambda: self.server.metric("commitd_scan_garbage_skipped_total")

        def skipped_by_a_scan():
            before = skipped()
            self.server.query("SELECT MIN(id) FROM d.queue FOR UPDATE")
            return skipped() - before

        with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            cursor.execute("SELECT COUNT(*) FROM d.queue")  # what it sees is not purged
            self.server.query("DELETE FROM d.queue")
            wait_until(lambda: skipped_by_a_scan() == 0, "scans are not watched, as they may have been for another test")
            self.set("commitd_purge_history_length", 500)
            wait_until(lambda: skipped_by_a_scan() >= 1000, "the scans are watched")


if __name__ == "__main__":
    unittest.main()
