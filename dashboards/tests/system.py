"""Real programs for the query tests: a semisync pair of commitd, Prometheus that scrapes it, k6 that loads it."""

import http.server
import json
import re
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.error import HTTPError

import pymysql
import yaml

from .test_lint import OPERATOR_METRICS

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
SCENARIOS = ROOT / "benchmarks" / "scenarios"
OPERATOR_PASSWORD = "operator"
PATIENCE_SECONDS = 60
FAULT_IN_SECONDS = 5


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what: str, condition, patience: float = PATIENCE_SECONDS):
    """Polls until the condition returns something true; errors while it does not answer are not failures yet."""
    deadline = time.monotonic() + patience
    last = None
    while time.monotonic() < deadline:
        try:
            if result := condition():
                return result
        except (OSError, pymysql.Error) as error:
            last = error
        time.sleep(0.1)
    raise TimeoutError(f"{what} did not happen within {patience:.0f} s; last error: {last}")


class Program(AbstractContextManager):
    """A child process that writes into a log file and ends with the test."""

    def __init__(self, directory: Path, *command: str | Path, env: dict | None = None):
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.log = directory / "log"
        if not Path(command[0]).exists():
            raise FileNotFoundError(f"{command[0]} is missing: make test builds it, or run make -C engine build / make -C benchmarks build")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, env=env)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def alive(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"{self.directory.name} ended with {self.process.returncode}:\n{self.log.read_text()[-4000:]}")
        return True


class Commitd(Program):
    def __init__(self, directory: Path, server_id: int):
        self.port, self.http = free_port(), free_port()
        directory.mkdir(parents=True)
        secret = directory / "operator-password"
        secret.write_text(OPERATOR_PASSWORD)
        super().__init__(
            directory,
            BIN / "commitd",
            f"--datadir={directory / 'data'}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={directory / 'socket'}",
            "--admin-port=0",
            f"--http-port={self.http}",
            "--http-address=127.0.0.1",
            f"--server-id={server_id}",
            "--require-bootstrap",
            f"--operator-password-file={secret}",
            env={"MYSQL_ALLOW_EMPTY_PASSWORD": "yes", "PATH": "/usr/bin:/bin"},
        )
        wait_for(f"answer of commitd {server_id}", lambda: self.alive() and self.operator("SELECT 1"))

    def operator(self, statement: str) -> list[dict]:
        return self.execute(statement, user="commitlab_operator", password=OPERATOR_PASSWORD)

    def execute(self, statement: str, user: str = "root", password: str = "") -> list[dict]:
        connection = pymysql.connect(host="127.0.0.1", port=self.port, user=user, password=password, cursorclass=pymysql.cursors.DictCursor)
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def status(self) -> dict:
        return self.operator("SELECT * FROM performance_schema.commitd_instance")[0]

    def dsn(self) -> str:
        return f"root@tcp(127.0.0.1:{self.port})/"


def pair(master: Commitd, replica: Commitd) -> None:
    """Makes one the master whose commits wait for the other's acknowledgement."""
    for server in (master, replica):
        server.operator("ALTER INSTANCE INITIALIZE")
    begin_epoch(1, master, replica)


def begin_epoch(epoch: int, master: Commitd, replica: Commitd) -> None:
    member, source = replica.status()["server_uuid"], master.status()["server_uuid"]
    master.operator(f"ALTER INSTANCE FENCE EPOCH {epoch}")
    master.operator(f"ALTER INSTANCE PROMOTE EPOCH {epoch} WAIT_COUNT 1 MEMBERS '{member}'")
    replica.operator(
        f"ALTER INSTANCE FOLLOW EPOCH {epoch} SOURCE_HOST '127.0.0.1' SOURCE_PORT {master.port} SOURCE_UUID '{source}' "
        f"SOURCE_USER 'commitlab_operator' SOURCE_PASSWORD '{OPERATOR_PASSWORD}'"
    )
    wait_for("a master that accepts writes", lambda: str(master.status()["writes_blocked"]) == "0")


class OperatorMetrics(AbstractContextManager):
    """Serves what the operator shows of finished recovery tests (a test of the operator keeps it), as if their faults had just happened."""

    def __init__(self):
        text = re.sub(r"(injected_timestamp_seconds\{.*\}) \S+", rf"\1 {time.time() + FAULT_IN_SECONDS}", OPERATOR_METRICS.read_text())

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Prometheus(Program):
    """Scrapes the targets (instance name → address) every second and takes remote writes."""

    def __init__(self, directory: Path, targets: dict[str, str], operator: str | None = None):
        self.address = f"127.0.0.1:{free_port()}"
        static = []
        for name, address in targets.items():
            static.append({"targets": [address], "labels": {"namespace": "test", "cluster": "test", "instance": name}})
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(ROOT / "dashboards" / "rules" / "*.yaml")],
            "scrape_configs": [{"job_name": "commitd", "static_configs": static}],
        }
        if operator:
            job = {"job_name": "annotated-pods", "honor_labels": True, "static_configs": [{"targets": [operator]}]}
            config["scrape_configs"].append(job)
        directory.mkdir(parents=True)
        (directory / "prometheus.yaml").write_text(yaml.safe_dump(config))
        super().__init__(
            directory,
            BIN / "prometheus",
            f"--config.file={directory / 'prometheus.yaml'}",
            f"--storage.tsdb.path={directory / 'data'}",
            f"--web.listen-address={self.address}",
            "--web.enable-remote-write-receiver",
        )
        wait_for("Prometheus", lambda: self.alive() and urllib.request.urlopen(f"http://{self.address}/-/ready").status == 200)

    def get(self, path: str, **parameters) -> dict | list:
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url) as response:
                return json.load(response)["data"]
        except HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from error

    def samples(self, query: str, seconds: int) -> list[float]:
        """All values of the query over the last seconds, NaN left out."""
        now = time.time()
        result = self.get("query_range", query=query, start=now - seconds, end=now, step=1)["result"]
        values = [float(value) for series in result for _, value in series["values"]]
        return [v for v in values if v == v]


def k6(prometheus: Prometheus, scenario: str, server: Commitd, **settings: str) -> None:
    environment = {
        "PATH": "/usr/bin:/bin",
        "DSN": server.dsn(),
        "K6_NO_USAGE_REPORT": "true",
        "K6_PROMETHEUS_RW_SERVER_URL": f"http://{prometheus.address}/api/v1/write",
        "K6_PROMETHEUS_RW_TREND_STATS": "p(50),p(95),p(99),max",
        "K6_PROMETHEUS_RW_PUSH_INTERVAL": "1s",
        **settings,
    }
    command = [BIN / "k6", "run", "--quiet", "--out=experimental-prometheus-rw", SCENARIOS / f"{scenario}.js"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
