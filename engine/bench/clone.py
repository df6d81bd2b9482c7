#!/usr/bin/python3
"""What a clone costs: a source of so many GiB under sysbench's oltp_write_only is cloned by an empty server, which then follows it. Prints how long the
copy takes, the processor time of both servers, the source's transactions per second before, meanwhile and behind it, and what is left for the log.

    engine/bench/clone.py                                     # 5 GiB, without a limit
    engine/bench/clone.py --gib 1 --bandwidth 100 --threads 16
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test"))
os.environ["PATH"] = f"{pathlib.Path(__file__).resolve().parents[2]}/build/servers/bin:{os.environ['PATH']}"
from commitd_process import Commitd, wait_until  # noqa: E402
from replay import cpu_seconds, status_field  # noqa: E402

HOUR = 3600  # seconds: a hang bound
ROW_BYTES = 4000
SEED_ROWS = 2000
WINDOW_SECONDS = 20
TRANSACTIONS = "commitd_commit_group_transactions_total"
BUDGET = "--commitd-memory-budget=512M"


def fill(server, wanted_bytes):
    """Rows that no block of the engine can make smaller; in transactions of some 30 MiB."""
    server.query("CREATE TABLE bench.t (id BIGINT PRIMARY KEY, v VARBINARY(4000))")
    with contextlib.closing(server.connect()) as connection, connection.cursor() as cursor:
        for first in range(0, SEED_ROWS, 100):
            cursor.execute("INSERT INTO bench.t VALUES " + ",".join(f"({n}, X'{os.urandom(ROW_BYTES).hex()}')" for n in range(first, first + 100)))
        rows = SEED_ROWS
        while rows * ROW_BYTES < wanted_bytes:
            for _ in range(4):
                cursor.execute(f"INSERT INTO bench.t SELECT id + {rows}, v FROM bench.t WHERE id < {SEED_ROWS}")
                rows += SEED_ROWS
    return rows


def sysbench(server, *arguments):
    return ["sysbench", "oltp_write_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root", "--mysql-ssl=off",
            "--mysql-db=bench", "--db-ps-mode=auto", "--tables=4", "--table-size=10000", *arguments]


@contextlib.contextmanager
def under_load(server, threads):
    subprocess.run(sysbench(server, "prepare"), check=True, stdout=subprocess.DEVNULL)
    load = subprocess.Popen(sysbench(server, f"--threads={threads}", f"--time={HOUR}", "run"), stdout=subprocess.DEVNULL)
    try:
        time.sleep(5)
        yield
        if load.poll() is not None:
            raise SystemExit("sysbench has ended")
    finally:
        load.kill()
        load.wait()


class Meter:
    """Transactions and processor time from now on."""

    def __init__(self, source, *servers):
        self.source, self.servers = source, servers
        self.began, self.before, self.cpu = time.monotonic(), source.metric(TRANSACTIONS), [cpu_seconds(s.process) for s in servers]

    def read(self):
        seconds = time.monotonic() - self.began
        return {"seconds": seconds, "tps": (self.source.metric(TRANSACTIONS) - self.before) / seconds,
                "cpu": [cpu_seconds(s.process) - before for s, before in zip(self.servers, self.cpu)]}


def window(source, *servers):
    meter = Meter(source, *servers)
    time.sleep(WINDOW_SECONDS)
    return meter.read()


def uuid(server):
    with contextlib.suppress(Exception):
        return server.query("SELECT @@server_uuid")[0][0]


def clone(source, joiner, bandwidth):
    """Until the joiner is another server, restarted on the copy."""
    before = uuid(joiner)
    joiner.query(f"SET GLOBAL clone_valid_donor_list = '127.0.0.1:{source.port}'")
    joiner.query(f"SET GLOBAL clone_max_data_bandwidth = {bandwidth}")
    meter = Meter(source, source, joiner)
    joiner.query(f"CLONE INSTANCE FROM 'root'@'127.0.0.1':{source.port} IDENTIFIED BY ''")
    wait_until(lambda: uuid(joiner) not in (None, before), "the joiner is another server", HOUR)
    return meter.read()


def catch_up(source, joiner):
    """How long until the joiner shows what the source had when it began to follow."""
    executed = source.query("SELECT @@GLOBAL.gtid_executed")[0][0].replace("\n", "")
    meter = Meter(source, source, joiner)
    joiner.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {source.port}, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1")
    joiner.query("START REPLICA")
    wait_until(lambda: joiner.query(f"SELECT GTID_SUBSET('{executed}', @@GLOBAL.gtid_executed)") == ((1,),), "the joiner has caught up", HOUR)
    return meter.read()


def measure(options):
    with Commitd("--sync-binlog=0", BUDGET, server_id=1) as source, Commitd(BUDGET, server_id=2) as joiner:
        source.query("CREATE DATABASE bench")
        rows = fill(source, int(options.gib * 2**30))
        size = sum(path.stat().st_size for path in pathlib.Path(source.datadir, "engine").rglob("*") if path.is_file())
        print(f"{rows} rows, {size / 2**30:.2f} GiB of the engine's files, {shutil.disk_usage(source.datadir).free / 2**30:.0f} GiB free", flush=True)
        source.query("SET GLOBAL sync_binlog = 1")
        with under_load(source, options.threads):
            alone = window(source, source, joiner)
            during = clone(source, joiner, options.bandwidth)
            following = catch_up(source, joiner)
            behind = window(source, source, joiner)
        if joiner.query("SELECT COUNT(*) FROM bench.t")[0][0] != rows:
            raise SystemExit("the joiner has other rows than the source")
        peaks = [status_field(s.process, "VmHWM") / 2**20 for s in (source, joiner)]
    print(f"{'':28} {'seconds':>8} {'tps':>8} {'of alone':>8} {'source CPU s':>13} {'joiner CPU s':>13}")
    for name, found in (("before", alone), ("the copy, until the restart", during), ("the log behind it", following), ("both, side by side", behind)):
        print(f"{name:28} {found['seconds']:>8.1f} {found['tps']:>8.0f} {found['tps'] / alone['tps']:>8.2f} {found['cpu'][0]:>13.1f} {found['cpu'][1]:>13.1f}")
    print(f"{size / 2**20 / during['seconds']:.0f} MiB/s; peak memory {peaks[0]:.0f} and {peaks[1]:.0f} MiB at a budget of 512 MiB each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=5)
    parser.add_argument("--bandwidth", type=int, default=0, help="MiB per second at most; 0: no limit")
    parser.add_argument("--threads", type=int, default=16, help="of sysbench")
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
