"""Define what a language model that chooses options by their letters reads, and how it is tuned. No torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Protocol


@dataclass(frozen=True)
class LetterTuning:
    """Settings of LoRA (Hu et al. 2021) on all linear layers; `batch`: items per update."""

    epochs: int = 2
    batch: int = 8
    learning_rate: float = 5e-4
    rank: int = 8
    checkpoint_every: int = 10
    seed: int = 0

    def steps(self, items: int) -> int:
        """Return the number of updates with this number of items."""
        return self.epochs * -(-items // self.batch)


@dataclass(frozen=True)
class Choice:
    """A question with its options in order, and the index of the right one."""

    question: str
    options: Sequence[str]
    answer: int

    @property
    def prompt(self) -> str:
        """Return the text after which the model writes a letter."""
        lines = [f"{letter}. {option}" for letter, option in zip(ascii_uppercase, self.options, strict=False)]
        return "\n".join([self.question, *lines, "Answer:"])


class Learner(Protocol):
    """A model of n choices; `option_letters.LetterModel` is one."""

    name: str
    revision: str
    n_parameters: int

    def probabilities(self, choices: Sequence[Choice]) -> list[list[float]]:
        """Return the probability of each option of n choices, among their letters."""

    def tuned(
        self,
        training: Sequence[Choice],
        held_out: Sequence[Choice],
        settings: LetterTuning,
        checkpoint: Path,
        report: Callable[[int], None],
    ) -> list[list[float]]:
        """Return the probabilities of the options of `held_out` after tuning on `training`; the model stays as it was.

        `checkpoint`: a file to continue from, deleted at the end; `report` gets the number of updates that are done.
        """
