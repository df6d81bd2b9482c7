"""Starts and stops real commitd processes for the tests beside this file."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

try:
    import pymysql
except ImportError:
    raise SystemExit(f"{sys.executable} has no PyMySQL: run this with /usr/bin/python3, after `make -C engine test-deps`") from None

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Programs that are not ours and not installed: .ci/test-servers.
os.environ["PATH"] = f"{ROOT}/build/servers/bin:{os.environ['PATH']}"
COMMITD = os.environ.get("COMMITD", str(ROOT / "build" / "bin" / "commitd"))
# A hang bound, not an expectation: a sanitizer build on a busy machine is slow.
START_SECONDS = 60


def first_lent_port():
    """From here on the kernel gives ports to whoever asks for any."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as limits:
        return int(limits.read().split()[0])


given_ports = set()


def own_ports():
    """Below those that the kernel may have lent to others; of these the part of this process, where run.py runs several."""
    below = max(first_lent_port(), 20000)  # lower than that, there are too few
    slot, slots = map(int, os.environ.get("COMMITD_TEST_SLOT", "0/1").split("/"))
    part = (below - 10000) // slots
    return range(10000 + slot * part, 10000 + (slot + 1) * part)


def free_port():
    """For a server that is started later: given once."""
    ports = own_ports()
    for _ in range(1000):
        port = random.choice(ports)
        if port not in given_ports and can_listen(port):
            given_ports.add(port)
            return port
    raise AssertionError(f"no port between {ports.start} and {ports.stop} is free on 127.0.0.1")


def can_listen(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def wait_until(condition, what, seconds=START_SECONDS, progress=lambda: None):
    """Polls until condition() is true; fails with `what` at the hang bound, which begins again whenever progress() has changed."""
    end, seen = time.monotonic() + seconds, progress()
    while True:
        value = condition()
        if value:
            return value
        if (now := progress()) != seen:
            end, seen = time.monotonic() + seconds, now
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}\n" + Commitd.last_words())
        time.sleep(0.02)


def code_of(call):
    """The error number, or None."""
    try:
        call()
    except pymysql.err.MySQLError as failure:
        return failure.args[0]
    return None


class Commitd:
    """One server on a datadir of its own. `with Commitd() as server:` starts, and kills at the end."""

    running = []  # for who waits in vain

    def __init__(self, *flags, datadir=None, wrapper=(), server_id=1, password_file=None):
        self.flags = list(flags)
        self.wrapper = list(wrapper)
        self.server_id = server_id
        self.directory = tempfile.mkdtemp(prefix="commitd-test-")
        self.datadir = datadir or os.path.join(self.directory, "data")
        self.socket = os.path.join(self.directory, "commitd.sock")
        self.port = free_port()
        self.http_port = free_port()
        self.log_path = os.path.join(self.directory, "log")
        self.operator_password_file = password_file
        self.process = None

    @classmethod
    def last_words(cls):
        return "\n".join(f"--- {server.datadir}\n{server.log_text()[-3000:]}" for server in cls.running)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def command(self):
        command = self.wrapper + [
            COMMITD,
            f"--datadir={self.datadir}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.socket}",
            f"--http-port={self.http_port}",
            "--admin-port=0",
            f"--server-id={self.server_id}",
        ]
        if self.operator_password_file:
            command.append(f"--operator-password-file={self.operator_password_file}")
        return command + self.flags

    def start(self, wait=True):
        environment = dict(os.environ, MYSQL_ALLOW_EMPTY_PASSWORD="yes")
        if self.process:
            self.log.close()
        if self not in Commitd.running:
            Commitd.running.append(self)
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(self.command(), stderr=self.log, stdout=self.log, env=environment)
        if wait:
            wait_until(self.answers, "commitd accepts connections:\n" + self.log_text())

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"commitd ended with {self.process.returncode}:\n{self.log_text()}")
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def kill(self):
        """kill -9, as a crash of the process."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process:
            self.log.close()
        if self in Commitd.running:
            Commitd.running.remove(self)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        wait_until(lambda: self.process.poll() is not None, "commitd ends when it is asked to")
        return self.process.returncode

    def log_text(self):
        with contextlib.suppress(OSError):
            return pathlib.Path(self.log_path).read_text(errors="replace")
        return ""

    def connect(self, user="root", password="", **options):
        options.setdefault("autocommit", True)
        return pymysql.connect(host="127.0.0.1", port=self.port, user=user, password=password, **options)

    def query(self, sql, user="root", password=""):
        """All rows of one statement on a connection of its own."""
        with contextlib.closing(self.connect(user, password)) as connection:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall()

    def client(self, program, *arguments, **options):
        """Runs one of the MySQL client programs against this server."""
        options.setdefault("timeout", 300)
        return subprocess.run(
            [program, "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={self.port}", "--user=root", *arguments],
            capture_output=True, text=True, **options)

    def metric(self, name):
        """One value of /metrics, summed over its labels."""
        import urllib.request
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/metrics", timeout=10) as reply:
            lines = reply.read().decode().splitlines()
        values = [float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name]
        if not values:
            raise AssertionError(f"/metrics has no {name}")
        return sum(values)

    def binlog_files(self):
        return sorted(str(path) for path in pathlib.Path(self.datadir).glob("binlog.[0-9]*"))
