#!/usr/bin/python3
"""What a start costs behind a long log of which the engine has everything: a server writes so many MiB and is killed; then each of the programs starts on
that in turns. Prints medians of the seconds until it answers and of its processor time until then.

    engine/bench/start_cost.py                                          # 800 MiB, build/bin/commitd
    engine/bench/start_cost.py --log-mib 200 --build before=OLD/commitd --build after=NEW/commitd
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test"))
os.environ["PATH"] = f"{pathlib.Path(__file__).resolve().parents[2]}/build/servers/bin:{os.environ['PATH']}"
import commitd_process  # noqa: E402
from commitd_process import Commitd  # noqa: E402
from replay import cpu_seconds, tail_bytes  # noqa: E402

CLIENTS = 16
QUERIES = 50_000  # of one run of mysqlslap
FLAGS = ("--sync-binlog=0", "--max-binlog-size=1G")


def fill(server, wanted_bytes):
    while tail_bytes(server) < wanted_bytes:
        done = server.client("mysqlslap", f"--concurrency={CLIENTS}", f"--number-of-queries={QUERIES}", "--auto-generate-sql",
                             "--auto-generate-sql-load-type=write")
        if done.returncode != 0:
            raise SystemExit(done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log-mib", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", action="append", metavar="NAME=PROGRAM")
    options = parser.parse_args()
    builds = dict(build.split("=", 1) for build in options.build or [f"commitd={commitd_process.COMMITD}"])
    found = {name: [] for name in builds}
    commitd_process.COMMITD = next(iter(builds.values()))
    with Commitd(*FLAGS) as server:
        fill(server, options.log_mib << 20)
        server.terminate()  # so that nothing is to be replayed
        for _ in range(options.rounds):
            for name, program in builds.items():
                commitd_process.COMMITD = program
                begun = time.monotonic()
                server.start()
                found[name].append((time.monotonic() - begun, cpu_seconds(server.process)))
                server.kill()
        print(f"{tail_bytes(server) >> 20} MiB of log, {options.rounds} rounds")
    for name, rounds in found.items():
        seconds, processor = (statistics.median(figures) for figures in zip(*rounds, strict=True))
        print(f"{name}: {seconds:.2f} s until it answers, {processor:.2f} s of processor time")


if __name__ == "__main__":
    main()
