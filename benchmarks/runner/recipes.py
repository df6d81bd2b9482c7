#!/usr/bin/python3
"""Runs the seeds' own command lines against commitd as they stand there; with the host's name replaced, a port behind it, and, without --full, fewer queries.

    recipes.py [--full] [NAME…]         see "recipes" in scenarios/catalogue.json

What the server does not take is said in its own words, and the recipe is skipped by name.
"""

import argparse
import concurrent.futures
import contextlib
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

import catalogue  # noqa: E402
import readers  # noqa: E402
import servers  # noqa: E402
import sync_counters  # noqa: E402

SHORT_QUERIES = 20000
STUCK_SECONDS = 120


def command_line(recipe, full):
    text = recipe.replace("master_host", "127.0.0.1")
    return shlex.split(text if full else re.sub(r"--number-of-queries=\d+", f"--number-of-queries={SHORT_QUERIES}", text))


class Source:
    """A server that is reached by TCP, as in the recipes."""

    def __init__(self, name, options, directory):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.tcp_port = probe.getsockname()[1]
        number = 1 if name == "source" else 2
        self.server = servers.Commitd(name, [f"--port={self.tcp_port}", f"--server-id={number}", *options], True, sync_counters.Disk("native"), directory)

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *arguments):
        self.server.__exit__(*arguments)

    def run(self, words):
        began = time.monotonic()
        done = subprocess.run([*words, f"--port={self.tcp_port}"], capture_output=True, text=True)
        if done.returncode != 0 or "Error" in done.stderr:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
        return time.monotonic() - began

    @contextlib.contextmanager
    def background(self, words, count, directory):
        """mysqlbinlog, with one option more: since 8.0 a reader sends away another that has the same id."""
        processes = []
        try:
            for number in range(count):
                own = pathlib.Path(directory, f"reader-{number}")
                processes.append(readers.start([*words, f"--port={self.tcp_port}", f"--stop-never-slave-server-id={readers.FIRST_SERVER_ID + number}"], own))
            readers.wait_until_attached(self.server, count, processes)
            yield
        finally:
            for process in processes:
                process.terminate()
                process.wait()


def follow(replica, source):
    replica.server.sql(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.tcp_port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1; START REPLICA")


def wait_until_applied(replica, source):
    """However long that takes, as long as it goes on."""
    wanted = source.server.sql("SELECT @@GLOBAL.gtid_executed")[0][0]
    seen, since = None, time.monotonic()
    while replica.server.sql(f"SELECT GTID_SUBSET('{wanted}', @@GLOBAL.gtid_executed)")[0][0] != "1":
        if (executed := replica.server.sql("SELECT @@GLOBAL.gtid_executed")[0][0]) != seen:
            seen, since = executed, time.monotonic()
        if time.monotonic() - since > STUCK_SECONDS:
            raise RuntimeError(f"the replica has not gone on for {STUCK_SECONDS} s")
        time.sleep(0.2)


def look_at(replica, source, recipe):
    """What the seed looked at on the replica; then it is started again."""
    wait_until_applied(replica, source)
    metrics = replica.server.metrics()
    for title, name in recipe.get("figures", {}).items():
        print(f"  replica: {title}: {metrics.get(name, 0):g}", flush=True)
    for statement in recipe.get("looks", []):
        print(f"  replica: {statement}\n    {replica.server.sql(statement)[0]}", flush=True)
    if recipe.get("restart"):
        began = time.monotonic()
        replica.server.restart()
        print(f"  replica: started again in {time.monotonic() - began:.1f} s, {replica.server.metrics()['commitd_gtid_executed_load_seconds']:.3f} s of that to "
              "read gtid_executed", flush=True)
        wait_until_applied(replica, source)


def timed(source, recipe, full):
    lines = recipe.get("foreground", [])
    lines = [lines] if isinstance(lines, str) else lines
    commands = [command_line(line, full) for line in lines]
    with concurrent.futures.ThreadPoolExecutor(len(lines) if recipe.get("at_once") else 1) as at_once:
        times = list(at_once.map(source.run, commands))
    for line, words, took in zip(lines, commands, times):
        queries = int(next(w for w in words if w.startswith("--number-of-queries=")).partition("=")[2])
        print(f"  {line}\n    {took:.1f} s, {queries / took:.0f} queries per second{'' if full else f' ({queries} of them)'}", flush=True)


def run(recipe, full, more_options):
    with tempfile.TemporaryDirectory(prefix="recipe-") as directory, contextlib.ExitStack() as stack:
        source = stack.enter_context(Source("source", [], directory))
        if "replica" in recipe:
            replica = stack.enter_context(Source("replica", [*recipe.get("options", []), *more_options], directory))
            for statement in recipe["replica"]:
                replica.server.sql(statement)
            follow(replica, source)
        for statement in recipe.get("source", []):
            source.server.sql(statement)
        if "background" in recipe:
            words = command_line(recipe["background"], full)
            words[-1] = source.server.sql("SHOW BINARY LOGS")[0][0]
            stack.enter_context(source.background(words, recipe["readers"], directory))
        timed(source, recipe, full)
        if "replica" in recipe:
            look_at(replica, source, recipe)
        for statement in recipe.get("between", []):
            source.server.sql(statement)
            print(f"  {statement}", flush=True)
            timed(source, recipe, full)


def main(argv=None):
    known = catalogue.document()["recipes"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--full", action="store_true", help="as many queries as the seed has")
    options = parser.parse_args(argv)
    if unknown := set(options.recipes) - set(known):
        parser.error(f"'{unknown.pop()}' is no recipe: {', '.join(known)}")
    sync_counters.build()
    for name in options.recipes or known:
        print(f"{name}: {known[name]['what']}", flush=True)
        try:
            for more in known[name].get("variants", [[]]):
                if more:
                    print(f"  with {' '.join(more)}", flush=True)
                run(known[name], options.full, more)
        except RuntimeError as error:
            print(f"{name}: skipped: the server says: {error}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
