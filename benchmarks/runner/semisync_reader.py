#!/usr/bin/python3
"""Streams the log as a semisync replica does, stores nothing, and acknowledges what it is asked to, as late as a network would make it:
semisync_reader.py SOCKET SERVER_ID FILE [LATE_MS]. With `never` for LATE_MS it is a reader that does not speak semisync: the same program beside a
load that waits for nobody."""

import queue
import struct
import sys
import threading
import time

import pymysql

NEVER = "never"
COM_BINLOG_DUMP = 0x12
SEMISYNC_MAGIC = 0xEF
ROTATE_EVENT = 4
HEADER = struct.Struct("<IBIIIH")  # time, type, server id, size, end of the event, flags
START_OF_LOG = 4


def exactly(stream, size):
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the source has closed the connection")
    return data


def packets(stream):
    """Payloads, whatever their numbers: acknowledgements in between start them anew."""
    while True:
        header = exactly(stream, 4)
        yield exactly(stream, int.from_bytes(header[:3], "little"))


def acknowledgement(position, file):
    payload = bytes([SEMISYNC_MAGIC]) + position.to_bytes(8, "little") + file
    return len(payload).to_bytes(3, "little") + b"\0" + payload


def events(payloads):
    """(whether an acknowledgement is asked for, type, end, body)."""
    for payload in payloads:
        if payload[0] != 0 or payload[1] != SEMISYNC_MAGIC:
            raise RuntimeError(f"not an event of a semisync stream: {payload[:60]!r}")
        _, kind, _, _, end, _ = HEADER.unpack_from(payload, 3)
        yield payload[2] == 1, kind, end, payload[3 + HEADER.size:]


def send_late(send, waiting, late_seconds, clock=time):
    """Each acknowledgement so long behind its event, whatever else is on its way; ends at None."""
    while (come := waiting.get()) is not None:
        at, packet = come
        clock.sleep(max(0, at + late_seconds - clock.monotonic()))
        send(packet)


def sender(send, late_seconds):
    """What takes acknowledgements: sends them at once, or late, from a thread of its own."""
    if late_seconds == 0:
        return send
    waiting = queue.SimpleQueue()
    threading.Thread(target=send_late, args=(send, waiting, late_seconds), daemon=True).start()
    return lambda packet: waiting.put((time.monotonic(), packet))


def main(socket, server_id, file, late_ms="0"):
    connection = pymysql.connect(unix_socket=socket, user="root")
    semisync = 0 if late_ms == NEVER else 1
    with connection.cursor() as cursor:
        cursor.execute("SET @source_binlog_checksum = 'CRC32', @master_binlog_checksum = 'CRC32', "
                       f"@rpl_semi_sync_replica = {semisync}, @rpl_semi_sync_slave = {semisync}")
    connection._execute_command(COM_BINLOG_DUMP, struct.pack("<IHI", START_OF_LOG, 0, int(server_id)) + file.encode())
    file = file.encode()
    if not semisync:
        for _ in packets(connection._rfile):
            pass
    acknowledge = sender(connection._sock.sendall, float(late_ms) / 1000)
    for asked, kind, end, body in events(packets(connection._rfile)):
        if kind == ROTATE_EVENT:
            file = body[8:-4]  # behind the position, before the checksum
        if asked:
            acknowledge(acknowledgement(end, file))


if __name__ == "__main__":
    main(*sys.argv[1:])
