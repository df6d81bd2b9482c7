"""Commit path: where the time of a commit goes, and the counts that do not depend on the machine."""

from grafana_foundation_sdk.builders import dashboard as builder

from . import frame
from .panels import Query, alarm, graph, number
from .queries import PER_INSTANCE, SERVER, STAGE_BUCKETS, TRANSACTIONS, WRITABLE_ROLE, gauge, quantile, rate, ratio
from .variables import SELECTOR

UID = "commitlab-commit-path"


def quantile_by_stage(q: float) -> str:
    buckets = f'rate({STAGE_BUCKETS}{{{SELECTOR}, stage!="total"}}[$__rate_interval])'
    return f"histogram_quantile({q}, sum by (le, stage) ({buckets}))"


def _overview() -> list:
    return [
        number(
            "Transactions",
            "Transactions that went through commit groups, per second, over all selected servers.",
            "ops",
            Query(f"sum({TRANSACTIONS})", "transactions"),
        ),
        number(
            "Group size",
            "Transactions that shared one write and one fdatasync. The more of them, the cheaper each commit.",
            "none",
            Query(
                ratio(
                    f"sum({TRANSACTIONS})",
                    f"sum({rate('commitd_commit_groups_total')})",
                ),
                "transactions per group",
            ),
            decimals=1,
        ),
        number(
            "Syncs per transaction",
            "1 / group size when every group costs exactly one fdatasync. Anything above that is a sync too many on the commit path.",
            "none",
            Query(ratio(f"sum({rate('commitd_binlog_fsyncs_total')})", f"sum({TRANSACTIONS})"), "fsyncs per transaction"),
            decimals=3,
        ),
        number(
            "Commit p99",
            "99 of 100 commits took less than this from COMMIT to the moment their session was woken; the slowest server counts.",
            "s",
            Query(f"max({quantile(0.99, 'total')} >= 0)", "p99"),  # of no commits it is no number
        ),
        alarm(
            "Writes",
            "Whether a master refuses or delays writes now, because members are missing or its epoch is not acknowledged.",
            Query(f"max({gauge('commitd_writes_blocked')} and on ({SERVER}) ({WRITABLE_ROLE} == 1))", "blocked"),
            {"0": ("open", "green"), "1": ("blocked", "red")},
        ),
        number(
            "Waiting for acknowledgement",
            "Transactions that are durable here and wait for members to acknowledge them.",
            "none",
            Query(f"sum({gauge('commitd_semisync_waiters')})", "waiting"),
        ),
    ]


def _throughput() -> list:
    return [
        graph(
            "Transactions",
            "Committed and rolled-back transactions per second.",
            "ops",
            Query(rate("commitd_transactions_committed_total"), f"{PER_INSTANCE} committed"),
            Query(rate("commitd_transactions_rolled_back_total"), f"{PER_INSTANCE} rolled back"),
        ),
        graph(
            "Commands",
            "Statements per second by kind, over all selected servers.",
            "ops",
            Query(f"sum by (command) (rate(commitd_commands_total{{{SELECTOR}}}[$__rate_interval]))", "{{command}}"),
        ),
        graph(
            "Rows",
            "Rows inserted, updated and deleted per second.",
            "ops",
            Query(rate("commitd_rows_inserted_total"), f"{PER_INSTANCE} inserted"),
            Query(rate("commitd_rows_updated_total"), f"{PER_INSTANCE} updated"),
            Query(rate("commitd_rows_deleted_total"), f"{PER_INSTANCE} deleted"),
        ),
        graph(
            "Connections",
            "Open client connections. A parked session costs no thread.",
            "none",
            Query(gauge("commitd_connections"), PER_INSTANCE),
        ),
    ]


def _group_commit() -> list:
    return [
        graph(
            "Group size",
            "Transactions per commit group. Groups form while the previous sync runs, so they grow with the load by themselves.",
            "none",
            Query(ratio(TRANSACTIONS, rate("commitd_commit_groups_total")), PER_INSTANCE),
        ),
        graph(
            "Syncs per transaction",
            "Syncs of the log per transaction. The other two-log design needs two per group.",
            "none",
            Query(ratio(rate("commitd_binlog_fsyncs_total"), TRANSACTIONS), PER_INSTANCE),
        ),
        graph(
            "Groups and syncs",
            "Commit groups flushed and syncs of the log, per second. The two lines lie on each other.",
            "ops",
            Query(rate("commitd_commit_groups_total"), f"{PER_INSTANCE} groups"),
            Query(rate("commitd_binlog_fsyncs_total"), f"{PER_INSTANCE} fsyncs"),
        ),
        graph(
            "Log bytes per transaction",
            "What one transaction costs in the log, events of its group included. It is the only log.",
            "bytes",
            Query(ratio(rate("commitd_binlog_bytes_written_total"), TRANSACTIONS), PER_INSTANCE),
        ),
    ]


