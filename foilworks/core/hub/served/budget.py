"""Limit what a run spends at an endpoint: requests, tokens, money."""

import threading

SPENT = "budget spent"


class Budget:
    """At most `requests`, `tokens` and `cost` (0: no limit), of which `spent_…` are already used.

    A request reserves what it may need before it is sent, and pays what it used when its answer arrives. Concurrent
    requests therefore never exceed the limit together. `price`: of a million tokens in and out.
    """

    def __init__(
        self,
        requests: int = 0,
        tokens: int = 0,
        cost: float = 0.0,
        *,
        spent_requests: int = 0,
        spent_tokens: int = 0,
        spent_cost: float = 0.0,
        price: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self._limits = (float(requests), float(tokens), cost)
        self._used = [float(spent_requests), float(spent_tokens), spent_cost]
        self._price = price
        self._lock = threading.Lock()

    def take(self, prompt_tokens: int, completion_tokens: int) -> bool:
        """Reserve one request with these tokens; False if the budget does not allow it."""
        amounts = (1.0, *self._of(prompt_tokens, completion_tokens))
        with self._lock:
            rows = zip(self._limits, self._used, amounts, strict=True)
            if any(limit and used + amount > limit for limit, used, amount in rows):
                return False
            self._add(amounts)
            return True

    def settle(self, set_aside: tuple[int, int], used: tuple[int, int]) -> None:
        """Replace a reservation of tokens (in, out) by those `used`."""
        before, after = self._of(*set_aside), self._of(*used)
        with self._lock:
            self._add((0.0, *(new - old for new, old in zip(after, before, strict=True))))

    def _of(self, prompt_tokens: int, completion_tokens: int) -> tuple[float, float]:
        cost = (prompt_tokens * self._price[0] + completion_tokens * self._price[1]) / 1e6
        return float(prompt_tokens + completion_tokens), cost

    def _add(self, amounts: tuple[float, ...]) -> None:
        self._used = [used + amount for used, amount in zip(self._used, amounts, strict=True)]
