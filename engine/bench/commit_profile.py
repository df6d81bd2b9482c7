#!/usr/bin/python3
"""Where the time of one commit goes: server CPU µs of each part of its way, context switches, and how long transactions spend in the stages.

    commit_profile.py [--clients 100] [--seconds 5] [--load slap-write] [--relaxed]

Samples the server with perf (cpu-clock) while benchmarks/peers' load runs, and adds up the samples below the functions that stand for each part.
"""

import argparse
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

PEERS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS))

import loads  # noqa: E402
import servers  # noqa: E402
import sync_counters  # noqa: E402

# A part's samples are those with one of its functions on the stack; the first part that fits counts.
PARTS = (
    ("sessions woken", ("commitd::Parker::wake", "__GI___libc_write", "__libc_write")),
    ("waiting for and reading requests", ("epoll_wait", "__libc_recv")),
    ("sending answers", ("__libc_sendmsg",)),
    ("parsing", ("commitd::sql::parse_statement",)),
    ("executing (without commit)", ("commitd::sql::execute_insert", "commitd::sql::execute_update", "commitd::sql::execute_delete", "commitd::sql::run_select")),
    ("log: group built", ("commitd::binlog::CommitPipeline::Impl::fill_group",)),
    ("log: written", ("commitd::binlog::Log::append",)),
    ("log: synced", ("fdatasync",)),
    ("engine", ("commitd::binlog::EngineStage::apply",)),
    ("log and engine threads: waiting, bookkeeping", ("commitd::binlog::CommitPipeline::Impl::run_log_thread", "commitd::binlog::CommitPipeline::Impl::run_engine_thread")),
    ("sessions: protocol, transaction, locks", ("commitd::wire::Connection::serve_commands",)),
    ("reactor", ("commitd::Reactor::Impl::run",)),
)


def stacks(data):
    """The function names of each sample, from perf."""
    script = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], capture_output=True, text=True, check=True).stdout
    for sample in script.split("\n\n"):
        names = [re.sub(r"^\s*[0-9a-f]+ ", "", line) for line in sample.splitlines() if line.strip()]
        if names:
            yield names


def shares(data):
    samples = list(stacks(data))
    counts = {part: 0 for part, _ in PARTS}
    for names in samples:
        for part, functions in PARTS:
            if any(name.split("(")[0].startswith(function) for function in functions for name in names):
                counts[part] += 1
                break
    return {part: count / len(samples) for part, count in counts.items()}


def stage_seconds(port):
    """Seconds and number of transactions by stage, so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    found = re.findall(r'commitd_commit_stage_seconds_(sum|count)\{stage="(\w+)"\} (\S+)', text)
    return {(stage, kind): float(value) for kind, stage, value in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--load", default="slap-write")
    parser.add_argument("--relaxed", action="store_true")
    options = parser.parse_args()
    sync_counters.build()
    load = loads.load(options.load)
    with tempfile.TemporaryDirectory(prefix="profile-") as directory:
        with servers.Commitd("commitd", [], not options.relaxed, sync_counters.Disk("native"), directory) as server:
            load.prepare(server)
            load.run(server, options.clients, 1)
            data = f"{directory}/perf.data"
            before, stages_before = server.counts(), stage_seconds(server.port)
            perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-p", str(server.process.pid), "-o", data],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.3)
            operations, seconds = load.run(server, options.clients, options.seconds)
            after, stages = server.counts(), stage_seconds(server.port)
            perf.send_signal(signal.SIGINT)
            perf.wait()
            found = shares(data)
    cpu = (after["cpu_us"] - before["cpu_us"]) / operations
    print(f"{options.load}, {options.clients} clients: {operations / seconds:.0f} {load.unit}/s, server CPU {cpu:.1f} µs each, "
          f"{(after['context_switches'] - before['context_switches']) / operations:.2f} context switches, {(after['syncs'] - before['syncs']) / operations:.3f} syncs\n")
    print("| part | CPU µs each | share |\n|---|---:|---:|")
    for part, share in found.items():
        print(f"| {part} | {share * cpu:.2f} | {share:.0%} |")
    print(f"| everything else | {(1 - sum(found.values())) * cpu:.2f} | {1 - sum(found.values()):.0%} |\n")
    print("| stage | µs a transaction spends in it |\n|---|---:|")
    for stage, kind in sorted(stages):
        count = stages[stage, "count"] - stages_before.get((stage, "count"), 0)
        if kind == "sum" and count:
            print(f"| {stage} | {(stages[stage, 'sum'] - stages_before.get((stage, 'sum'), 0)) / count * 1e6:.1f} |")


if __name__ == "__main__":
    main()