def _stages() -> list:
    return [
        graph(
            "Stages, median",
            "Half of the transactions spent less than this in the stage; over all selected servers. Queue: waiting for "
            "a group. Flush: the write. Sync: fdatasync. Ack: waiting for members. Engine: making it visible.",
            "s",
            Query(quantile_by_stage(0.5), "{{stage}}"),
        ),
        graph(
            "Stages, p99",
            "99 of 100 transactions spent less than this in the stage; over all selected servers.",
            "s",
            Query(quantile_by_stage(0.99), "{{stage}}"),
        ),
        graph(
            "Commit time",
            "From COMMIT to the moment the session is woken.",
            "s",
            Query(quantile(0.5, "total"), f"{PER_INSTANCE} p50"),
            Query(quantile(0.99, "total"), f"{PER_INSTANCE} p99"),
        ),
        graph(
            "Mean time per stage",
            "Mean time of a transaction in each stage; together they are the mean commit.",
            "s",
            Query(
                ratio(
                    f'sum by (stage) (rate(commitd_commit_stage_seconds_sum{{{SELECTOR}, stage!="total"}}[$__rate_interval]))',
                    f'sum by (stage) (rate(commitd_commit_stage_seconds_count{{{SELECTOR}, stage!="total"}}[$__rate_interval]))',
                ),
                "{{stage}}",
            ),
        ),
    ]


def _acknowledgement() -> list:
    waits = rate("commitd_semisync_tx_waits_total")
    return [
        graph(
            "Mean acknowledgement wait",
            "How long a durable transaction waited for its acknowledgements. Empty where no acknowledgement is needed.",
            "s",
            Query(ratio(rate("commitd_semisync_tx_wait_seconds_total"), waits), PER_INSTANCE),
        ),
        graph(
            "Transactions waiting",
            "Transactions that wait for acknowledgements now.",
            "none",
            Query(gauge("commitd_semisync_waiters"), PER_INSTANCE),
        ),
        graph(
            "Members attached and needed",
            "Members that acknowledge now, and how many acknowledgements a commit needs. Fewer than needed: writes stop.",
            "none",
            Query(gauge("commitd_semisync_clients"), f"{PER_INSTANCE} attached"),
            Query(gauge("commitd_semisync_wait_count"), f"{PER_INSTANCE} needed"),
        ),
        graph(
            "Acknowledgements per transaction",
            "Replies of members per transaction. A member may answer for a whole batch with one.",
            "none",
            Query(ratio(rate("commitd_semisync_acks_total"), TRANSACTIONS), PER_INSTANCE),
        ),
    ]


def _locks_and_scheduling() -> list:
    return [
        graph(
            "Row lock waits",
            "Statements per second that had to wait for a row lock, deadlocks and waits that timed out.",
            "ops",
            Query(rate("commitd_row_lock_waits_total"), f"{PER_INSTANCE} waits"),
            Query(rate("commitd_deadlocks_total"), f"{PER_INSTANCE} deadlocks"),
            Query(rate("commitd_row_lock_timeouts_total"), f"{PER_INSTANCE} timeouts"),
        ),
        graph(
            "Mean row lock wait",
            "How long a wait for a row lock took. Empty while nobody waits.",
            "s",
            Query(
                ratio(rate("commitd_row_lock_wait_seconds_total"), rate("commitd_row_lock_waits_total")),
                PER_INSTANCE,
            ),
        ),
        graph(
            "Context switches per transaction",
            "Voluntary ones are waits; involuntary ones mean that threads compete for the processors. Waking everybody shows here first.",
            "none",
            Query(ratio(rate("commitd_voluntary_context_switches_total"), TRANSACTIONS), f"{PER_INSTANCE} voluntary"),
            Query(ratio(rate("commitd_involuntary_context_switches_total"), TRANSACTIONS), f"{PER_INSTANCE} involuntary"),
        ),
        graph(
            "Wake-ups per transaction",
            "Reactor wake-ups and parked sessions per transaction.",
            "none",
            Query(ratio(rate("commitd_reactor_wakeups_total"), TRANSACTIONS), f"{PER_INSTANCE} reactor wake-ups"),
            Query(ratio(rate("commitd_session_parks_total"), TRANSACTIONS), f"{PER_INSTANCE} parks"),
        ),
        graph(
            "CPU per transaction",
            "Processor time of the server per transaction.",
            "s",
            Query(ratio(rate("process_cpu_seconds_total"), TRANSACTIONS), PER_INSTANCE),
        ),
        graph(
            "Memory",
            "Resident memory of the server, and the part of it that the storage engine's memtables hold.",
            "bytes",
            Query(gauge("process_resident_memory_bytes"), f"{PER_INSTANCE} resident"),
            Query(gauge("commitd_engine_memtable_bytes"), f"{PER_INSTANCE} memtables"),
        ),
    ]


def _load() -> list:
    return [
        graph(
            "Statements of the load generator",
            "Statements per second that k6 saw succeed, and errors. k6 runs outside the cluster's variables: all of its tests are shown.",
            "ops",
            Query("sum by (statement) (rate(k6_mysql_statements_total[$__rate_interval]))", "{{statement}}"),
            Query("sum by (errno) (rate(k6_mysql_errors_total[$__rate_interval])) or vector(0)", "error {{errno}}"),
        ),
        graph(
            "Statement time at the load generator, p99",
            "What clients wait for, network included. The slowest test counts.",
            "s",
            Query("max by (statement) (k6_mysql_statement_duration_p99)", "{{statement}}"),
        ),
    ]


def build() -> builder.Dashboard:
    result = frame.dashboard(
        "Commit path", UID, "Where the time of a commit goes in commitd, and the counts per transaction that do not depend on the machine."
    )
    sections = {
        "Now": _overview(),
        "Throughput": _throughput(),
        "Group commit": _group_commit(),
        "Where the time goes": _stages(),
        "Acknowledgement": _acknowledgement(),
        "Locks and scheduling": _locks_and_scheduling(),
        "Load generator": _load(),
    }
    return frame.with_sections(result, sections)
