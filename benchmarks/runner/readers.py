"""Readers of the log beside a load: seed 000's mysqlbinlog."""

import contextlib
import pathlib
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 30


FIRST_SERVER_ID = 60000


def command(server, file, number):
    """Seed 000's, but for how the server is reached, and with an id of its own: of two readers with the same id, the older one is sent away."""
    return ["mysqlbinlog", *server.login(), "--raw", "--read-from-remote-server", "--to-last-log", "--stop-never",
            f"--stop-never-slave-server-id={FIRST_SERVER_ID + number}", file]


def attached(server):
    return int(server.metrics().get("commitd_dump_sessions", 0))


@contextlib.contextmanager
def reading(server, count):
    """So many readers stream the log, each into a directory of its own, until the end of the block."""
    if count == 0:
        yield
        return
    file = server.sql("SHOW BINARY LOGS")[0][0]
    with tempfile.TemporaryDirectory(prefix="readers-") as directory:
        processes = [start(command(server, file, number), pathlib.Path(directory, str(number))) for number in range(count)]
        try:
            wait_until_attached(server, count, processes)
            yield
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


def start(reader, directory):
    directory.mkdir()
    return subprocess.Popen(reader, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until_attached(server, count, processes):
    end = time.monotonic() + PATIENCE_SECONDS
    while attached(server) < count:
        if time.monotonic() > end or any(process.poll() is not None for process in processes):
            raise RuntimeError(f"{server.name}: {attached(server)} of {count} readers of the log are there")
        time.sleep(0.05)
