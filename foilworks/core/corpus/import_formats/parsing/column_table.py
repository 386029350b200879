"""Hold the columns of a table while their roles are guessed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from foilworks.core.corpus.import_formats.parsing.column_profiles import Profile
from foilworks.core.corpus.import_formats.parsing.row_values import Row

SURE = 0.5


@dataclass(frozen=True)
class Guess:
    """The columns of a role, how sure that is (0 to 1), and why. `alternatives`: columns that a person can choose."""

    columns: tuple[str, ...]
    confidence: float
    reason: str
    alternatives: tuple[str, ...] = ()


@dataclass
class Table:
    """The rows, the profiles of their columns, and the columns that have a role."""

    rows: Sequence[Row]
    profiles: Mapping[str, Profile]
    roles: dict[str, Guess] = field(default_factory=dict)

    def assign(self, role: str, columns: Iterable[str], confidence: float, reason: str, *others: str) -> None:
        self.roles[role] = Guess(tuple(columns), confidence, reason, others)

    def free(self) -> dict[str, Profile]:
        """Return the columns without a role."""
        used = {name for guess in self.roles.values() if guess.confidence >= SURE for name in guess.columns}
        return {name: profile for name, profile in self.profiles.items() if name not in used}
