"""R14: a plugin that leaks is unloaded, and valgrind reports the leak. How many frames of the report have no name is what is counted."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))

import servers  # noqa: E402

LIBRARIES = servers.ROOT / "build" / "engine" / "release" / "src" / "plugins" / "testing"
PROBE = LIBRARIES / "unload_probe"
BUILD = ["cmake", "--build", str(servers.ROOT / "build" / "engine" / "release"), "--target", "unload_probe"]
# Of the one leak that the plugin makes on purpose.
STACK = re.compile(r"4,321 bytes in 1 blocks are definitely lost.*\n((?:==\d+== +(?:at|by) .*\n)+)")


def why_not():
    """Why there is no report here, or nothing."""
    if not shutil.which("valgrind"):
        return "there is no valgrind: make -C engine test-deps"
    if not PROBE.exists() and subprocess.run(BUILD, capture_output=True).returncode != 0:
        return "engine's unload_probe cannot be built here"
    return ""


def frames_without_name(report):
    stack, = STACK.findall(report)
    return stack.count(": ???")


class Probe:
    """As loads and records know a server: a program that loads the plugin, unloads it or not, and ends."""

    def __init__(self, variant):
        self.name = variant.name
        self.unload = variant.name
        self.unnamed = 0

    def report(self):
        command = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", str(PROBE), str(LIBRARIES), self.unload]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-1000:])
        self.unnamed += frames_without_name(done.stderr)

    def counts(self):
        return {"context_switches": 0, "syncs": 0, "sync_buckets": [], "cpu_us": 0, "groups": 0, "logged_bytes": 0}

    def metrics(self):
        return {"frames without a name": self.unnamed}

    def version(self):
        return subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()


class Report:
    """The load that is no load: one report in each round, however long that takes."""

    unit = "reports"

    def prepare(self, server):
        """There is nothing to prepare."""

    def run(self, server, clients, seconds):
        began = time.monotonic()
        server.report()
        return 1, time.monotonic() - began


@contextlib.contextmanager
def probe(variant):
    yield Probe(variant)
