#!/usr/bin/python3
"""How fast start-up rolls the storage engine forward: builds log tails of given lengths, kills the server, starts it
again on each and prints rows per second, start-up time, the processor time of the whole start and peak memory.

    engine/bench/replay.py                                    # 64 MiB of log, 100 rows per transaction
    engine/bench/replay.py --tail-mib 64 256 1024 --flag=--commitd-memory-budget=256M --plot build/bench/replay.png
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test"))
from commitd_process import Commitd, wait_until  # noqa: E402

BUILD_FLAGS = ["--sync-binlog=0"]
LONGEST_START = 3600  # seconds: a hang bound
ROW = "some text of a usual length"


def tail_bytes(server):
    return sum(os.path.getsize(path) for path in server.binlog_files())


def build_tail(server, wanted_bytes, per_transaction):
    """Inserts until the log is so long; returns the number of rows."""
    rows = 0
    with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
        while tail_bytes(server) < wanted_bytes:
            for _ in range(100):
                ids = range(rows, rows + per_transaction)
                cursor.execute("INSERT INTO bench.t VALUES " + ",".join(f"({i},{i % 97},'{ROW}')" for i in ids))
                rows += per_transaction
    return rows


@contextlib.contextmanager
def engine_put_back(server):
    """What happens to the log meanwhile is what a start then has to replay: the engine's files are those from before."""
    engine, kept = os.path.join(server.datadir, "engine"), os.path.join(server.directory, "engine-before")
    server.terminate()
    shutil.copytree(engine, kept)
    server.start()
    yield
    server.kill()
    shutil.rmtree(engine)
    os.rename(kept, engine)


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status_field(process, field):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise AssertionError(f"/proc has no {field}")


def measure(wanted_bytes, per_transaction, flags):
    with Commitd(*BUILD_FLAGS) as server:
        server.query("CREATE DATABASE bench")
        server.query("CREATE TABLE bench.t (id BIGINT PRIMARY KEY, number INT, v VARCHAR(100))")
        with engine_put_back(server):
            rows = build_tail(server, wanted_bytes, per_transaction)
        tail = tail_bytes(server)
        server.flags = flags
        begin = time.monotonic()
        server.start(wait=False)
        wait_until(server.answers, "the server has replayed its log", LONGEST_START)
        startup = time.monotonic() - begin
        cpu = cpu_seconds(server.process)
        peak = status_field(server.process, "VmHWM")
        seconds = server.metric("commitd_recovery_seconds")
        found = server.query("SELECT COUNT(*) FROM bench.t")[0][0]
        replayed = re.findall(r"transactions=(\d+) rows=(\d+)", server.log_text())[-1]
    if found != rows or int(replayed[1]) < rows:
        raise SystemExit(f"{found} rows after replay of {replayed[1]}: {rows} expected")
    return {"rows": rows, "tail": tail, "startup": startup, "seconds": seconds, "peak": peak, "cpu": cpu}


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    tails = [r["tail"] / 2**20 for r in results]
    figure, (times, memory) = pyplot.subplots(2, sharex=True)
    times.plot(tails, [r["startup"] for r in results], marker="o")
    times.set(ylabel="start-up (s)", xlim=0, ylim=0)
    memory.plot(tails, [r["peak"] / 2**20 for r in results], marker="o")
    memory.set(xlabel="log behind the engine's position (MiB)", ylabel="peak memory (MiB)", xlim=0, ylim=0)
    for axes in (times, memory):
        axes.grid(True)
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"plot: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tail-mib", type=int, nargs="+", default=[64], help="lengths of the log that is replayed")
    parser.add_argument("--rows-per-transaction", type=int, default=100)
    parser.add_argument("--flag", action="append", default=[], help="of the server that replays")
    parser.add_argument("--plot", help="file for a plot of start-up time and peak memory against tail length")
    options = parser.parse_args()
    print(f"{'rows':>10} {'tail MiB':>9} {'replay s':>9} {'rows/s':>9} {'start-up s':>10} {'CPU us/row':>10} {'peak RSS MiB':>12}")
    results = []
    for mebibytes in options.tail_mib:
        r = measure(mebibytes << 20, options.rows_per_transaction, options.flag)
        results.append(r)
        print(f"{r['rows']:>10} {r['tail'] / 2**20:>9.0f} {r['seconds']:>9.2f} {r['rows'] / r['seconds']:>9.0f} "
              f"{r['startup']:>10.2f} {r['cpu'] / r['rows'] * 1e6:>10.2f} {r['peak'] / 2**20:>12.0f}", flush=True)
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
