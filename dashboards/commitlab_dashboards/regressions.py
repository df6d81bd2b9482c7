"""Regressions: which legacy switches are on, and for each of them the effect beside the cause."""

from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard as builder

from . import frame
from .frame import Mark, since_last_step
from .panels import Query, alarm, graph
from .queries import PER_INSTANCE, TRANSACTIONS, gauge, quantile, rate, ratio

UID = "commitlab-regressions"
IS_ON = "commitd_regression_is_on"
LEGACY = {"0": ("default", "green"), "1": ("legacy", "red")}


def waits(event: str) -> str:
    return rate("commitd_wait_events_total", f'event_name="wait/synch/{event}"')


def calls(hook: str) -> str:
    return rate("commitd_observer_calls_total", f'hook="{hook}"')


def per_transaction(counted: str) -> str:
    return ratio(counted, TRANSACTIONS)


@dataclass(frozen=True)
class Regression:
    id: str
    title: str
    cause: str  # the panel's title
    story: str  # what went wrong, with the seed's figures
    unit: str
    queries: tuple[Query, ...]


REGRESSIONS = (
    Regression(
        "R1",
        "every observer call takes LOCK_plugin",
        "LOCK_plugin per transaction",
        "commitd_observer_locking: each call of an observer took the lock of all plugins, as a mutex and then as a rwlock, which "
        "was no better. Seed 000: 40000 inserts per second with 40 readers of the log, 657 with 40 semisync ones.",
        "none",
        (
            Query(per_transaction(waits("mutex/sql/LOCK_plugin")), f"{PER_INSTANCE} mutex"),
            Query(per_transaction(waits("rwlock/sql/LOCK_plugin")), f"{PER_INSTANCE} rwlock"),
        ),
    ),
    Regression(
        "R2",
        "readers that do not acknowledge call semisync's hooks",
        "Hook calls per event sent",
        "commitd_observe_every_dump: with semisync's plugin installed, each event to each reader called its hooks, though most "
        "readers do not speak semisync. Seed 000: 14000 inserts per second, 1000 with 40 dumps beside, 10000 fixed.",
        "none",
        (Query(ratio(calls("after_send_event"), rate("commitd_dump_events_sent_total")), f"{PER_INSTANCE} after_send_event"),),
    ),
    Regression(
        "R3",
        "after_commit runs for every statement",
        "after_commit calls per transaction",
        "commitd_after_commit_hook: the hook ran for SELECT and SET, for each statement of a transaction, and three times for a "
        "definition. With the fix it is one call for each transaction with changes, while a plugin is installed.",
        "none",
        (Query(per_transaction(calls("after_commit")), PER_INSTANCE),),
    ),
    Regression(
        "R4",
        "readers of the log take LOCK_log",
        "LOCK_log per transaction",
        "commitd_dump_lock: readers took the lock under which the log is written for each event. Seed 000: 42 seconds for what "
        "took 21 without LOCK_log in dump threads.",
        "none",
        (Query(per_transaction(waits("mutex/sql/MYSQL_BIN_LOG::LOCK_log")), PER_INSTANCE),),
    ),
    Regression(
        "R5",
        "everybody is woken",
        "Wake-ups and context switches per transaction",
        "commitd_wakeup: COND_done and update_cond were broadcast, so that each commit group woke all that waited for any. With "
        "the fix it is one wake-up for each that waits.",
        "none",
        (
            Query(per_transaction(rate("commitd_wakeups_total")), f"{PER_INSTANCE} wake-ups"),
            Query(per_transaction(rate("commitd_voluntary_context_switches_total")), f"{PER_INSTANCE} voluntary switches"),
        ),
    ),
    Regression(
        "R6",
        "the GTID persister's list grows with every gap",
        "Intervals walked per call, and intervals in the list",
        "commitd_gtid_persister: a thread added what was committed to a list of intervals that nothing merged with the log's, and "
        "who commits waited for its lock. Seed 001: 205 µs a call for the first thousand, 12671 µs for the 25th; about 100 fixed.",
        "short",
        (
            Query(
                ratio(rate("commitd_gtid_persister_intervals_passed_total"), rate("commitd_gtid_persister_calls_total")),
                f"{PER_INSTANCE} walked per call",
            ),
            Query(gauge("commitd_gtid_persister_intervals"), f"{PER_INSTANCE} in the list"),
        ),
    ),
    Regression(
        "R7",
        "gtid_executed with a row for each transaction",
        "Rows of gtid_executed",
        "gtid_executed_compression_period = 0: each transaction left a row in mysql.gtid_executed, and each start read them all. "
        "Seed 001: 31 million rows, and a start that timed out.",
        "short",
        (Query(gauge("commitd_gtid_executed_rows"), PER_INSTANCE),),
    ),
    Regression(
        "R8",
        "connections close under the lock of the list",
        "Connections closed under LOCK_thd_list",
        "commitd_close_connection_locked: who disconnected ended his connections to other servers while he held the lock without "
        "which nobody comes or goes. Seed 002: 50 clients with 2000 connections each took 16 minutes, 17 seconds fixed.",
        "ops",
        (Query(rate("commitd_connections_closed_locked_total"), PER_INSTANCE),),
    ),
    Regression(
        "R9",
        "a recursive search for deadlocks on one hot row",
        "Edges looked at per search",
        "commitd_deadlock_detector: each wait for a row searched all waits while nobody else could lock. Seed 003: a million "
        "updates of one row by 700 clients took 33569 seconds, 2612 without detection; 84.8 % of the CPU was in the search.",
        "none",
        (
            Query(
                ratio(rate("commitd_deadlock_search_steps_total"), rate("commitd_deadlock_searches_total")),
                f"{PER_INSTANCE} edges per search",
            ),
        ),
    ),
    Regression(
        "R10",
        "one round of purging takes everything in one go",
        "Garbage, and pages that were merged in one go",
        "commitd_purge_batch_size: once many overwritten versions and tombstones had gathered, one round of purging took them all, "
        "and the rest waited. Seed 003: from a history of 300000 on a round took seconds to minutes, and throughput fell meanwhile.",
        "short",
        (
            Query(gauge("commitd_history_length"), f"{PER_INSTANCE} history length"),
            Query(ratio(rate("commitd_purge_pages_total"), rate("commitd_purge_slices_total")), f"{PER_INSTANCE} pages per slice"),
        ),
    ),
    Regression(
        "R11",
        "prepare_commit_mutex serialises commits",
        "Transactions per group",
        "commitd_prepare_commit_mutex, with commitd_durability=xa: one transaction at a time was prepared, logged and committed, "
        "so that no two could share a sync. Seed 004: flat from 1 to 64 threads.",
        "none",
        (Query(ratio(TRANSACTIONS, rate("commitd_commit_groups_total")), PER_INSTANCE),),
    ),
    Regression(
        "R12",
        "three syncs for one commit",
        "Syncs per transaction",
        "commitd_durability=xa: the engine's prepare, the log, and the engine's commit each need a sync. With single_log there is "
        "one, of the log, shared by a group.",
        "none",
        (
            Query(per_transaction(rate("commitd_binlog_fsyncs_total")), f"{PER_INSTANCE} log"),
            Query(per_transaction(rate("commitd_engine_fsyncs_total")), f"{PER_INSTANCE} engine"),
        ),
    ),
    Regression(
        "R13",
        "the engine commits in another order than the log",
        "Commits out of order",
        "binlog_order_commits=OFF, with commitd_durability=xa: what overtakes in the engine leaves no position of the log from "
        "which a backup or a recovery could replay.",
        "ops",
        (Query(rate("commitd_commits_out_of_order_total"), PER_INSTANCE),),
    ),
    Regression(
        "R15",
        "the acknowledgement is waited for inside the commit",
        "Share of groups that the next one waited for",
        "commitd_ack_wait: semisync waited for its acknowledgement under the commit's lock, so that no group was written while the "
        "one before was on its way to a replica and back.",
        "percentunit",
        (Query(ratio(rate("commitd_ack_wait_turns_total"), rate("commitd_commit_groups_total")), PER_INSTANCE),),
    ),
    Regression(
        "R16",
        "receiver and applier contend on the log's lock",
        "LOCK_log per second",
        "commitd_relay_lock, on a replica: the applier read each event under the lock under which the receiver writes, and so held "
        "up the acknowledgement that the source waits for.",
        "ops",
        (Query(waits("mutex/sql/MYSQL_BIN_LOG::LOCK_log"), PER_INSTANCE),),
    ),
)


