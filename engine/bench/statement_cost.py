#!/usr/bin/python3
"""What one statement costs the server, in counts that do not depend on how busy the machine is: instructions and
allocations (callgrind), system calls (strace).

    statement_cost.py [--events 2000] [--hot 2000] [--text] [--server=OPTION …] [STATEMENT …]

Each load runs a fixed number of sysbench's events on one connection. COMMITD names another binary than build/bin/commitd.
--hot: behind so many transactions of oltp_read_write, whose hot rows then have many versions. --server: an option more, as --performance-schema=OFF.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test"))

from commitd_process import Commitd  # noqa: E402

NONE = {"point-selects": 0, "simple-ranges": 0, "sum-ranges": 0, "order-ranges": 0, "distinct-ranges": 0, "skip-trx": "on"}
NO_WRITES = {"index-updates": 0, "non-index-updates": 0, "delete-inserts": 0}
LOADS = {  # sysbench's test and its options
    "point select": ("oltp_point_select", {}),
    "10 point selects in a transaction": ("oltp_read_only", NONE | {"point-selects": 10, "skip-trx": "off"}),
    "range of 100": ("oltp_read_only", NONE | {"simple-ranges": 1}),
    "SUM over 100": ("oltp_read_only", NONE | {"sum-ranges": 1}),
    "100 sorted": ("oltp_read_only", NONE | {"order-ranges": 1}),
    "100 distinct": ("oltp_read_only", NONE | {"distinct-ranges": 1}),
    "update by key": ("oltp_update_index", {}),
    "update in a transaction": ("oltp_write_only", NO_WRITES | {"index-updates": 1}),
    "update of a text": ("oltp_write_only", NO_WRITES | {"non-index-updates": 1}),
    "delete and insert": ("oltp_write_only", NO_WRITES | {"delete-inserts": 1}),
    "begin and commit": ("oltp_write_only", NO_WRITES),
    "oltp_read_write": ("oltp_read_write", {}),
    "oltp_write_only": ("oltp_write_only", {}),
}
FLAGS = ["--sync_binlog=0", "--commitd-idle-spin-microseconds=0"]  # looking for work would be counted as work
CONNECT = "connect, query, disconnect"
TABLE_ROWS = 10000


text_protocol = []


def sysbench(server, test, options, *action):
    command = ["sysbench", test, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", "--tables=1",
               f"--table-size={TABLE_ROWS}", "--rand-seed=1", *(f"--{name}={value}" for name, value in options.items()), *text_protocol, *action]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run(server, load, events):
    if load == CONNECT:
        subprocess.run(["mysqlslap", "--no-defaults", f"--socket={server.socket}", "--user=root", "--skip-ssl", "--query=SELECT 1", "--detach=1",
                        "--create-schema=sbtest", "--no-drop", "-i", "1", "-c", "1", f"--number-of-queries={events}"], check=True, stdout=subprocess.DEVNULL)
    else:
        sysbench(server, *LOADS[load], f"--events={events}", "--time=0", "--threads=1", "run")


def prepare(server, hot):
    subprocess.run(["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", "-e", "CREATE DATABASE sbtest"], check=True)
    sysbench(server, "oltp_read_write", {}, "prepare")
    if hot:
        run(server, "oltp_read_write", hot)


def executed(out):
    """Instructions and calls of malloc in the newest dump of callgrind."""
    profile = max(out.parent.glob(out.name + ".*"), key=lambda path: path.stat().st_mtime).read_text()
    instructions = int(re.search(r"^(?:summary|totals): (\d+)", profile, re.M).group(1))
    # Only where a name comes first it stands behind its number.
    numbers = set(re.findall(r"^c?fn=(\(\d+\)) (?:malloc|calloc|realloc|aligned_alloc|posix_memalign)$", profile, re.M))
    calls = re.findall(r"^cfn=(\(\d+\)).*\ncalls=(\d+)", profile, re.M)
    return instructions, sum(int(count) for callee, count in calls if callee in numbers)


def callgrind_control(*arguments):
    subprocess.run(["callgrind_control", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def instructions(load, events, hot, out):
    wrapper = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    with Commitd(*FLAGS, wrapper=wrapper) as server:
        prepare(server, hot)
        run(server, load, events // 10)  # statics, caches
        pid = str(server.process.pid)
        callgrind_control("-i", "on", pid)
        run(server, load, events)
        callgrind_control("-d", pid)
        time.sleep(1)
    return tuple(count / events for count in executed(out))


def system_calls(load, events, hot, out):
    with Commitd(*FLAGS) as server:
        prepare(server, hot)
        run(server, load, events // 10)
        tracer = subprocess.Popen(["strace", "-f", "-c", "-qq", "-o", str(out), "-p", str(server.process.pid)], stderr=subprocess.DEVNULL)
        time.sleep(1)
        run(server, load, events)
        tracer.terminate()
        tracer.wait()
    counted = collections.Counter()
    for line in out.read_text().splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
            counted[fields[-1]] += int(fields[3])
    return {name: count / events for name, count in counted.most_common() if count * 50 > events}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", nargs="*", metavar="STATEMENT", help=", ".join([*LOADS, CONNECT]))
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--hot", type=int, default=0, help="transactions before")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build" / "statement_cost",
                        help="where callgrind's profiles are left")
    parser.add_argument("--text", action="store_true", help="statements as texts, not prepared")
    parser.add_argument("--server", action="append", default=[], metavar="OPTION", help="of the server")
    options = parser.parse_args()
    FLAGS.extend(options.server)
    if options.text:
        text_protocol.append("--db-ps-mode=disable")
    options.out.mkdir(parents=True, exist_ok=True)
    print("| statement | instructions | allocations | system calls |\n|---|---:|---:|---|")
    for load in options.loads or [*LOADS, CONNECT]:
        name = re.sub(r"\W+", "-", load)
        events = max(100, options.events // (20 if load in ("oltp_read_write", "oltp_write_only") else 1))
        calls = system_calls(load, events, options.hot, options.out / f"{name}.strace")
        told = ", ".join(f"{call} {count:.2f}" for call, count in calls.items())
        count, allocations = instructions(load, events, options.hot, options.out / f"{name}.callgrind")
        print(f"| {load} | {count:.0f} | {allocations:.1f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
