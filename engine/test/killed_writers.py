"""Sessions that commit until their server is killed under them, and what they were told."""

import contextlib
import itertools
import threading

import pymysql

# A hang bound, not an expectation.
SECONDS = 60


def write_until_killed(server, round_number, statements, enough, writers=8):
    """The numbers whose transactions, statements(number) each, were acknowledged: at least `enough`. Rounds have numbers of their own."""
    acknowledged, lock, reached = set(), threading.Lock(), threading.Event()

    def write(writer):
        # Whatever a session hears when its server dies: only what was answered before counts.
        with contextlib.suppress(pymysql.err.MySQLError, OSError):
            with contextlib.closing(server.connect(autocommit=False)) as connection, connection.cursor() as cursor:
                for number in itertools.count((round_number * 100 + writer) * 100000):
                    for statement in statements(number):
                        cursor.execute(statement)
                    connection.commit()
                    with lock:
                        acknowledged.add(number)
                        if len(acknowledged) >= enough:
                            reached.set()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    enough_were = reached.wait(SECONDS)
    server.kill()
    for thread in threads:
        thread.join()
    assert enough_were, f"fewer than {enough} commits were acknowledged in {SECONDS} s"
    return acknowledged
