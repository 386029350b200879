"""Say how far a reproduction is, and how much time is probably left."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

STEP, FIRST = "{}/{} {}; about {} left", "{}/{} {}"
MINUTE = 60


def _nobody(_line: str) -> None:
    pass


@dataclass
class Steps:
    """Steps of one command, all of about the same length. `say` gets a line as each of them begins."""

    say: Callable[[str], None] = _nobody
    total: int = 0
    begun: int = 0
    start: float = field(default_factory=time.monotonic)

    def plan(self, n: int) -> None:
        """Expect `n` more steps."""
        self.total += n

    def begin(self, label: str) -> None:
        """Report that the next step begins."""
        if self.begun:
            left = (time.monotonic() - self.start) / self.begun * max(1, self.total - self.begun)
            self.say(STEP.format(self.begun + 1, self.total, label, _words(left)))
        else:
            self.say(FIRST.format(self.begun + 1, self.total, label))
        self.begun += 1


STEPS: ContextVar[Steps] = ContextVar("STEPS", default=Steps())  # noqa: B039


def plan(n: int) -> None:
    STEPS.get().plan(n)


def begin(label: str) -> None:
    STEPS.get().begin(label)


def _words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < MINUTE else f"{seconds / MINUTE:.0f} min"
