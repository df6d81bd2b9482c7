#!/usr/bin/python3
"""Runs scenarios of the catalogue on processes of this machine: the servers that a scenario compares are loaded in turns (A B A B …).

    bench.py                        every scenario, short
    bench.py R5 R9                  these, short
    bench.py --full R9              with all numbers of clients and readers of the catalogue
    bench.py --build a=PATH --build b=PATH [--tries 10] R5     two builds with everything at its default; exit status 1 if they differ
    bench.py --list

Every run adds to OUT/results.json. A scenario whose switch the server does not have is named and skipped. `make report` shows what was found.
"""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import catalogue  # noqa: E402
import judge  # noqa: E402
import leaks  # noqa: E402
import loads  # noqa: E402
import readers as log_readers  # noqa: E402
import record  # noqa: E402
import replicas  # noqa: E402
import servers  # noqa: E402
import starts  # noqa: E402
import sync_counters  # noqa: E402

LEAK_REPORT = "leak-report"
START = "start"
BUILDS_DIFFER = {"cpu_us": 1.15, "context_switches": 1.3, "syncs": 1.15, "logged_bytes": 1.02}


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--rounds", type=int, help="of each server (5; 8 for two builds); two can prove nothing, six nothing of builds")
    parser.add_argument("--seconds", type=int, default=2, help="of one round")
    parser.add_argument("--disk", default="native", help="native, +MS or N/s")
    parser.add_argument("--relaxed", action="store_true")
    parser.add_argument("--build", action="append", metavar="NAME=PROGRAM")
    parser.add_argument("--tries", type=int, default=1)
    parser.add_argument("--out", default=str(servers.ROOT / "build" / "bench"))
    options = parser.parse_args(argv)
    options.rounds = options.rounds or (8 if options.build else 5)
    options.known = catalogue.scenarios()
    for name in options.scenarios:
        if name not in options.known:
            parser.error(f"'{name}' is no scenario: {', '.join(options.known)}")
    if options.build and len(options.build) != 2:
        parser.error("two builds are compared: --build NAME=PROGRAM --build NAME=PROGRAM")
    return options


def load_of(scenario, full):
    if scenario.load == LEAK_REPORT:
        return leaks.Report()
    if scenario.load == START:
        return starts.Start(starts.FULL if full else starts.TRANSACTIONS)
    return loads.load(scenario.load)


def planned_seconds(scenarios, options):
    """Of loading, without the starts of servers: what a person waits for."""
    total = 0
    for scenario in scenarios:
        if scenario.load:
            total += len(scenario.cells(not options.full)) * len(variants(scenario, options)) * (1 + options.rounds * options.seconds)
    return total


def variants(scenario, options):
    if not options.build:
        return scenario.variants()
    return [catalogue.Variant(name, f"commitd@{program}", scenario.options) for name, program in (build.split("=", 1) for build in options.build)]


