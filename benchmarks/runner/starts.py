"""R7: a server is stopped and started again, with gtid_executed as many transactions have left it. Counted is what a start reads of it."""

import time

import loads

TRANSACTIONS = 100_000
FULL = 2_000_000  # millions of rows, as the seed's 31
CLIENTS = 16


class Starting:
    """As loads and records know a server. Its counters begin anew with each start: what each start has read is added up here."""

    def __init__(self, server):
        self.server = server
        self.rows = self.seconds = 0

    def __getattr__(self, name):
        return getattr(self.server, name)

    def start_again(self):
        self.server.restart()
        found = self.server.metrics()
        self.rows += found["commitd_gtid_executed_rows_read_total"]
        self.seconds += found["commitd_gtid_executed_load_seconds"]

    def counts(self):
        return {"context_switches": 0, "syncs": 0, "sync_buckets": [], "cpu_us": 0, "groups": 0, "logged_bytes": 0}

    def metrics(self):
        return {"rows read": self.rows, "seconds to read them": self.seconds}


class Start:
    """The load that is no load: one start in each round, however long that takes."""

    unit = "starts"

    def __init__(self, transactions):
        self.transactions = transactions

    def prepare(self, server):
        """By as many transactions, which need not be durable one by one: they are not what is measured."""
        writes = loads.load("keyed-write")
        writes.prepare(server)
        server.sql("SET GLOBAL sync_binlog = 0")
        writes.slap(server, CLIENTS, self.transactions)

    def run(self, server, clients, seconds):
        began = time.monotonic()
        server.start_again()
        return 1, time.monotonic() - began
