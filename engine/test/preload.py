"""Libraries loaded in front of a server's C library: disks that fail, or that take their time."""

import contextlib
import os
import pathlib
import subprocess
import tempfile

from commitd_process import ROOT, Commitd

FAULTS = ROOT / "engine" / "test" / "disk_faults.c"
SLOW_SENDS = ROOT / "engine" / "test" / "slow_sends.c"
SLOW_SYNCS = ROOT / "benchmarks" / "peers" / "sync_shim.c"


def preload(source, directory, **environment):
    """The wrapper of a command that runs with the library built from `source`."""
    library = pathlib.Path(directory, source.stem + ".so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl", "-lpthread"], check=True)
    # A sanitizer's library wants to be the first one, and need not be: it does not know the calls that are replaced here.
    environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return ["env", f"LD_PRELOAD={library}", *(f"{name}={value}" for name, value in environment.items())]


@contextlib.contextmanager
def on_a_slow_disk(*flags, milliseconds=2):
    """A server whose every sync takes so long or more: commits meet at it, however fast the machine's disk is."""
    with tempfile.TemporaryDirectory() as directory:
        with Commitd(*flags, wrapper=preload(SLOW_SYNCS, directory, SYNC_SHIM_DELAY_US=milliseconds * 1000)) as server:
            yield server
