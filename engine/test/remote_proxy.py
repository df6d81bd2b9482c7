"""A TCP proxy in front of a server, for tests of what is said to it, and of links that stop or break in the middle."""

import contextlib
import socket
import threading
import time

COM_QUIT = b"\x01\x00\x00\x00\x01"


class Proxy:
    """Counts connections, and whether each said COM_QUIT. `allow(bytes)` lets so much more through from the server, then nothing."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.changed = threading.Condition()
        self.allowed = None
        self.cut = False
        self.delay = 0       # seconds, of each piece from the server
        self.stalled = 0     # connections that have more to give than is allowed
        self.connections = 0
        self.open = 0
        self.quits = 0
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def allow(self, size, cut=False):
        """From now on; None: everything. `cut`: what is beyond it ends the connection."""
        with self.changed:
            self.allowed, self.cut = size, cut
            self.stalled = 0
            self.changed.notify_all()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                with self.changed:
                    self.sockets += [client, server]
                    self.connections += 1
                    self.open += 1
                    self.changed.notify_all()
                threading.Thread(target=self.to_server, args=(client, server), daemon=True).start()
                threading.Thread(target=self.to_client, args=(server, client), daemon=True).start()

    def to_server(self, client, server):
        last = b""
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                last = data
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        with self.changed:
            self.quits += last == COM_QUIT
            self.open -= 1
            self.changed.notify_all()

    def to_client(self, server, client):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if not self.pass_on(data, client):
                    break
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)

    def pass_on(self, data, client):
        """False: the connection is cut."""
        while data:
            with self.changed:
                if self.allowed == 0 and not self.cut:
                    self.stalled += 1
                    self.changed.notify_all()
                    self.changed.wait_for(lambda: self.allowed != 0 or self.cut)
                size = len(data) if self.allowed is None else min(self.allowed, len(data))
                if size == 0:
                    return False
                if self.allowed is not None:
                    self.allowed -= size
            if self.delay:
                time.sleep(self.delay)
            client.sendall(data[:size])
            data = data[size:]
        return True

    def wait_for(self, condition, what, seconds=60):
        with self.changed:
            if not self.changed.wait_for(condition, seconds):
                raise AssertionError(f"not within {seconds} s: {what}")

    def close(self):
        self.allow(None)
        self.listener.close()
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
