"""Debian's prometheus-mysqld-exporter against a real server: it scrapes without an error."""

import os
import re
import subprocess
import tempfile
import unittest
import urllib.request

from commitd_process import Commitd, free_port, wait_until


def answer(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.read().decode()
    except OSError:
        return None


class ExporterTest(unittest.TestCase):
    def scrape(self, server, *flags):
        port = free_port()
        with tempfile.TemporaryFile("w+") as log:
            exporter = subprocess.Popen(
                ["prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{port}", *flags], stdout=log, stderr=log,
                env=dict(os.environ, DATA_SOURCE_NAME=f"root@(127.0.0.1:{server.port})/"))
            try:
                text = wait_until(lambda: answer(f"http://127.0.0.1:{port}/metrics"), "the exporter answers")
            finally:
                exporter.terminate()
                exporter.wait(timeout=60)
            log.seek(0)
            self.assertNotIn("level=error", log.read())
        return text

    def test_default_collectors_and_wait_events(self):
        with Commitd() as server:
            server.query("CREATE DATABASE shop")
            server.query("CREATE TABLE shop.t (id INT PRIMARY KEY)")
            server.query("INSERT INTO shop.t VALUES (1), (2), (3)")
            text = self.scrape(server, "--collect.perf_schema.eventswaits", "--collect.info_schema.processlist",
                               "--collect.info_schema.tables", "--collect.binlog_size", "--collect.slave_hosts")
            values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
            self.assertEqual(values["mysql_up"], "1")
            self.assertEqual(values["mysql_exporter_last_scrape_error"], "0")
            failed = [name for name, value in values.items()
                      if name.startswith("mysql_exporter_collector_success") and value != "1"]
            self.assertEqual(failed, [])
            self.assertEqual(float(values["mysql_global_variables_port"]), server.port)
            self.assertEqual(float(values["mysql_global_variables_sync_binlog"]), 1)
            self.assertEqual(float(values['mysql_global_status_innodb_row_ops_total{operation="inserted"}']), 3)
            self.assertGreaterEqual(float(values["mysql_global_status_threads_connected"]), 1)
            self.assertTrue(re.search(r'^mysql_version_info\{.*version="8\.4\.0-commitd"', text, re.M))
            self.assertEqual(float(values["mysql_binlog_files"]), 1)


if __name__ == "__main__":
    unittest.main()
