"""Many connections: what one costs while it is idle, and sessions on threads of their own."""

import collections
import contextlib
import pathlib
import re
import resource
import subprocess
import threading
import unittest

from commitd_process import Commitd, wait_until
from process_memory import process_status
from raw_client import RawClient

QUIT = 1
WANTED = 5000
LARGEST_RESIDENT = 60 * 1024  # bytes of resident memory an idle connection may cost

def descriptors_for(wanted):
    """As many connections as this process and the server may have, at most `wanted`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(wanted, hard - 200)


# Memory and system calls of thousands of connections.
RUNS_ALONE = True


class ManyConnectionsTest(unittest.TestCase):
    def test_thousands_of_idle_connections_cost_little_memory_and_no_threads(self):
        count = descriptors_for(WANTED)
        with Commitd("--max-connections=10000") as server, contextlib.ExitStack() as stack:
            pid = server.process.pid
            with RawClient(server.port) as first:
                first.log_in()
                first.query("SELECT 1")
            threads, resident = process_status(pid, "Threads"), process_status(pid, "VmRSS")
            clients = []
            for _ in range(count):
                client = stack.enter_context(RawClient(server.port))
                self.assertEqual(client.log_in()[0], 0)
                self.assertEqual(client.query("SELECT 1")[-2], b"\x011")
                clients.append(client)
            each = (process_status(pid, "VmRSS") - resident) * 1024 / count
            print(f"{count} idle connections: {each:.0f} bytes resident each", end=" ", flush=True)
            self.assertLess(each, LARGEST_RESIDENT)
            self.assertEqual(process_status(pid, "Threads"), threads)
            # All of them are still served.
            for client in clients[:: max(1, count // 50)]:
                self.assertEqual(client.query("SELECT 2")[-2], b"\x012")


class SystemCallsTest(unittest.TestCase):
    COUNTED = {"recvfrom": 3, "sendto": 3, "epoll_ctl": 1}  # of one connection with one query; other threads make none of them

    def connect_and_query(self, server):
        with RawClient(server.port) as client:
            self.assertEqual(client.log_in()[0], 0)
            self.assertEqual(client.query("SELECT 1")[-2], b"\x011")
            client.send(0, bytes([QUIT]))
            self.assertEqual(client.drain(), b"")

    def test_a_connection_with_one_query_makes_no_call_that_it_does_not_need(self):
        connections = 50
        with Commitd() as server:
            trace = f"{server.directory}/strace"
            self.connect_and_query(server)
            strace = subprocess.Popen(["strace", "-f", "-o", trace, "-e", f"trace={','.join(self.COUNTED)}", "-p", str(server.process.pid)],
                                      stderr=subprocess.PIPE)
            self.assertIn(b"attached", strace.stderr.readline())
            for _ in range(connections):
                self.connect_and_query(server)
            strace.terminate()
            strace.communicate()
            calls = collections.Counter(re.findall(r"^\d+ +(\w+)\(", pathlib.Path(trace).read_text(), re.M))
            self.assertEqual(calls, {name: count * connections for name, count in self.COUNTED.items()})


class ThreadPerConnectionTest(unittest.TestCase):
    def test_each_session_has_a_thread_and_the_same_answers(self):
        with Commitd("--thread-handling=one-thread-per-connection") as server:
            pid = server.process.pid
            self.assertEqual(server.query("SELECT @@thread_handling")[0][0], "one-thread-per-connection")
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)")
            server.query("INSERT INTO d.t (n) VALUES (0)")
            wait_until(lambda: server.query("SHOW STATUS LIKE 'Threads_connected'")[0][1] == "1", "sessions end")
            threads = process_status(pid, "Threads")
            with contextlib.ExitStack() as stack:
                sessions = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(10)]
                self.assertGreaterEqual(process_status(pid, "Threads"), threads + 9)

                def count_up(connection):
                    with connection.cursor() as cursor:
                        for _ in range(20):
                            cursor.execute("UPDATE d.t SET n = n + 1 WHERE id = 1")

                workers = [threading.Thread(target=count_up, args=(session,)) for session in sessions]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
                self.assertEqual(server.query("SELECT n FROM d.t")[0][0], 200)

    def test_it_stops_in_time_with_sessions_that_wait(self):
        with Commitd("--thread-handling=one-thread-per-connection") as server:
            server.query("CREATE DATABASE d")
            server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            server.query("INSERT INTO d.t VALUES (1)")
            holder, waiter = server.connect(autocommit=False), server.connect()
            with holder.cursor() as cursor:
                cursor.execute("UPDATE d.t SET id = 2")
            waiting = threading.Thread(target=self.wait_for_lock, args=(waiter,))
            waiting.start()
            wait_until(lambda: any("UPDATE" in str(row) for row in server.query("SHOW PROCESSLIST")), "the waiter waits")
            self.assertEqual(server.terminate(), 0)
            waiting.join()
            server.start()
            # Who is ended first is open: the waiter may still have got what the holder gave back.
            self.assertIn(server.query("SELECT id FROM d.t"), (((1,),), ((3,),)))

    def wait_for_lock(self, connection):
        with contextlib.suppress(Exception), connection.cursor() as cursor:
            cursor.execute("UPDATE d.t SET id = 3")


if __name__ == "__main__":
    unittest.main()
