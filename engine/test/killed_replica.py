"""A replica that is killed and started again while its source is written to."""

import contextlib
import random
import threading
import time

KILLS = 12
# The replica must be able to keep up though it starts again and again, under the sanitizers, too.
BETWEEN_WRITES_SECONDS = 0.002


def insert_numbers(connect, over, flush_every):
    with contextlib.closing(connect()) as connection, connection.cursor() as cursor:
        number = 0
        while not over.is_set():
            number += 1
            cursor.execute(f"INSERT INTO d.log (n) VALUES ({number})")
            if number % flush_every == 0:
                cursor.execute("FLUSH BINARY LOGS")
            time.sleep(BETWEEN_WRITES_SECONDS)


def kill_while_source_is_written(connect, replica, flush_every, seed):
    """`connect` is to the source, which has d.log with a column n: it gets 1, 2, 3 … one by one, in many files of its log."""
    over, chance = threading.Event(), random.Random(seed)
    writer = threading.Thread(target=insert_numbers, args=(connect, over, flush_every))
    writer.start()
    try:
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.6))
            replica.kill()
            replica.start()
            if chance.random() < 0.3:
                replica.query("FLUSH BINARY LOGS")
    finally:
        over.set()
        writer.join()
