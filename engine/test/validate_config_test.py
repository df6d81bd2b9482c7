"""commitd --validate-config says what a start would say of options and variables, and touches nothing."""

import os
import subprocess
import tempfile
import unittest

from commitd_process import COMMITD, Commitd


class ValidateConfigTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="commitd-test-")
        self.addCleanup(self.directory.cleanup)
        self.datadir = os.path.join(self.directory.name, "data")

    def validate(self, *arguments):
        return subprocess.run([COMMITD, "--validate-config", f"--datadir={self.datadir}", *arguments], capture_output=True, text=True, timeout=60)

    def start(self, *arguments):
        command = [COMMITD, "--initialize-insecure", f"--datadir={self.datadir}", "--http-port=0", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    def assert_refused(self, number, words, *arguments):
        done = self.validate(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
        self.assertRegex(done.stderr, rf"(?m)^\S+\.\d{{6}}Z 0 \[ERROR\] \[MY-{number:06}\] \[Server\] .*{words}")
        started = self.start(*arguments)
        self.assertEqual(started.returncode, 1, f"a start takes {arguments}")
        self.assertRegex(started.stderr, words)
        self.assertEqual(os.listdir(self.directory.name), [], "something was made")

    def test_what_is_good_is_good_and_nothing_is_made(self):
        for arguments in (
            (),
            ("--sync-binlog=1", "--innodb_flush_log_at_trx_commit=2", "--max-connections=20"),
            ("--loose-nobody-knows-it=3",),
            ("--commitd-durability=xa", "--skip-log-bin"),
            ("--tls-version=", "--slow-query-log=ON", "--port=0"),
        ):
            done = self.validate(*arguments)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertNotIn("ERROR", done.stderr)
        self.assertEqual(os.listdir(self.directory.name), [])

    def test_what_a_start_refuses_is_refused_in_the_same_words(self):
        self.assert_refused(1193, r"unknown option '--max-conections'.*did you mean '--max-connections'", "--max-conections=20")
        self.assert_refused(1231, "port", "--port=70000")
        self.assert_refused(1232, "sync_binlog", "--sync-binlog=often")
        self.assert_refused(1231, "log-level", "--log-level=loud")
        self.assert_refused(1231, "commitd_prepare_commit_mutex", "--commitd-prepare-commit-mutex=ON")
        self.assert_refused(1231, "log_bin", "--skip-log-bin")
        self.assert_refused(1231, "one-thread-per-connection", "--commitd-deadlock-detector=recursive")
        self.assert_refused(1231, "restore-until-time", "--restore-binlogs=/nowhere", "--restore-until-time=tomorrow")
        self.assert_refused(3888, "tls_version", "--tls-version=SSLv3")
        self.assert_refused(1210, "not an option", "port=1")

    def test_option_files_are_read(self):
        path = os.path.join(self.directory.name, "my.cnf")
        for line, code in (("max_connections=20", 0), ("max_conections=20", 1)):
            with open(path, "w") as file:
                file.write(f"[mysqld]\n{line}\n")
            done = subprocess.run([COMMITD, f"--defaults-file={path}", "--validate-config"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_data_of_a_later_release_are_refused(self):
        with Commitd() as server:
            ((own,),) = server.query("SELECT data_format FROM performance_schema.commitd_instance")
        self.assertEqual(self.validate(f"--commitd-data-format={own}").returncode, 0)
        directory, engine = own.split(".")
        earlier, later = f"{directory}.{int(engine) - 1}", f"{directory}.{int(engine) + 1}"
        self.assertEqual(self.validate(f"--commitd-data-format={earlier},{own}").returncode, 0)
        self.assert_refused(1024, rf"have format {later}, and .* reads formats {earlier} and {own}", f"--commitd-data-format={own},{later}")
        self.assert_refused(1024, "have format nonsense", "--commitd-data-format=nonsense")

    def test_beside_a_running_server(self):
        with Commitd() as server:
            self.datadir = server.datadir
            self.assertEqual(self.validate("--sync-binlog=0").returncode, 0)
            self.assertEqual(self.validate("--sync-binlog=often").returncode, 1)
            self.assertEqual(server.query("SELECT 1"), ((1,),))


if __name__ == "__main__":
    unittest.main()
