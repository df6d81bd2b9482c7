"""The loads: standard client programs, run the same way against either server. Each gives (operations, seconds)."""

import re
import subprocess

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
    if name in SYSBENCH:
        return Sysbench(name)
    raise ValueError(f"'{name}' is no load: slap-write, connect, {', '.join(SYSBENCH)}")
