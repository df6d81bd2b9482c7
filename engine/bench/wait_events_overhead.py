#!/usr/bin/python3
"""What wait events cost: the same load on two servers, one with --performance-schema=OFF, in turns.

Prints the medians of throughput and of the server's CPU time per query, and their ratio. Run it on a quiet machine:
    make -C engine && /usr/bin/python3 engine/bench/wait_events_overhead.py
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test"))
from commitd_process import Commitd  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = int(os.environ.get("SECONDS", "3"))
TESTS = os.environ.get("TESTS", "oltp_point_select oltp_update_index").split()
THREADS = int(os.environ.get("THREADS", "8"))


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sysbench(server, test, *arguments):
    done = subprocess.run(["sysbench", test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}",
                           "--mysql-user=root", "--mysql-db=sbtest", "--tables=1", "--table-size=10000", *arguments],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def one_round(server, test):
    cpu = cpu_seconds(server.process)
    out = sysbench(server, test, f"--threads={THREADS}", f"--time={SECONDS}", "run")
    cpu = cpu_seconds(server.process) - cpu
    queries = int(re.search(r"total:\s+(\d+)", out).group(1))
    return queries / SECONDS, cpu / queries * 1e6


def main():
    with Commitd("--performance-schema=ON") as on, Commitd("--performance-schema=OFF") as off:
        for server in (on, off):
            server.query("CREATE DATABASE sbtest")
            sysbench(server, "oltp_point_select", "prepare")
        for test in TESTS:
            results = {server: [] for server in (on, off)}
            for number in range(ROUNDS):
                for server in (on, off) if number % 2 == 0 else (off, on):
                    results[server].append(one_round(server, test))
            rate = {server: statistics.median(r[0] for r in results[server]) for server in results}
            cpu = {server: statistics.median(r[1] for r in results[server]) for server in results}
            print(f"{test} ({THREADS} threads): queries/s on {rate[on]:.0f}, off {rate[off]:.0f}, ratio {rate[on] / rate[off]:.3f}; "
                  f"server CPU µs/query on {cpu[on]:.2f}, off {cpu[off]:.2f}, ratio {cpu[on] / cpu[off]:.3f}")


if __name__ == "__main__":
    main()
