#!/usr/bin/python3
"""A tour of the regressions on servers of this machine: each switch is flipped under load and back, while Prometheus watches.

    tour.py                 every switch, half a minute for each of its values
    tour.py --short         the same, four seconds each: three minutes
    tour.py R5 R9 --keep    these; Prometheus stays until the interrupt, for the dashboard

The load is k6's where it has one (its figures go to Prometheus, too), and else the program of `make bench`. Most switches are flipped on one server;
those that need commitd_durability=xa on a second one, and R16's on a replica. OUT (build/regressions) keeps Prometheus' data, results.json and the report.
A switch that the servers have not, or do not take, is named.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import bench  # noqa: E402
import catalogue  # noqa: E402
import loads  # noqa: E402
import readers  # noqa: E402
import record  # noqa: E402
import replicas  # noqa: E402
import report  # noqa: E402
import servers  # noqa: E402
import sync_counters  # noqa: E402

PROMETHEUS = servers.ROOT / "build" / "bin" / "prometheus"
PREVIEW = servers.ROOT / "build" / "preview" / "index.html"
SCRAPE_SECONDS = 1
CONFIG = """global: {{scrape_interval: {scrape}s, evaluation_interval: 15s}}
rule_files: ['{rules}']
scrape_configs:
  - job_name: commitd
    file_sd_configs: [{{files: ['{targets}']}}]
