"""The loads: standard client programs, run the same way against either server. Each gives (operations, seconds)."""

import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "benchmarks" / "scenarios"
K6_PROGRAM = ROOT / "build" / "bin" / "k6"
TABLE_ROWS = 10000
SYSBENCH = ("oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index", "oltp_insert")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    # mysqlslap exits with 0 also when a query failed.
    if done.returncode != 0 or "Error" in done.stderr or "FATAL" in done.stdout:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def slap_seconds(output):
    return float(re.search(r"Average number of seconds to run all queries: ([\d.]+)", output).group(1))


def sysbench_events(output):
    events = int(re.search(r"transactions:\s+(\d+)", output).group(1))
    return events, float(re.search(r"total time:\s+([\d.]+)s", output).group(1))


class Slap:
    """mysqlslap with the given arguments; the number of queries follows from how fast it was before, so that a round lasts `seconds`."""

    def __init__(self, unit, *arguments):
        self.unit = unit
        self.arguments = arguments
        self.rate = {}  # per second so far, by server and clients

    def prepare(self, server):
        """mysqlslap makes and drops its own tables; only connections are opened to a database that stays."""
        server.sql("CREATE DATABASE IF NOT EXISTS peers")

    def slap(self, server, clients, queries):
        output = run(["mysqlslap", *server.login(), *self.arguments, "-i", "1", f"--number-of-queries={queries}", "-c", str(clients)])
        return queries // clients * clients, slap_seconds(output)

    def run(self, server, clients, seconds):
        key = (server.name, clients)
        if key not in self.rate:
            queries, took = self.slap(server, clients, 20 * clients)
            self.rate[key] = queries / max(took, 0.05)
        result = self.slap(server, clients, max(clients, int(self.rate[key] * seconds)))
        self.rate[key] = result[0] / result[1]
        return result


class SlapOn(Slap):
    """mysqlslap with one query, on a database that is made by `statements`."""

    def __init__(self, unit, statements, query):
        super().__init__(unit, f"--query={query}", "--delimiter=;", "--create-schema=peers", "--no-drop")
        self.statements = statements

    def prepare(self, server):
        super().prepare(server)
        server.sql("; ".join(self.statements))


NOISE = "UNHEX(CONCAT(" + ", ".join(["MD5(RAND())"] * 12) + "))"
CHURN_TABLE = ("DROP TABLE IF EXISTS peers.churn", "CREATE TABLE peers.churn (id INT PRIMARY KEY AUTO_INCREMENT, v INT, noise VARBINARY(200)) ENGINE=InnoDB",
               f"INSERT INTO peers.churn (v, noise) VALUES (0, {NOISE})",
               *[f"INSERT INTO peers.churn (v, noise) SELECT 0, {NOISE} FROM peers.churn"] * 16)


class RemoteConnect(Slap):
    """Seed 002: connect, read one row of a table on another server, disconnect. The other server is one more login of the same."""

    def __init__(self):
        super().__init__("connections", "--query=SELECT id FROM far WHERE id = 1", "--detach=1", "--create-schema=peers", "--no-drop")

    def prepare(self, server):
        super().prepare(server)
        server.sql("DROP TABLE IF EXISTS peers.far, peers.near; CREATE TABLE peers.near (id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO peers.near VALUES (1); "
                   f"CREATE TABLE peers.far (id INT PRIMARY KEY) ENGINE=FEDERATED CONNECTION='mysql://root@127.0.0.1:{server.tcp_port}/peers/near'")


