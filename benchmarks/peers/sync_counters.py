"""The LD_PRELOAD library that counts and slows syncs (sync_shim.c): building it, the disks it can play, reading its counters."""

import os
import pathlib
import struct
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE.parents[1] / "build" / "peers" / "sync_shim.so"
BUCKETS = 256
LAYOUT = struct.Struct(f"={2 + BUCKETS}Q")


def build():
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", str(LIBRARY), str(HERE / "sync_shim.c")], check=True)


class Disk:
    """`native`, `+MS` (milliseconds added to every sync) or `N/s` (a disk of N syncs a second)."""

    def __init__(self, text):
        self.text = text
        self.settings = {}
        if text.startswith("+"):
            self.settings["SYNC_SHIM_DELAY_US"] = str(int(float(text[1:]) * 1000))
        elif text.endswith("/s"):
            self.settings["SYNC_SHIM_PER_SECOND"] = str(int(text[:-2]))
        elif text != "native":
            raise ValueError(f"'{text}' is no disk: native, +1 (ms per sync) or 150/s (syncs per second)")

    def environment(self, counters):
        return dict(self.settings, LD_PRELOAD=str(LIBRARY), SYNC_SHIM_FILE=str(counters))


def read(path):
    """syncs, and how many of them took how long."""
    values = LAYOUT.unpack(pathlib.Path(path).read_bytes()[:LAYOUT.size])
    return {"syncs": values[0], "sync_buckets": values[2:]}


def percentile_us(buckets, share):
    """The upper end of the bucket in which `share` of all syncs are reached, in µs."""
    wanted = sum(buckets) * share
    for index, count in enumerate(buckets):
        wanted -= count
        if wanted <= 0:
            octave, eighth = divmod(index + 1, 8)
            return (1 << octave) * (8 + eighth) / 8 / 1000
    return 0.0


def host_fdatasync_us(directory, rounds=400):
    """Sorted times of append + fdatasync in `directory`, without any shim."""
    path = os.path.join(directory, "fdatasync-probe")
    times = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(rounds):
            start = time.perf_counter()
            file.write(b"x" * 300)
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1e6)
    os.unlink(path)
    return sorted(times)
