"""Control how many requests are in flight at an endpoint: additive increase, multiplicative decrease (AIMD).

`Pace` is the rule, without threads or clock. `Gate` applies it to the threads of one client.
"""

import threading
import time

FIRST = 8
# After a refusal (429, 503, a timeout), and after answers that became slower without a higher rate.
CUT, SLOWED = 0.5, 0.8
# A window of answers this many times slower than the quickest one, at no higher rate: the server only queues.
SLOW, NO_GAIN = 4.0, 1.05
# Of an answer, where the clock is too coarse to tell; so windows of different sizes are alike.
LEAST_SECONDS = 1e-9


class Pace:
    """`limit` requests may be in flight, from 1 to `most`. It doubles per round trip until the first cut, then grows by
    one per round trip.

    `course` lists the limit after each cut and each whole step up, for tests and logs.
    """

    def __init__(self, max_requests: int) -> None:
        self.most, self.limit = max_requests, float(min(FIRST, max_requests))
        self.course = [int(self.limit)]
        self._doubling = True
        self._sent = self._cut_at = 0
        # (seconds, in flight) of the latest answers.
        self._window: list[tuple[float, int]] = []
        self._quickest = self._best_rate = 0.0

    def sent(self) -> int:
        """Count a request; its ticket says whether it was sent before the last cut."""
        self._sent += 1
        return self._sent

    def answered(self, ticket: int, seconds: float, in_flight: int) -> None:
        """Record an answer. The limit grows only if it was in use."""
        if 2 * in_flight >= self.limit:
            self._set(self.limit + (1.0 if self._doubling else 1.0 / self.limit))
        self._watch(ticket, seconds, in_flight)

    def refused(self, ticket: int) -> None:
        """Record that the server was overloaded."""
        self._cut(ticket, CUT)

    def _watch(self, ticket: int, seconds: float, in_flight: int) -> None:
        self._window.append((seconds, in_flight))
        if len(self._window) < max(FIRST, in_flight):
            return
        mean = max(sum(took for took, _ in self._window) / len(self._window), LEAST_SECONDS)
        # Little's law: requests in flight over seconds per answer are answers per second.
        rate = sum(count for _, count in self._window) / (mean * len(self._window))
        self._window.clear()
        if self._quickest and mean > SLOW * self._quickest and rate < NO_GAIN * self._best_rate:
            self._cut(ticket, SLOWED)
        self._quickest = min(self._quickest or mean, mean)
        self._best_rate = max(self._best_rate, rate)

    def _cut(self, ticket: int, factor: float) -> None:
        # Requests from before a cut were sent under the old limit: they say nothing about the new one.
        if ticket <= self._cut_at:
            return
        self._doubling, self._cut_at = False, self._sent
        self._window.clear()
        self._set(self.limit * factor)

    def _set(self, limit: float) -> None:
        self.limit = min(float(self.most), max(1.0, limit))
        if int(self.limit) != self.course[-1]:
            self.course.append(int(self.limit))


class Gate:
    """Admits as many threads at a time as the pace allows, and none while the server asked for a pause."""

    def __init__(self, max_requests: int) -> None:
        self.pace = Pace(max_requests)
        self._changed = threading.Condition()
        self._in_flight = 0
        self._closed_until = 0.0
        self._stopped = False

    @property
    def limit(self) -> int:
        return int(self.pace.limit)

    def enter(self) -> int | None:
        """Wait until a request is allowed; None after `stop`."""
        with self._changed:
            while not self._stopped:
                pause = self._closed_until - time.monotonic()
                if pause <= 0 and self._in_flight < int(self.pace.limit):
                    self._in_flight += 1
                    return self.pace.sent()
                self._changed.wait(pause if pause > 0 else None)
            return None

    def leave(self, ticket: int, seconds: float | None, *, refused: bool = False, pause: float = 0.0) -> None:
        """End a request. `seconds`: how long its answer took; None: no answer, for a reason that is not load."""
        with self._changed:
            if refused:
                self.pace.refused(ticket)
            elif seconds is not None:
                self.pace.answered(ticket, seconds, self._in_flight)
            self._in_flight -= 1
            self._closed_until = max(self._closed_until, time.monotonic() + pause if pause else 0.0)
            self._changed.notify_all()

    def stop(self) -> None:
        """Admit no more requests."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def start(self) -> None:
        with self._changed:
            self._stopped = False