class K6:
    """A load of the catalogue, by our k6."""

    def __init__(self, name, prometheus=None):
        """`prometheus`: where its figures go as well."""
        self.name = name
        self.unit = "iterations"
        self.remote = ["--out", "experimental-prometheus-rw"] if prometheus else []
        self.environment = [f"K6_PROMETHEUS_RW_SERVER_URL={prometheus}", "K6_PROMETHEUS_RW_TREND_STATS=p(50),p(95),p(99),max"] if prometheus else []

    def prepare(self, server):
        """k6's scripts make their own tables."""

    def run(self, server, clients, seconds):
        with tempfile.TemporaryDirectory() as directory:
            summary = pathlib.Path(directory, "summary.json")
            run(["env", f"DSN=root@unix({server.socket})/", f"CLIENTS={clients}", f"DURATION={seconds}s", "K6_NO_USAGE_REPORT=true", *self.environment, str(K6_PROGRAM),
                 "run", "--quiet", *self.remote, f"--summary-export={summary}", str(SCENARIOS / f"{self.name}.js")])
            figures = json.loads(summary.read_text())["metrics"]["iterations"]
        return int(figures["count"]), figures["count"] / figures["rate"]


class Sysbench:
    """One of sysbench's own tests on one table of 10,000 rows."""

    unit = "transactions"

    def __init__(self, test):
        self.test = test

    def command(self, server, action, *options):
        return ["sysbench", self.test, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", "--tables=1",
                f"--table-size={TABLE_ROWS}", *options, action]

    def prepare(self, server):
        server.sql("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
        run(self.command(server, "prepare"))

    def run(self, server, clients, seconds):
        return sysbench_events(run(self.command(server, "run", f"--threads={clients}", f"--time={seconds}", "--rand-seed=1")))


def load(name):
    if name == "slap-write":
        # Seed 000's command line.
        return Slap("inserts", "--auto-generate-sql", "--engine=innodb", "--auto-generate-sql-load-type=write")
    if name == "connect":
        return Slap("connections", "--query=SELECT 1", "--detach=1", "--create-schema=peers", "--no-drop")
    if name == "hot-row":
        # Seed 003: everybody updates the same row.
        return SlapOn("updates", ("DROP TABLE IF EXISTS peers.hot", "CREATE TABLE peers.hot (id INT PRIMARY KEY, n INT) ENGINE=InnoDB",
                                  "INSERT INTO peers.hot VALUES (1, 0)"), "UPDATE hot SET n = n + 1 WHERE id = 1")
    if name == "keyed-write":
        # With a primary key, which the table of mysqlslap's generated load has not.
        return SlapOn("inserts", ("DROP TABLE IF EXISTS peers.k", "CREATE TABLE peers.k (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=InnoDB"),
                      "INSERT INTO k (v) VALUES (1)")
    if name == "churn":
        # Seed 003's garbage, on rows that do not compress: each change leaves a version behind.
        return SlapOn("changes", CHURN_TABLE, "INSERT INTO churn (id, v) VALUES (FLOOR(1 + RAND() * 65536), 0) ON DUPLICATE KEY UPDATE v = v + 1")
    if name == "half-filtered":
        # Seed 001: what goes into db2 is left out by the replica's filter.
        return SlapOn("inserts", ("CREATE DATABASE IF NOT EXISTS db1", "CREATE DATABASE IF NOT EXISTS db2", "CREATE TABLE IF NOT EXISTS db1.t1 (i INT) ENGINE=InnoDB",
                                  "CREATE TABLE IF NOT EXISTS db2.t1 (i INT) ENGINE=InnoDB"),
                      "INSERT INTO db1.t1 VALUES (RAND() * 1000);INSERT INTO db2.t1 VALUES (RAND() * 1000)")
    if name == "connect-remote":
        return RemoteConnect()
    if name == "statements":
        # Seed 000, Libing Song's list of what calls the after_commit hook.
        return SlapOn("statements", ("DROP TABLE IF EXISTS peers.s", "CREATE TABLE peers.s (id INT PRIMARY KEY AUTO_INCREMENT) ENGINE=InnoDB"),
                      "SELECT 1;SET @a = 1;INSERT INTO s VALUES ();SELECT COUNT(*) FROM s WHERE id = 1")
    if name.startswith("k6:"):
        return K6(name.removeprefix("k6:"))
    if name in SYSBENCH:
        return Sysbench(name)
    raise ValueError(f"'{name}' is no load: slap-write, keyed-write, churn, half-filtered, connect, connect-remote, hot-row, statements, k6:NAME, {', '.join(SYSBENCH)}")
