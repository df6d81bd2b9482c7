"""What a server takes of the machine, as /proc tells it."""

import os

# The sanitizers' own memory is larger than the server's: their runs look at everything but its amount.
SANITIZED = "COMMITD_SANITIZED" in os.environ


def process_status(pid, field):
    """A number of /proc/PID/status."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise AssertionError(f"/proc/{pid}/status has no {field}")


def resident_bytes(server):
    return process_status(server.process.pid, "VmRSS") << 10


def peak_bytes(server):
    """The most it has had so far."""
    return process_status(server.process.pid, "VmHWM") << 10


def assert_memory_below(test, taken, most, what=None):
    if not SANITIZED:
        test.assertLess(taken, most, what)