class Bench:
    def __init__(self, options):
        self.options = options
        self.disk = sync_counters.Disk(options.disk)
        self.results = record.Results(options.out)
        self.scratch = tempfile.TemporaryDirectory(prefix="bench-")
        self.directory = self.scratch.name
        self.durable = not options.relaxed
        self.began = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.0f} s  {text}", flush=True)

    @contextlib.contextmanager
    def server(self, variant):
        make = servers.maker(variant.kind)
        with make(variant.name, list(variant.options), self.durable, self.disk, self.directory) as server:
            yield server

    @contextlib.contextmanager
    def starting(self, variant):
        with self.server(variant) as server:
            yield starts.Starting(server)

    def compared(self, scenario, variant):
        if scenario.load == LEAK_REPORT:
            return leaks.probe(variant)
        if scenario.load == START:
            return self.starting(variant)
        if not scenario.replica:
            return self.server(variant)
        return replicas.pair(servers.maker(variant.kind), variant, scenario.options, self.durable, self.disk, self.directory)

    def why_not(self, scenario):
        """Why a scenario cannot run here, or nothing."""
        if scenario.load == LEAK_REPORT and (reason := leaks.why_not()):
            return reason
        if scenario.switch and not self.has_variable(scenario.switch):
            return f"the server has no variable {scenario.switch}"
        if not scenario.load:
            return f"the server has {scenario.switch}, and the catalogue no load for it yet"
        return ""

    def has_variable(self, name):
        if not hasattr(self, "variables"):
            with self.server(catalogue.Variant("asked")) as server:
                self.variables = {row[0] for row in server.sql("SHOW GLOBAL VARIABLES")}
        return name in self.variables

    def run(self, scenario):
        reason = "" if self.options.build else self.why_not(scenario)
        if reason:
            self.say(f"{scenario.id}: skipped: {reason}")
            self.results.skip(scenario.id, reason)
            return []
        self.say(f"{scenario.id}: {scenario.title}")
        with contextlib.ExitStack() as stack:
            running = [stack.enter_context(self.compared(scenario, variant)) for variant in variants(scenario, self.options)]
            load = load_of(scenario, self.options.full)
            for server in running:
                load.prepare(server)
                for statement in scenario.prepare:
                    server.sql(statement)
            return [self.cell(scenario, load, running, *cell) for cell in scenario.cells(not self.options.full)]

    def cell(self, scenario, load, running, clients, readers, semisync):
        rounds = {server.name: [] for server in running}
        with contextlib.ExitStack() as stack:
            for server in running:
                stack.enter_context(log_readers.reading(server, readers, semisync, scenario.acknowledgement_ms))
                load.run(server, clients, 1)  # the first round of a server is not like the others
            for number in range(self.options.rounds):
                for server in running:
                    rounds[server.name].append(record.one_round(server, load, clients, self.options.seconds, scenario.figures))
                self.say(f"{scenario.id}: {clients} clients, {readers} readers ({semisync} semisync), round {number + 1} of {self.options.rounds}: "
                         + ", ".join(f"{name} {r[-1]['rate']:.0f}/s" for name, r in rounds.items()))
        cell = self.results.put(scenario, clients, (readers, semisync), self.options, load.unit, rounds, {s.name: s.version() for s in running})
        for line in record.summary(scenario, cell):
            self.say(f"{scenario.id}:   {line}")
        return cell


def compare_builds(bench, scenario):
    """Names of figures in which the two builds differ, over all tries."""
    flagged = []
    for number in range(bench.options.tries):
        for cell in bench.run(scenario):
            first, second = cell["rounds"].values()
            found = {}
            for figure, by in BUILDS_DIFFER.items():
                found[figure] = judge.differ([r[figure] for r in first], [r[figure] for r in second], by)
            bad = [f"{figure} ({j.text()})" for figure, j in found.items() if j.flagged]
            bench.say(f"try {number + 1}: {'differ in ' + ', '.join(bad) if bad else 'no difference'}")
            flagged += bad
    return flagged


def main(argv=None):
    options = arguments(argv)
    if options.list:
        for scenario in options.known.values():
            print(f"{scenario.id:24} {scenario.title}")
        return 0
    sync_counters.build()
    bench = Bench(options)
    bench.results.describe_host(sync_counters.host_fdatasync_us(bench.directory), os.getloadavg()[0])
    chosen = [options.known[name] for name in options.scenarios or options.known]
    if options.build:
        return 1 if [flag for scenario in chosen for flag in compare_builds(bench, scenario)] else 0
    bench.say(f"{len(chosen)} scenarios, {planned_seconds(chosen, options) / 60:.0f} minutes of loads planned")
    for scenario in chosen:
        bench.run(scenario)
    cells = [cell for cell in bench.results.cells if cell["judgement"]]
    bench.say(f"{sum(c['judgement']['flagged'] for c in cells)} of {len(cells)} judged cells show their regression; "
              f"{len(bench.results.skipped)} scenarios skipped: {', '.join(bench.results.skipped) or 'none'}; {bench.results.path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
