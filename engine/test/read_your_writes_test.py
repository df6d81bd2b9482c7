"""A write at the source is read at a replica by those who wait for its GTID, with go-sql-driver: the Go test in go/."""

import os
import pathlib
import subprocess
import unittest

from pair import PairTest


class ReadYourWritesTest(PairTest):
    def test_under_load_while_the_replica_is_stopped_and_started(self):
        self.follow()
        environment = dict(os.environ, COMMITD_PORT=str(self.source.port), COMMITD_REPLICA_PORT=str(self.replica.port))
        done = subprocess.run(["go", "test", "-count=1", "-run", "TestReadYourWrites", "-v", "."], cwd=pathlib.Path(__file__).parent / "go",
                              text=True, capture_output=True, timeout=300, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.replica.log_text())
        self.assertIn("--- PASS: TestReadYourWrites", done.stdout)


if __name__ == "__main__":
    unittest.main()
