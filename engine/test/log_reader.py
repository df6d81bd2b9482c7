"""A replica's connection, as far as a test needs one."""

import uuid


def encoded(gtids):
    """A GTID set as COM_BINLOG_DUMP_GTID has it."""
    servers = [part.split(":") for part in gtids.replace("\n", "").split(",") if part]
    out = len(servers).to_bytes(8, "little")
    for server, *intervals in servers:
        out += uuid.UUID(server.strip()).bytes + len(intervals).to_bytes(8, "little")
        for interval in intervals:
            first, _, last = interval.partition("-")
            out += int(first).to_bytes(8, "little") + (int(last or first) + 1).to_bytes(8, "little")
    return out


class LogReader:
    """Asks by GTID for everything but `have`, and then does not read on."""

    COM_BINLOG_DUMP_GTID = 0x1E

    def __init__(self, server, semisync=False):
        self.connection = server.connect()
        self.semisync = semisync

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection._force_close()

    def attach(self, have=""):
        """The name of the file that the source starts with."""
        with self.connection.cursor() as cursor:
            cursor.execute("SET @source_binlog_checksum = 'CRC32', @master_binlog_checksum = 'CRC32', "
                           f"@rpl_semi_sync_replica = {int(self.semisync)}")
        flags, server_id, no_name, position, gtids = 4, 99, 0, 4, encoded(have)
        payload = (flags.to_bytes(2, "little") + server_id.to_bytes(4, "little") + no_name.to_bytes(4, "little")
                   + position.to_bytes(8, "little") + len(gtids).to_bytes(4, "little") + gtids)
        self.connection._execute_command(self.COM_BINLOG_DUMP_GTID, payload)
        return self.next_event()[8:-4].decode()  # the artificial ROTATE event

    def next_event(self):
        """Its body, with the checksum. An error packet is raised, the end of the connection too."""
        return self.connection._read_packet().get_all_data()[1 + 19:]
