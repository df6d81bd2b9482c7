#!/usr/bin/python3
"""A tour of the regressions on one server of this machine: each switch is flipped under load and back, while Prometheus watches.

    tour.py                 every switch that can be changed while the server runs, half a minute each
    tour.py R5 R9 --keep    these; Prometheus stays until the interrupt, for the dashboard

OUT (build/regressions) keeps Prometheus' data, results.json and the report. A switch that the server has not, or does not take, is named.
"""

import argparse
import contextlib
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
import report  # noqa: E402
import servers  # noqa: E402
import sync_counters  # noqa: E402

PROMETHEUS = servers.ROOT / "build" / "bin" / "prometheus"
PREVIEW = servers.ROOT / "build" / "preview" / "index.html"
CONFIG = """global: {{scrape_interval: 1s, evaluation_interval: 15s}}
rule_files: ['{rules}']
scrape_configs:
  - job_name: commitd
    static_configs: [{{targets: ['127.0.0.1:{port}'], labels: {{namespace: local, cluster: tour, instance: tour-0}}}}]
"""
MOST_READERS = 5
TURNS = 4  # of the default and of each legacy value, in turns


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--seconds", type=int, default=30, help="that each value is on, in all")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--out", default=str(servers.ROOT / "build" / "regressions"))
    options = parser.parse_args(argv)
    options.known = {id: s for id, s in catalogue.scenarios().items() if s.switch}
    for name in options.scenarios:
        if name not in options.known:
            parser.error(f"'{name}' is no regression: {', '.join(options.known)}")
    # What the record of a run says of it.
    options.disk, options.relaxed, options.build = "native", False, None
    return options


@contextlib.contextmanager
def watched(server, out):
    """Prometheus, which scrapes the server; gives its address."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "prometheus.yaml").write_text(CONFIG.format(port=server.port, rules=servers.ROOT / "dashboards" / "rules" / "*.yaml"))
    address = f"127.0.0.1:{servers.free_port()}"
    command = [str(PROMETHEUS), f"--config.file={out / 'prometheus.yaml'}", f"--storage.tsdb.path={out / 'prometheus'}", f"--web.listen-address={address}",
               "--web.enable-remote-write-receiver"]
    with open(out / "prometheus.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        await_ready(address, process, out)
        yield address
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
    def __init__(self, options, server):
        self.options, self.server = options, server
        self.results = record.Results(options.out)
        self.bench = bench.Bench(options)
        self.variables = {row[0] for row in server.sql("SHOW GLOBAL VARIABLES")}

    def skip(self, scenario, reason):
        self.bench.say(f"{scenario.id}: skipped: {reason}")
        self.results.skip(scenario.id, reason)

    def stop(self, scenario):
        """One switch: its values in turns, and the default again at the end, whatever happens."""
        if reason := self.why_not(scenario):
            self.skip(scenario, reason)
            return
        self.bench.say(f"{scenario.id}: {scenario.title}")
        try:
            with contextlib.ExitStack() as stack:
                stack.enter_context(readers.reading(self.server, *self.readers(scenario), scenario.acknowledgement_ms))
                rounds = self.turns(scenario, loads.load(scenario.load))
        finally:
            self.server.sql(f"SET GLOBAL {scenario.switch} = DEFAULT")
        cell = self.results.put(scenario, self.options.clients, self.readers(scenario), self.options, "operations", rounds, {"tour": self.server.version()})
        for line in record.summary(scenario, cell):
            self.bench.say(f"{scenario.id}:   {line}")

    @staticmethod
    def readers(scenario):
        count = min(scenario.readers[0], MOST_READERS)
        return count, min(scenario.semisync_readers[0], count)

    def turns(self, scenario, load):
        load.prepare(self.server)
        values = (scenario.fixed, *scenario.legacy)
        rounds = {value: [] for value in values}
        seconds = max(1, self.options.seconds // TURNS)
        load.run(self.server, self.options.clients, 1)
        for turn in range(TURNS):
            for value in values:
                self.server.sql(f"SET GLOBAL {scenario.switch} = '{value}'")
                rounds[value].append(record.one_round(self.server, load, self.options.clients, seconds, scenario.figures))
            self.bench.say(f"{scenario.id}: turn {turn + 1} of {TURNS}: " + ", ".join(f"{value} {r[-1]['rate']:.0f}/s" for value, r in rounds.items()))
        return rounds

    def why_not(self, scenario):
        if scenario.switch not in self.variables:
            return f"the server has no variable {scenario.switch}"
        if scenario.shown_by or not scenario.load:
            return "the catalogue has no load for it"
        try:
            for value in (*scenario.legacy, scenario.fixed):
                self.server.sql(f"SET GLOBAL {scenario.switch} = '{value}'")
        except RuntimeError as error:
            return f"it cannot be flipped on this server: {str(error).rpartition('ERROR ')[2]}"
        if scenario.replica:
            return f"it is a replica's: make bench SCENARIO={scenario.id}"
        if any("durability=xa" in option for option in scenario.options):
            return f"it shows with {scenario.options[-1]} only: make bench SCENARIO={scenario.id}"
        return ""


def main(argv=None):
    options = arguments(argv)
    out = pathlib.Path(options.out)
    sync_counters.build()
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="tour-"))
        # What the seeds' servers had: threads, and semisync's plugin installed.
        server = stack.enter_context(servers.Commitd("tour", ["--thread-handling=one-thread-per-connection"], True, sync_counters.Disk("native"), directory))
        address = stack.enter_context(watched(server, out))
        tour = Tour(options, server)
        tour.results.describe_host(sync_counters.host_fdatasync_us(directory), os.getloadavg()[0])
        with contextlib.suppress(RuntimeError):
            server.sql("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
        for name in options.scenarios or options.known:
            tour.stop(options.known[name])
        report.main(["--out", str(out)])
        print(f"dashboard: file://{PREVIEW}?prometheus=http://{address}&minutes=30 (make -C dashboards preview makes the page)", flush=True)
        if options.keep:
            print("Prometheus stays until you interrupt this.", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    time.sleep(3600)
    print(f"again, without a server: {PROMETHEUS} --config.file={out / 'prometheus.yaml'} --storage.tsdb.path={out / 'prometheus'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
