"""The steps from captions to a release, in order, with what each of them counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# (key of the counts, label, what is counted)
STEPS: tuple[tuple[str, str | Promise, str], ...] = (
    ("captions", _("Captions"), "captions"),
    ("captions_used", _("Captions that runs made foils for"), "captions"),
    ("made", _("Candidates made"), "candidates"),
    ("passed", _("Passed the filters"), "candidates"),
    ("edited", _("Submitted by an annotator"), "candidates"),
    ("accepted", _("Accepted in review"), "candidates"),
    ("items", _("Items assembled or imported"), "items"),
    ("judged", _("Judged by validators"), "items"),
    ("valid", _("Valid items"), "items"),
    ("released", _("In a release"), "items"),
)


@dataclass(frozen=True)
class FunnelStep:
    """`percent` of the step before where this is a part of it (captions, candidates, items), else None.

    `most` is the largest count of the steps that count the same thing: the length of a full bar.
    """

    label: str
    count: int
    what: str
    most: int
    percent: float | None = None


def steps(counts: Mapping[str, int], *, edits: bool) -> list[FunnelStep]:
    """`edits`: whether the project has an edit stage; without one nobody is waited for."""
    rows = [(str(label), what, counts[key]) for key, label, what in STEPS if edits or key != "edited"]
    found: list[FunnelStep] = []
    for label, what, count in rows:
        before = found[-1].count if found and found[-1].what == what else 0
        most = max(1, *(n for _label, same, n in rows if same == what))
        found.append(FunnelStep(label, count, what, most, 100 * count / before if before and count <= before else None))
    return found
