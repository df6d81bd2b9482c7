"""The servers under comparison, each a process of its own on a fresh data directory, reached by unix socket."""

import contextlib
import functools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import sync_counters

ROOT = pathlib.Path(__file__).resolve().parents[2]
# MariaDB is unpacked, not installed: .ci/test-servers.
os.environ["PATH"] = f"{ROOT}/build/servers/bin:{os.environ['PATH']}"
COMMITD = os.environ.get("COMMITD", str(ROOT / "build" / "bin" / "commitd"))
START_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """What both kinds have in common: the process, and what the kernel and the sync shim know of it."""

    def __init__(self, name, options, durable, disk, directory):
        self.name = name
        self.options = list(options)
        self.durable = durable
        self.directory = pathlib.Path(directory) / name
        self.datadir = self.directory / "data"
        self.socket = str(self.directory / "socket")
        self.environment = dict(os.environ, MYSQL_ALLOW_EMPTY_PASSWORD="yes", **disk.environment(self.directory / "syncs"))
        self.process = None

    def __enter__(self):
        self.directory.mkdir(parents=True)
        self.log = open(self.directory / "log", "wb")
        self.prepare()
        self.start()
        return self

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.environment)
        self.wait_for_socket()

    def restart(self):
        self.stop()
        self.start()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.stop()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def wait_for_socket(self):
        end = time.monotonic() + START_SECONDS
        while True:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.name} did not start:\n{(self.directory / 'log').read_text(errors='replace')[-2000:]}")
            if subprocess.run(["mariadb-admin", *self.login(), "ping"], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)

    def login(self):
        """Plain for both: MariaDB's clients encrypt even over a unix socket when the server offers it, and commitd does without being asked, MariaDB does not."""
        return ["--no-defaults", f"--socket={self.socket}", "--user=root", "--skip-ssl"]

    def sql(self, statement):
        """Rows of one statement as lists of texts."""
        done = subprocess.run(["mariadb", *self.login(), "-N", "-B", "-e", statement], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {statement}: {done.stderr.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def version(self):
        return self.sql("SELECT VERSION()")[0][0]

    def prepare(self):
        """Makes the data directory where the server does not do so itself."""

    def counts(self):
        """Everything that is counted, as a dictionary of numbers that only grow."""
        counted = {"cpu_us": self.cpu_us(), "context_switches": self.context_switches()}
        counted.update(sync_counters.read(self.directory / "syncs"))
        counted.update(self.own_counts())
        return counted

    def cpu_us(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000 // os.sysconf("SC_CLK_TCK")

    def context_switches(self):
        """Of the threads that live: both servers keep theirs from one run to the next."""
        total = 0
        for status in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/status"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a connection's thread ends when it likes
                total += sum(int(line.split()[1]) for line in status.read_text().splitlines() if "ctxt_switches" in line)
        return total

    def peak_memory_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("no VmHWM")


def parse_metrics(text):
    values = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        series, value = line.rsplit(" ", 1)
        values[series] = float(value)
        if "{" in series:
            name = series.partition("{")[0]
            values[name] = values.get(name, 0) + float(value)
    return values


class Commitd(Server):
    SEMISYNC = "rpl_semi_sync_source_enabled"

    def __init__(self, *arguments, program=COMMITD):
        super().__init__(*arguments)
        self.program = program

    def command(self):
        self.port, self.tcp_port = free_port(), free_port()
        return [self.program, f"--datadir={self.datadir}", f"--port={self.tcp_port}", "--admin-port=0", f"--socket={self.socket}", f"--http-port={self.port}",
                "--max-connections=3000", f"--sync_binlog={1 if self.durable else 0}", *self.options]

    def metrics(self):
        """Every series by its full name, and the sum of all series that differ in their labels only by the name without labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as reply:
            return parse_metrics(reply.read().decode())

    def own_counts(self):
        values = self.metrics()
        return {"groups": values.get("commitd_commit_groups_total", 0), "logged_bytes": values.get("commitd_binlog_bytes_written_total", 0)}

    def readers_of_the_log(self):
        return int(self.metrics().get("commitd_dump_sessions", 0))

    def commits_without_acknowledgement(self):
        return self.metrics()["commitd_semisync_no_tx_total"]


class MariaDb(Server):
    SEMISYNC = "rpl_semi_sync_master_enabled"

    def prepare(self):
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={self.datadir}", "--auth-root-authentication-method=normal",
                        "--skip-test-db"], check=True, stdout=self.log, stderr=self.log)

    def command(self):
        durable = 1 if self.durable else 0
        return ["mariadbd", "--no-defaults", "--user=root", f"--datadir={self.datadir}", f"--socket={self.socket}", "--skip-networking",
                "--log-bin", "--binlog-format=ROW", "--binlog-checksum=CRC32", f"--sync-binlog={durable}", f"--innodb-flush-log-at-trx-commit={1 if durable else 2}",
                "--max-connections=3000", "--thread-cache-size=3000", "--back-log=3000", "--innodb-buffer-pool-size=512M",
                "--innodb-log-file-size=512M", "--skip-name-resolve", *self.options]

    def own_counts(self):
        wanted = ("Binlog_bytes_written", "Innodb_os_log_written", "Binlog_group_commits")
        status = self.status(*wanted)
        return {"groups": status["binlog_group_commits"], "logged_bytes": status["binlog_bytes_written"] + status["innodb_os_log_written"]}

    def status(self, *wanted):
        rows = self.sql("SHOW GLOBAL STATUS WHERE Variable_name IN ('%s')" % "','".join(wanted))
        return {name.lower(): float(value) for name, value in rows}

    def readers_of_the_log(self):
        return int(self.sql("SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump'")[0][0])

    def commits_without_acknowledgement(self):
        return self.status("Rpl_semi_sync_master_no_tx")["rpl_semi_sync_master_no_tx"]


class Ceiling(Server):
    """No server at all: fixed answers (engine/bench/protocol_ceiling.cc), to see what the clients and the kernel leave to a server."""

    BUILD = ROOT / "build" / "engine" / "release"

    def prepare(self):
        subprocess.run(["cmake", "--build", str(self.BUILD), "--target", "protocol_ceiling"], check=True, stdout=self.log, stderr=self.log)

    def command(self):
        return [str(self.BUILD / "bench" / "protocol_ceiling"), self.socket, *self.options]

    def version(self):
        return "fixed answers"

    def own_counts(self):
        return {"groups": 0, "logged_bytes": 0}


KINDS = {"commitd": Commitd, "mariadb": MariaDb, "ceiling": Ceiling}


def maker(kind):
    """Of one of KINDS, or of commitd@PROGRAM: another build of ours."""
    name, _, program = kind.partition("@")
    if name not in KINDS or (program and name != "commitd"):
        raise ValueError(f"'{kind}' is no kind of server: {', '.join(KINDS)}, commitd@PROGRAM")
    return functools.partial(Commitd, program=program) if program else KINDS[name]
