#!/usr/bin/python3
"""How far a replica falls behind a source under sysbench's oltp_write_only, both on this machine, and how fast it catches
up when the source does nothing: with each number of replica_parallel_workers, in turns.

    engine/bench/replica_lag.py                                       # 0, 1 and 4 workers, 64 clients, 250,000 rows
    engine/bench/replica_lag.py --json build/bench/replica_lag.json --plot build/bench/replica_lag.png
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test"))
from commitd_process import Commitd, wait_until  # noqa: E402

LONGEST = 600  # seconds: a hang bound
STEP = 0.25
TICK = os.sysconf("SC_CLK_TCK")


def sysbench(server, options, command, **settings):
    arguments = [f"--{name}={value}" for name, value in settings.items()]
    return subprocess.Popen(
        ["sysbench", "oltp_write_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root",
         "--mysql-db=sbtest", "--tables=1", f"--table-size={options.rows}", "--mysql-ignore-errors=1213,1205", *arguments, command],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finished(process):
    out, _ = process.communicate(timeout=LONGEST)
    if process.returncode != 0:
        raise SystemExit(out)
    return out


def cpu_seconds(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def busiest_thread(server, before=None):
    """CPU seconds of each thread; with those from before, the most that one has taken since."""
    taken = {}
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            taken[task.name] = (int(fields[11]) + int(fields[12])) / TICK
    return taken if before is None else max(used - before.get(name, 0) for name, used in taken.items())


class Counter:
    """How many transactions a server has executed."""

    def __init__(self, server):
        self.cursor = server.connect().cursor()

    def value(self):
        self.cursor.execute("SELECT @@global.gtid_executed")
        ((text,),) = self.cursor.fetchall()
        return sum(int(last or first) - int(first) + 1 for first, last in re.findall(r":(\d+)(?:-(\d+))?", text))


def under_load(source, replica, options, result):
    counters = Counter(source), Counter(replica)
    first, cpu = counters[0].value(), (cpu_seconds(source), cpu_seconds(replica))
    begin = time.monotonic()
    load = sysbench(source, options, "run", threads=options.clients, time=options.seconds, **{"report-interval": 0})
    while load.poll() is None:
        done, applied = counters[0].value(), counters[1].value()
        result["lag"].append((round(time.monotonic() - begin, 2), done - applied))
        time.sleep(STEP)
    finished(load)
    result["lag_at_end"] = result["lag"][-1][1]
    ended = time.monotonic()
    total = counters[0].value()
    wait_until(lambda: counters[1].value() >= total, "the replica has everything", LONGEST)
    result["seconds_behind_at_end"] = time.monotonic() - ended
    transactions = total - first
    result["tps"] = transactions / (ended - begin)
    result["most_lag"] = max(lag for _, lag in result["lag"])
    result["mean_lag"] = sum(lag for _, lag in result["lag"]) / len(result["lag"])
    result["source_us"], result["replica_us"] = [(cpu_seconds(server) - was) / transactions * 1e6
                                                 for server, was in zip((source, replica), cpu)]


def catching_up(source, replica, options, result):
    counters = Counter(source), Counter(replica)
    replica.query("STOP REPLICA SQL_THREAD")
    finished(sysbench(source, options, "run", threads=options.clients, time=options.backlog_seconds))
    executed = source.query("SELECT @@global.gtid_executed")[0][0].replace("\n", "")
    wait_until(lambda: replica.query(f"SELECT GTID_SUBSET('{executed}', gtid_logged) FROM performance_schema.commitd_instance") == ((1,),),
               "everything is received", LONGEST)
    backlog = counters[0].value() - counters[1].value()
    cpu, threads, begin = cpu_seconds(replica), busiest_thread(replica), time.monotonic()
    ahead, again = (replica.metric(f"commitd_replica_ahead_{name}_total") for name in ("transactions", "made_again"))
    replica.query("START REPLICA SQL_THREAD")
    while counters[1].value() < counters[0].value():
        time.sleep(0.01)
    seconds = time.monotonic() - begin
    result["backlog"] = backlog
    result["catch_up_tps"] = backlog / seconds
    result["catch_up_us"] = (cpu_seconds(replica) - cpu) / backlog * 1e6
    result["catch_up_thread_us"] = busiest_thread(replica, threads) / backlog * 1e6
    result["ahead"] = (replica.metric("commitd_replica_ahead_transactions_total") - ahead) / backlog
    result["made_again"] = (replica.metric("commitd_replica_ahead_made_again_total") - again) / backlog


def measure(workers, options):
    result = {"workers": workers, "lag": []}
    flags = [f"--replica-parallel-workers={workers}"]
    with Commitd(*options.flag) as source, Commitd(*options.flag, *flags, server_id=2) as replica:
        source.query("CREATE DATABASE sbtest")
        finished(sysbench(source, options, "prepare"))
        replica.query(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
        replica.query("START REPLICA")
        counters = Counter(source), Counter(replica)
        wait_until(lambda: counters[0].value() == counters[1].value(), "the replica has the table", LONGEST)
        under_load(source, replica, options, result)
        catching_up(source, replica, options, result)
        sums = [server.query("CHECKSUM TABLE sbtest.sbtest1") for server in (source, replica)]
        if sums[0] != sums[1]:
            raise SystemExit(f"the replica differs: {sums}")
    return result


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    figure, axes = pyplot.subplots()
    for result in results:
        times, lags = zip(*result["lag"])
        axes.plot(times, lags, label=f"{result['workers']} workers, {result['tps']:.0f} per second")
    axes.set(xlabel="seconds", ylabel="transactions that the replica lacks", xlim=0, ylim=0)
    axes.grid(True)
    axes.legend()
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"plot: {path}")


COLUMNS = (("workers", 7, 0), ("tps", 7, 0), ("mean_lag", 8, 0), ("most_lag", 8, 0), ("lag_at_end", 10, 0), ("source_us", 9, 0), ("replica_us", 10, 0),
           ("backlog", 8, 0), ("catch_up_tps", 12, 0), ("catch_up_us", 11, 1), ("catch_up_thread_us", 18, 1), ("ahead", 6, 2), ("made_again", 10, 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 4])
    parser.add_argument("--rounds", type=int, default=1, help="of all of them")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rows", type=int, default=250000)
    parser.add_argument("--seconds", type=int, default=30, help="of load beside the replica")
    parser.add_argument("--backlog-seconds", type=int, default=15, help="of load that is then applied without any")
    parser.add_argument("--flag", action="append", default=[], help="of both servers")
    parser.add_argument("--json", help="file for all of it")
    parser.add_argument("--plot", help="file for a plot of lag over time")
    options = parser.parse_args()
    print(" ".join(f"{name:>{width}}" for name, width, _ in COLUMNS))
    results = []
    for _ in range(options.rounds):
        for workers in options.workers:
            result = measure(workers, options)
            results.append(result)
            print(" ".join(f"{result[name]:>{width}.{digits}f}" for name, width, digits in COLUMNS), flush=True)
    if options.json:
        pathlib.Path(options.json).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
