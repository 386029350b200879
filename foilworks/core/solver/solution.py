"""Define the result of the solver: values, intervals and verdicts of three tiers, and a score per item."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Tier = Literal["item", "set", "file"]
TIERS: tuple[Tier, ...] = ("item", "set", "file")
# The value that sentences quote.
HEADLINE: Tier = "set"
Verdict = Literal["fail", "reversed", "nothing_found", "nothing_found_so_far", "cannot_tell"]
PartName = Literal["mirrored", "copies", "others"]
Interval = tuple[float, float]
# Of the procedure: states of others must not be resumed, and results that are stored are computed again.
VERSION = "7"


@dataclass(frozen=True)
class TierResult:
    """The share of items that a solver answers with the features of one tier.

    `interval`: 95 %, videos are blocks. `chance`: mean of 1 / (number of options). `n_needed`: the number of items that
    would decide, of a verdict "cannot_tell"; None if more items of this kind would not. `value_ungrouped`: the value if
    items of one video teach each other; only the headline of a certificate has it, if items share a video.
    `p_value`: the share of redrawn answers that reach the value; None without permutations. `why`: the reason of
    "cannot_tell": "interval" (it includes both answers), "wide", "group" (one group has over 20 % of the items), "few"
    (fewer than 5 groups: nothing was measured, and `value` is chance); "" otherwise. `p_prior`: the share of labels
    permuted within their kind that reach the value: small if more than a prior is learned.
    """

    tier: Tier
    value: float
    interval: Interval
    chance: float
    n: int
    n_blocks: int
    verdict: Verdict
    n_needed: int | None = None
    value_ungrouped: float | None = None
    p_value: float | None = None
    p_prior: float | None = None
    why: str = ""


@dataclass(frozen=True)
class PartResult:
    """The headline's value on one part of the items. `name`: mirrored, copies or others; `n_sets`: mirrored sets."""

    name: PartName
    value: float
    interval: Interval
    chance: float
    n: int
    n_sets: int


@dataclass(frozen=True)
class KindResult:
    """The headline's value on one kind of question: a diagnostic. `p_holm`: one-sided against chance, Holm-corrected
    over the kinds."""

    kind: str
    value: float
    interval: Interval
    chance: float
    n: int
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class ItemScore:
    """How far one item is answered without the video.

    `s`: the probability of the right option, mean over repeats; `sd`: its standard deviation over repeats, None with
    one repeat. `tier`: the lowest tier whose solver answers the item, "" if none does. `reason`: the family of features
    that contributes most to the choice, and its strongest feature, in words.
    """

    id: str
    s: float
    s_minus_chance: float
    sd: float | None
    tier: Tier | Literal[""]
    reason: str
    n_options: int


@dataclass(frozen=True)
class FamilyImportance:
    """How many items the headline's models answer with the features of one family alone, minus chance (0.1: 10 points).

    Families share information, so these do not add up.
    """

    family: str
    importance: float


@dataclass(frozen=True)
class Selection:
    """The record of a selection: ids of removed items, the families that chose them, and the seed.

    Families that chose cannot acquit what they left, so `reserved` families answer for it.
    """

    removed: tuple[str, ...]
    probes: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class Solution:
    """All results. `majority`: the share of the more frequent label, None without labels. `learners`: how often each
    learner was selected inside the training folds.

    `largest_fair`: no more items can be kept in a fair subset (`inference.largest_fair`), by the tier item. Of a set
    with a record of its selection, `held_out` is the value of families that chose no item, and `probes` are those that
    chose.
    """

    tiers: dict[Tier, TierResult]
    parts: list[PartResult]
    kinds: list[KindResult]
    items: list[ItemScore]
    families: list[FamilyImportance]
    majority: float | None
    learners: dict[str, int]
    is_certified: bool
    seed: int
    repeats: int
    permutations: int
    largest_fair: int
    held_out: TierResult | None = None
    probes: tuple[str, ...] = ()

    @property
    def headline(self) -> TierResult:
        """Return the result that sentences quote.

        Families that chose the items are too often wrong on them: they can still find a failure, but nothing else.
        """
        of_all = self.tiers[HEADLINE]
        return of_all if self.held_out is None or of_all.verdict == "fail" else self.held_out

    def as_json(self) -> dict[str, Any]:
        """Return all results as values that JSON has; `headline` is the name of the tier that sentences quote."""
        return {"headline": HEADLINE, **asdict(self)}
