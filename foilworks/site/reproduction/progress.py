"""Say how far a reproduction is, and how much time is probably left."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

STEP, TIME_LEFT = "{:.0f} %: {}", "; about {} left"
MINUTE = 60


def _nobody(_line: str) -> None:
    pass


@dataclass
class Steps:
    """Steps of one command; sizes are those of an audit of a file. `say` gets a line as each of them begins."""

    say: Callable[[str], None] = _nobody
    total: int = 0
    done: int = 0
    size: int = 0
    start: float = field(default_factory=time.monotonic)

    def plan(self, size: int) -> None:
        """Expect steps of this size in sum."""
        self.total += size

    def begin(self, label: str, size: int = 1) -> None:
        """Report that the last step is done and the next one begins."""
        self.done, self.size = self.done + self.size, size
        left = ""
        if self.done:
            seconds = (time.monotonic() - self.start) / self.done * max(size, self.total - self.done)
            left = TIME_LEFT.format(_words(seconds))
        self.say(STEP.format(100 * self.done / max(self.total, self.done + size), label) + left)


STEPS: ContextVar[Steps] = ContextVar("STEPS", default=Steps())  # noqa: B039


def plan(size: int) -> None:
    STEPS.get().plan(size)


def begin(label: str, size: int = 1) -> None:
    STEPS.get().begin(label, size)


def _words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < MINUTE else f"{seconds / MINUTE:.0f} min"
