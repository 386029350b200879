"""What a run may spend at an endpoint: requests and tokens, shared by its threads, kept to before anything is sent."""

import threading


class Budget:
    """At most `requests` and `tokens` (0: as many as it takes), `spent_…` of them gone already.

    Tokens are set aside before a request goes out and counted when its answer is there, so that concurrent requests
    cannot pass the limit together.
    """

    def __init__(self, requests: int = 0, tokens: int = 0, *, spent_requests: int = 0, spent_tokens: int = 0) -> None:
        self._most_requests, self._most_tokens = requests, tokens
        self._requests, self._tokens = spent_requests, spent_tokens
        self._lock = threading.Lock()

    def take(self, tokens: int) -> bool:
        """Set one request and `tokens` aside; False where they are no longer there."""
        with self._lock:
            if self._most_requests and self._requests >= self._most_requests:
                return False
            if self._most_tokens and self._tokens + tokens > self._most_tokens:
                return False
            self._requests += 1
            self._tokens += tokens
            return True

    def settle(self, set_aside: int, used: int) -> None:
        """`used` tokens were needed of those that were set aside."""
        with self._lock:
            self._tokens += used - set_aside
