"""A statement that both servers were sent and that may wait for what the next ones do: mysqltest's `send` and `reap`."""

import threading
import time

BEGIN_SECONDS = 0.2  # until it waits, where it does: the next statement is another connection's


class Sent:
    def __init__(self, statement, line, runs):
        self.statement, self.line = statement, line
        self.outcomes = [TimeoutError("no answer to what was sent")] * len(runs)
        self.threads = [threading.Thread(target=self.keep, args=(place, run), daemon=True) for place, run in enumerate(runs)]
        for thread in self.threads:
            thread.start()
        self.wait(BEGIN_SECONDS)

    def keep(self, place, run):
        try:
            self.outcomes[place] = run()
        except Exception as error:  # whoever reaps looks at it
            self.outcomes[place] = error

    def wait(self, seconds):
        end = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(end - time.monotonic(), 0))

    def answers(self, seconds):
        self.wait(seconds)
        return self.outcomes
