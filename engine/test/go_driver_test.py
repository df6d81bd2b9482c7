"""go-sql-driver, unchanged, against a real server: the Go tests in go/."""

import os
import pathlib
import subprocess
import unittest

from commitd_process import Commitd


class GoDriverTest(unittest.TestCase):
    def test_the_go_module(self):
        with Commitd() as server:
            done = subprocess.run(["go", "test", "-count=1", "./..."], cwd=pathlib.Path(__file__).parent / "go", text=True,
                                  capture_output=True, timeout=300, env=dict(os.environ, COMMITD_PORT=str(server.port)))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