def _now() -> list:
    on = f"max by (id, variable) ({gauge(IS_ON)})"
    return [
        alarm(
            "Legacy switches",
            "Each switch that brings a regression back, by its number and variable: red is a legacy value now, on any of the "
            "selected servers. The same is in information_schema.commitd_regressions.",
            Query(on, "{{id}} {{variable}}"),
            LEGACY,
            width=24,
        ),
        graph(
            "Transactions",
            "Transactions per second. Marks are switches that were flipped: what moves at a mark, the switch has moved.",
            "ops",
            Query(TRANSACTIONS, PER_INSTANCE),
        ),
        graph("Switches over time", "1 while a switch has a legacy value.", "none", Query(on, "{{id}} {{variable}}")),
    ]


def _effect(regression: Regression) -> list:
    return [
        graph(
            f"{regression.id}: commit time",
            "The effect: from COMMIT to the moment the session is woken, median and p99.",
            "s",
            Query(quantile(0.5, "total"), f"{PER_INSTANCE} p50"),
            Query(quantile(0.99, "total"), f"{PER_INSTANCE} p99"),
            width=8,
        ),
        graph(f"{regression.id}: transactions", "The effect: transactions per second.", "ops", Query(TRANSACTIONS, PER_INSTANCE), width=8),
        graph(f"{regression.id}: {regression.cause}", f"The cause. {regression.story}", regression.unit, *regression.queries, width=8),
    ]


def build() -> builder.Dashboard:
    result = frame.dashboard(
        "Regressions",
        UID,
        "What each classic regression of the commit path costs: flip its switch under load, and see the effect beside the cause.",
    )
    result.annotation(Mark("Switches", "orange", since_last_step(gauge(IS_ON), "!="), "{{id}}", "{{variable}} on {{instance}}"))
    sections = {"Now": _now()}
    sections.update({f"{r.id}: {r.title}": _effect(r) for r in REGRESSIONS})
    return frame.with_sections(result, sections)
