"""The MySQL protocol by hand: for tests that need thousands of connections, or a client that breaks the rules."""

import socket
import struct

CAPABILITIES = 0x00000200 | 0x00008000 | 0x00080000 | 0x00200000  # 4.1, secure, plugin, lenenc
SSL = 0x00000800


class RawClient:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def login_packet(user="root", response=b""):
        return (struct.pack("<IIB23s", CAPABILITIES, 1 << 24, 45, b"") + user.encode() + b"\0" +
                bytes([len(response)]) + response + b"caching_sha2_password\0")

    def log_in(self, user="root"):
        """Without a password. Gives the packet that answers."""
        self.receive()
        self.send(1, self.login_packet(user))
        return self.receive()

    def send(self, sequence, payload):
        self.socket.sendall(struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload)

    def receive(self):
        header = self.exactly(4)
        return self.exactly(int.from_bytes(header[:3], "little"))

    def exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def drain(self):
        """All that still comes, up to the end of the connection."""
        data = b""
        try:
            while piece := self.socket.recv(65536):
                data += piece
        except ConnectionError:
            pass
        return data

    def command(self, number, arguments=b""):
        self.send(0, bytes([number]) + arguments)
        return self.receive()

    def query(self, sql):
        """The first packet of the answer and all behind it, up to the second EOF."""
        packets = [self.command(3, sql.encode())]
        if packets[0][0] in (0x00, 0xFF):
            return packets
        ends = 0
        while ends < 2:
            packets.append(self.receive())
            if packets[-1][0] == 0xFF:
                break
            ends += packets[-1][0] == 0xFE and len(packets[-1]) < 9
        return packets

    def close(self):
        self.socket.close()


def error_number(packet):
    """Of an ERR packet; 0 for any other."""
    return struct.unpack_from("<H", packet, 1)[0] if packet[:1] == b"\xff" else 0
