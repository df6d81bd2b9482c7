#!/usr/bin/python3
"""Runs the same loads against commitd and MariaDB in turns (A B A B …) and reports medians and ratios. It asserts nothing about time.

    compare.py slap-write oltp_write_only --clients 1,16,100            durable: sync_binlog=1, flush_log_at_trx_commit=1
    compare.py oltp_point_select connect --relaxed --clients 16,100     sync_binlog=0, flush_log_at_trx_commit=2
    compare.py slap-write --disk +1                                     1 ms added to every sync of both servers; 150/s: so many syncs a second
    compare.py slap-write --server commitd --server xa=commitd,--commitd_durability=xa --clients 1,2,4,8,16,32,64
    compare.py oltp_point_select connect --relaxed --server commitd --server mariadb --server ceiling   what no server can exceed
    compare.py slap-write --server commitd --server before=commitd@../before/build/bin/commitd --server mariadb   two builds in one run
    compare.py --memory 1000                                            peak memory with so many connections

Every run adds to OUT/results.json and writes OUT/report.md and a plot for each load that was measured at several numbers of clients.
"""

import argparse
import contextlib
import os
import pathlib
import platform
import sys
import tempfile
import time

import loads
import results as results_module
import servers
import sync_counters


def parse_server(text):
    """NAME, or NAME=KIND,--option,--option."""
    first, *options = text.split(",")
    name, _, kind = first.rpartition("=")
    name = name or kind
    try:
        servers.maker(kind)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name, kind, options


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loads", nargs="*", metavar="LOAD", help="slap-write, connect, or a test of sysbench")
    parser.add_argument("--server", action="append", type=parse_server, help="NAME or NAME=KIND,--option,… (default: commitd and mariadb)")
    parser.add_argument("--baseline", default="mariadb", help="what ratios refer to")
    parser.add_argument("--clients", default="1,16,100", help="numbers of clients")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of one round")
    parser.add_argument("--disk", default="native", help="native, +MS or N/s")
    parser.add_argument("--relaxed", action="store_true")
    parser.add_argument("--memory", type=int, metavar="CONNECTIONS")
    parser.add_argument("--out", default=str(servers.ROOT / "build" / "peers"))
    parser.add_argument("--directory", help="where the data directories are made (default: a temporary one)")
    return parser.parse_args()


def one_round(server, load, clients, seconds):
    before = server.counts()
    operations, took = load.run(server, clients, seconds)
    return results_module.of_round(operations, took, before, server.counts())


def compare(running, load_name, options, found):
    load = loads.load(load_name)
    for server in running:
        load.prepare(server)
    for clients in [int(n) for n in options.clients.split(",")]:
        rounds = {server.name: [] for server in running}
        for _ in range(options.rounds):
            for server in running:
                rounds[server.name].append(one_round(server, load, clients, options.seconds))
        for server in running:
            case = {"load": load_name, "disk": options.disk, "durable": not options.relaxed, "clients": clients, "server": server.name}
            found.put(case, load.unit, rounds[server.name])
            print(f"{load_name} {clients} clients, {server.name}: {found.find(**case)[0]['median']['rate']:.0f} {load.unit}/s", flush=True)


def memory(server, connections):
    import pymysql
    with contextlib.ExitStack() as stack:
        before = server.peak_memory_bytes()
        for _ in range(connections):
            connection = stack.enter_context(contextlib.closing(pymysql.connect(unix_socket=server.socket, user="root")))
            connection.cursor().execute("SELECT 1")
        return before, server.peak_memory_bytes()


def report(options, found, host, notes):
    lines = [f"Host: {platform.system()} {platform.release()}, {len(os.sched_getaffinity(0))} cores; append + fdatasync of 300 bytes, "
             f"p50 {host[len(host) // 2]:.0f} µs, p99 {host[len(host) * 99 // 100]:.0f} µs", "", *notes, "",
             results_module.table(found, options.baseline)]
    text = "\n".join(lines)
    out = pathlib.Path(options.out)
    (out / "report.md").write_text(text)
    print("\n" + text)
    for path in results_module.plot(found, out):
        print(f"plot: {path}")


def main():
    options = arguments()
    sync_counters.build()
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    found = results_module.Results(options.out)
    chosen = options.server or [parse_server("commitd"), parse_server("mariadb")]
    disk = sync_counters.Disk(options.disk)
    notes = [f"Measured {time.strftime('%Y-%m-%d %H:%M')} UTC: `{' '.join(sys.argv[1:])}`"]
    with tempfile.TemporaryDirectory(prefix="peers-", dir=options.directory) as directory, contextlib.ExitStack() as stack:
        host = sync_counters.host_fdatasync_us(directory)
        running = [stack.enter_context(servers.maker(kind)(name, extra, not options.relaxed, disk, directory)) for name, kind, extra in chosen]
        notes += [f"{server.name}: {server.version()}" for server in running]
        for load_name in options.loads:
            compare(running, load_name, options, found)
        if options.memory:
            for server in running:
                before, peak = memory(server, options.memory)
                notes.append(f"{server.name}: peak memory {before / 2**20:.0f} MiB, with {options.memory} connections {peak / 2**20:.0f} MiB")
    report(options, found, host, notes)


if __name__ == "__main__":
    main()