"""
THREADS = "--thread-handling=one-thread-per-connection"
XA = "--commitd_durability=xa"
# So that there is garbage to purge within seconds; the default is seed 003's 300,000.
SOON = "SET GLOBAL commitd_purge_history_length = 1000"
SHORT_SECONDS = 4
MOST_READERS = 5
TURNS = 4  # of the default and of each legacy value, in turns


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--seconds", type=int, help="that each value is on, in all (30)")
    parser.add_argument("--short", action="store_true", help=f"{SHORT_SECONDS} seconds each")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--out", default=str(servers.ROOT / "build" / "regressions"))
    options = parser.parse_args(argv)
    options.seconds = options.seconds or (SHORT_SECONDS if options.short else 30)
    options.known = {id: s for id, s in catalogue.scenarios().items() if s.switch}
    for name in options.scenarios:
        if name not in options.known:
            parser.error(f"'{name}' is no regression: {', '.join(options.known)}")
    # What the record of a run says of it.
    options.disk, options.relaxed, options.build = "native", False, None
    return options


class Watch:
    """Prometheus, and which servers it scrapes."""

    def __init__(self, address, out):
        self.address, self.file, self.targets = address, out / "targets.json", []

    def add(self, server):
        labels = {"namespace": "local", "cluster": "tour", "instance": server.name}
        self.targets.append({"targets": [f"127.0.0.1:{server.port}"], "labels": labels})
        whole = self.file.with_suffix(".new")
        whole.write_text(json.dumps(self.targets))
        whole.replace(self.file)
        return server


@contextlib.contextmanager
def watched(out):
    """Prometheus, which scrapes whatever is added."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "targets.json").write_text("[]")
    (out / "prometheus.yaml").write_text(CONFIG.format(scrape=SCRAPE_SECONDS, targets=out / "targets.json", rules=servers.ROOT / "dashboards" / "rules" / "*.yaml"))
    address = f"127.0.0.1:{servers.free_port()}"
    command = [str(PROMETHEUS), f"--config.file={out / 'prometheus.yaml'}", f"--storage.tsdb.path={out / 'prometheus'}", f"--web.listen-address={address}",
               "--web.enable-remote-write-receiver"]
    with open(out / "prometheus.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        await_ready(address, process, out)
        yield Watch(address, out)
    finally:
        process.terminate()
        process.wait()


def await_ready(address, process, out):
    end = time.monotonic() + servers.START_SECONDS
    while True:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://{address}/-/ready", timeout=1)
            return
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError((out / "prometheus.log").read_text()[-1000:])
        time.sleep(0.1)


class Tour:
    def __init__(self, options, stack, watch, directory):
        self.options, self.stack, self.watch, self.directory = options, stack, watch, directory
        self.results = record.Results(options.out)
        self.bench = bench.Bench(options)
        self.started = {}
        self.variables = {row[0] for row in self.server("tour-0").sql("SHOW GLOBAL VARIABLES")}

    def server(self, name, *options):
        """What the seeds' servers had: threads, and semisync's plugin installed. Started when it is needed first."""
        if name not in self.started:
            made = servers.Commitd(name, [THREADS, *options], True, sync_counters.Disk("native"), self.directory)
            self.started[name] = self.watch.add(self.stack.enter_context(made))
            for statement in ("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'", SOON):
                with contextlib.suppress(RuntimeError):
                    made.sql(statement)
        return self.started[name]

    def pair(self, scenario):
        """A source and its replica, for the time of one stop."""
        make = lambda name, *rest: servers.Commitd(f"{scenario.id}-{name}", *rest)
        variant = catalogue.Variant("source", options=(THREADS, *scenario.options))
        return replicas.pair(make, variant, [THREADS], True, sync_counters.Disk("native"), pathlib.Path(self.directory, scenario.id))

    def skip(self, scenario, reason):
        self.bench.say(f"{scenario.id}: skipped: {reason}")
        self.results.skip(scenario.id, reason)

    def stop(self, scenario):
        """One switch: its values in turns, and the default again at the end, whatever happens."""
        if reason := self.why_not(scenario):
            self.skip(scenario, reason)
            return
        with contextlib.ExitStack() as stack:
            loaded, flipped = self.place(scenario, stack)
            if reason := self.flips(scenario, flipped):
                self.skip(scenario, reason)
                return
            self.bench.say(f"{scenario.id}: {scenario.title}")
            stack.callback(self.set_back, scenario, flipped)
            stack.enter_context(readers.reading(next(iter(loaded.values())), *self.readers(scenario), scenario.acknowledgement_ms))
            rounds = self.turns(scenario, loaded, flipped)
            versions = {"tour": next(iter(loaded.values())).version()}
        cell = self.results.put(scenario, self.options.clients, self.readers(scenario), self.options, "operations", rounds, versions)
        for line in record.summary(scenario, cell):
            self.bench.say(f"{scenario.id}:   {line}")

    def place(self, scenario, stack):
        """Which server is loaded for each value, and on which one the switch is flipped; no one where a value is a server's own."""
        values = (scenario.fixed, *scenario.legacy)
        if scenario.switch == "commitd_durability":
            return dict(zip(values, (self.server("tour-0"), self.server("tour-xa", XA)), strict=True)), None
        if scenario.replica:
            pair = stack.enter_context(self.pair(scenario))
            self.watch.add(pair.replica)
            return dict.fromkeys(values, pair), pair.replica
        server = self.server("tour-xa", XA) if XA in scenario.options else self.server("tour-0")
        return dict.fromkeys(values, server), server

    def why_not(self, scenario):
        if scenario.switch not in self.variables:
            return f"the server has no variable {scenario.switch}"
        if not scenario.load:
            return "the catalogue has no load for it"
        if scenario.load in (bench.LEAK_REPORT, bench.START):
            return f"no load shows it: make bench SCENARIO={scenario.id}"
        return ""

    @staticmethod
    def flips(scenario, flipped):
        """Why the values cannot be set, or nothing."""
        try:
            for value in (*scenario.legacy, scenario.fixed) if flipped else ():
                flipped.sql(f"SET GLOBAL {scenario.switch} = {literal(value)}")
        except RuntimeError as error:
            return f"it cannot be flipped on this server: {str(error).rpartition('ERROR ')[2]}"
        return ""

    @staticmethod
    def set_back(scenario, flipped):
        if flipped:
            flipped.sql(f"SET GLOBAL {scenario.switch} = DEFAULT")

    @staticmethod
    def readers(scenario):
        count = min(scenario.readers[0], MOST_READERS)
        return count, min(scenario.semisync_readers[0], count)

    def load(self, scenario):
        if scenario.load in catalogue.document()["loads"] and loads.K6_PROGRAM.exists():
            return loads.K6(scenario.load, f"http://{self.watch.address}/api/v1/write")
        return loads.load(scenario.load)

    def turns(self, scenario, loaded, flipped):
        load = self.load(scenario)
        rounds = {value: [] for value in loaded}
        seconds = max(1, self.options.seconds // TURNS)
        for server in {server.name: server for server in loaded.values()}.values():
            load.prepare(server)
            load.run(server, self.options.clients, 1)
        for turn in range(TURNS):
            for value, server in loaded.items():
                if flipped:
                    flipped.sql(f"SET GLOBAL {scenario.switch} = {literal(value)}")
                rounds[value].append(record.one_round(server, load, self.options.clients, seconds, scenario.figures))
            self.bench.say(f"{scenario.id}: turn {turn + 1} of {TURNS}: " + ", ".join(f"{value} {r[-1]['rate']:.0f}/s" for value, r in rounds.items()))
        return rounds


def preview(address):
    return f"file://{PREVIEW}?prometheus=http://{address}&scrape={SCRAPE_SECONDS}&dashboard=commitlab-regressions&minutes=30"


def literal(value):
    """A number is none in quotes."""
    return value if value.isdigit() else f"'{value}'"


def main(argv=None):
    options = arguments(argv)
    out = pathlib.Path(options.out)
    sync_counters.build()
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="tour-"))
        watch = stack.enter_context(watched(out))
        tour = Tour(options, stack, watch, directory)
        tour.results.describe_host(sync_counters.host_fdatasync_us(directory), os.getloadavg()[0])
        for name in options.scenarios or options.known:
            tour.stop(options.known[name])
        report.main(["--out", str(out)])
        print(f"dashboard: {preview(watch.address)} (make -C dashboards preview makes the page)", flush=True)
        if options.keep:
            print("Prometheus stays until you interrupt this.", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    time.sleep(3600)
    print(f"again, without a server: {PROMETHEUS} --config.file={out / 'prometheus.yaml'} --storage.tsdb.path={out / 'prometheus'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
