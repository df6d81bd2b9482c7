"""Readers of the log beside a load: seed 000's mysqlbinlog, and readers that acknowledge by semisync, of which the seed had some, too."""

import contextlib
import pathlib
import subprocess
import tempfile
import time

from semisync_reader import NEVER

PATIENCE_SECONDS = 30


FIRST_SERVER_ID = 60000


def command(server, file, number):
    """Seed 000's, but for how the server is reached, and with an id of its own: of two readers with the same id, the older one is sent away."""
    return ["mysqlbinlog", *server.login(), "--raw", "--read-from-remote-server", "--to-last-log", "--stop-never",
            f"--stop-never-slave-server-id={FIRST_SERVER_ID + number}", file]


def semisync_command(server, file, number, late_ms=0):
    return ["/usr/bin/python3", str(pathlib.Path(__file__).with_name("semisync_reader.py")), server.socket, str(FIRST_SERVER_ID + number), file, str(late_ms)]


@contextlib.contextmanager
def reading(server, count, semisync=0, late_ms=0):
    """So many readers stream the log, each into a directory of its own, until the end of the block; commits wait for one of the `semisync` first ones,
    which acknowledge `late_ms` behind what they read. Where acknowledgements are late the others are of the same program, so that they cost the machine
    the same."""
    if count == 0:
        yield
        return
    # From a file of its own on: what was logged before would be read, and counted, beside the load.
    server.sql("FLUSH BINARY LOGS")
    file = server.sql("SHOW BINARY LOGS")[-1][0]
    others = (lambda number: semisync_command(server, file, number, NEVER)) if late_ms else (lambda number: command(server, file, number))
    commands = [semisync_command(server, file, number, late_ms) if number < semisync else others(number) for number in range(count)]
    with tempfile.TemporaryDirectory(prefix="readers-") as directory:
        processes = [start(reader, pathlib.Path(directory, str(number))) for number, reader in enumerate(commands)]
        try:
            wait_until_attached(server, count, processes)
            with acknowledged(server) if semisync else contextlib.nullcontext():
                yield
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


@contextlib.contextmanager
def acknowledged(server):
    server.sql(f"SET GLOBAL {server.SEMISYNC} = ON")
    before = server.commits_without_acknowledgement()
    try:
        yield
        without = server.commits_without_acknowledgement() - before
        if without:
            raise RuntimeError(f"{server.name}: {without:.0f} commits did not wait for an acknowledgement")
    finally:
        server.sql(f"SET GLOBAL {server.SEMISYNC} = OFF")


def start(reader, directory):
    directory.mkdir()
    return subprocess.Popen(reader, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until_attached(server, count, processes):
    end = time.monotonic() + PATIENCE_SECONDS
    while (attached := server.readers_of_the_log()) < count:
        if time.monotonic() > end or any(process.poll() is not None for process in processes):
            raise RuntimeError(f"{server.name}: {attached} of {count} readers of the log are there")
        time.sleep(0.05)
