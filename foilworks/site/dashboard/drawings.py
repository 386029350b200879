"""Prepare the drawings of the overview: the funnel, the item states of each subtest, the days. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Stage
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.site.dashboard.counting import SHOWN_DAYS

# (key of the counts, label, unit that is counted)
STEPS: tuple[tuple[str, str | Promise, str], ...] = (
    ("captions", _("Captions"), "captions"),
    ("captions_used", _("Captions with generated foils"), "captions"),
    ("made", _("Candidates generated"), "candidates"),
    ("passed", _("Passed the filters"), "candidates"),
    ("edited", _("Submitted by an annotator"), "candidates"),
    ("accepted", _("Accepted in review"), "candidates"),
    ("imported", _("Foils imported with their items"), "foils"),
    ("items", _("Main items created or imported"), "items"),
    ("judged", _("Judged by validators"), "items"),
    ("valid", _("Valid items"), "items"),
    ("released", _("In a release"), "items"),
)


@dataclass(frozen=True)
class FunnelStep:
    """`percent` of the step before if this is a part of it (captions, candidates, items), else None.

    `most` is the largest count of the steps that count the same thing: the length of a full bar.
    """

    label: str
    count: int
    what: str
    most: int
    percent: float | None = None


def steps(counts: Mapping[str, int], *, edits: bool) -> list[FunnelStep]:
    """Return the steps of the funnel. `edits`: whether the project has an edit stage; without one, no step waits for
    it.
    """
    rows = [(str(label), unit, counts[key]) for key, label, unit in STEPS if edits or key != "edited"]
    funnel_steps: list[FunnelStep] = []
    for label, unit, count in rows:
        before = funnel_steps[-1].count if funnel_steps and funnel_steps[-1].what == unit else 0
        most = max(1, *(n for _label, unit_of_row, n in rows if unit_of_row == unit))
        funnel_steps.append(
            FunnelStep(label, count, unit, most, 100 * count / before if before and count <= before else None)
        )
    return funnel_steps


# (label, count, the two counts of its share, what that share is, page, query)
STAGES: tuple[tuple[str | Promise, str, tuple[str, str] | None, str | Promise, str, str], ...] = (
    (_("Captions"), "captions", None, "", "corpus:videos", ""),
    (
        _("Foils"),
        "passed",
        ("captions_used", "captions"),
        _("of %(n)d captions have generated foils"),
        "generation:runs",
        "",
    ),
    (_("Accepted"), "accepted", ("accepted", "edited"), _("of %(n)d submitted foils"), "reports:report", ""),
    (_("Judged"), "judged", ("judged", "items"), _("of %(n)d main items"), "items:items", ""),
    (_("Valid"), "valid", ("valid", "judged"), _("of %(n)d judged items"), "items:items", "state=valid"),
    (_("Released"), "released", ("released", "valid"), _("of %(n)d valid items"), "releases:releases", ""),
)
PAGE_ARGS = {"reports:report": ("reviewing",)}


@dataclass(frozen=True)
class FunnelStage:
    """One of the six stages at a glance: `percent` with the words `of`, None if neither count contains the other.

    Without a percentage, `of` says how many were imported.
    """

    label: str
    count: int
    percent: float | None
    of: str
    page: str
    args: tuple[str, ...] = ()
    query: str = ""


def stages(counts: Mapping[str, int], *, edits: bool) -> list[FunnelStage]:
    """Return the six stages from captions to a release, with the shares of `steps`."""
    funnel_stages = []
    for label, key, share, of, page, query in STAGES:
        if key == "accepted" and not edits:
            share, of = ("accepted", "passed"), _("of %(n)d generated foils")
        numerator, denominator = (counts[name] for name in share) if share else (0, 0)
        percent = 100 * numerator / denominator if denominator and numerator <= denominator else None
        words = str(of) % {"n": denominator} if percent is not None else ""
        count, imported = counts[key], counts.get("imported", 0)
        if key in ("passed", "accepted") and imported:
            # Imported foils are neither generated nor reviewed here.
            count, percent = count + imported, None
            words = ngettext("%(n)d imported", "%(n)d imported", imported) % {"n": imported}
        funnel_stages.append(FunnelStage(str(label), count, percent, words, page, PAGE_ARGS.get(page, ()), query))
    return funnel_stages


# In the order of a bar; (state, count of a subtest's row, label).
STATES: tuple[tuple[str, str, str | Promise], ...] = (
    (ItemState.VALID, "n_valid", _("valid")),
    (ItemState.IN_VALIDATION, "n_waiting", _("in validation")),
    (ItemState.DISPUTED, "n_disputed", _("disputed")),
    (ItemState.INVALID, "n_invalid", _("invalid")),
    (ItemState.RETRACTED, "n_retracted", _("retracted")),
)


@dataclass(frozen=True)
class Segment:
    """`n` items of a state, drawn from `x` on."""

    state: str
    label: str
    n: int
    x: int = 0
    query: str = ""


@dataclass(frozen=True)
class SubtestRow:
    """A subtest of the count as it is shown; `words` says what its bar shows."""

    counted: Mapping[str, Any]
    kind_label: str
    segments: list[Segment] = field(default_factory=list)

    @property
    def total(self) -> int:
        return max(1, sum(segment.n for segment in self.segments))

    @property
    def words(self) -> str:
        return ", ".join(f"{segment.n} {segment.label}" for segment in self.segments if segment.n)


def subtest_rows(counted: list[Mapping[str, Any]]) -> list[SubtestRow]:
    """Return the rows with their bars."""
    rows = []
    for row in counted:
        # A count that an earlier version stored has no keys of its subtests.
        subtest_query = {"subtest": row["pk"]} if "pk" in row else {}
        segments, x = [], 0
        for state, key, label in STATES:
            query = urlencode({**subtest_query, "state": state})
            segments.append(Segment(state, str(label), row[key], x, query))
            x += row[key]
        rows.append(SubtestRow(row, str(Subtest.Kind(row["kind"]).label), segments))
    return rows


def states_of_all(counted: list[Mapping[str, Any]]) -> list[Segment]:
    """Return the legend of the bars: every state that an item has, with its items in all subtests."""
    segments = []
    for state, key, label in STATES:
        n = sum(row[key] for row in counted)
        main = sum(row[key] for row in counted if row["kind"] == Subtest.Kind.MAIN)
        words = str(label)
        if main < n:
            # The funnel counts main items alone.
            words = _("%(state)s (%(main)d main, %(other)d proficiency)") % {
                "state": label,
                "main": main,
                "other": n - main,
            }
        if n:
            segments.append(Segment(state, words, n, query=urlencode({"state": state})))
    return segments


N_NAMES = 3


@dataclass(frozen=True)
class StageQueue:
    """Slots of one stage; `people` hold a lease now, `ends` says when the work will be done, empty if unknown."""

    stage: str
    label: str
    open: int
    leased: int
    done: int
    people: tuple[str, ...] = ()
    ends: str = ""

    @property
    def names(self) -> str:
        first_names, more = self.people[:N_NAMES], len(self.people) - N_NAMES
        return ", ".join(first_names) + (f" +{more}" if more > 0 else "")

    @property
    def total(self) -> int:
        return self.open + self.leased + self.done


DAYS_IN_WEEKS, DAYS_IN_MONTHS, FURTHEST = 21, 70, 365
SHORTEST = 0.75


def duration(days: float | None) -> str:
    """Return about how long `days` are, in words; empty if unknown, over, or further away than anybody can know."""
    if not days or days > FURTHEST:
        return ""
    if days < SHORTEST:
        return gettext("less than a day of work left")
    n = math.ceil(days)
    if n > DAYS_IN_MONTHS:
        return ngettext("about %(n)d month of work left", "about %(n)d months of work left", round(n / 30)) % {
            "n": round(n / 30)
        }
    if n > DAYS_IN_WEEKS:
        return ngettext("about %(n)d week of work left", "about %(n)d weeks of work left", round(n / 7)) % {
            "n": round(n / 7)
        }
    return ngettext("about %(n)d day of work left", "about %(n)d days of work left", n) % {"n": n}


# The chart of the days, in its own units.
BAR, GAP, HEIGHT = 14, 4, 90


# The stages of a day's bar, in the order of stacking.
STACKED_STAGES = (Stage.EDIT, Stage.REVIEW, Stage.VALIDATION, Stage.BASELINE, Stage.UNSEEN, Stage.OBJECTS)


@dataclass(frozen=True)
class Bar:
    stage: str
    x: int
    y: float
    height: float


@dataclass(frozen=True)
class Day:
    """`x`: where its bar begins in the picture."""

    day: date
    counts: list[tuple[str, int]]
    total: int
    x: int = 0

    @property
    def words(self) -> str:
        return ", ".join(f"{n} {label}" for label, n in self.counts if n)


def days(counts: Mapping[str, Mapping[str, int]], today: date) -> dict[str, Any]:
    """Return the last days with their tasks by stage, as a table and as stacked bars."""
    dates = [today - timedelta(days=back) for back in range(SHOWN_DAYS - 1, -1, -1)]
    stages = [stage for stage in STACKED_STAGES if stage in counts]
    rows = []
    for index, day in enumerate(dates):
        per = [(str(Stage(stage).label), counts[stage].get(day.isoformat(), 0)) for stage in stages]
        rows.append(Day(day, per, sum(n for _label, n in per), index * (BAR + GAP)))
    most = max((row.total for row in rows), default=0)
    bars = []
    for row in rows:
        top = float(HEIGHT)
        for stage, (_label, n) in zip(stages, row.counts, strict=True):
            height = HEIGHT * n / most if most else 0.0
            top -= height
            if n:
                bars.append(Bar(stage, row.x, round(top, 2), round(height, 2)))
    return {
        "days": rows,
        "day_stages": [(stage, Stage(stage).label) for stage in stages],
        "bars": bars,
        "bar": {"width": BAR, "height": HEIGHT, "across": len(rows) * (BAR + GAP) - GAP},
        "busiest": most,
        "worked_days": sum(1 for row in rows if row.total),
        "done_in_window": sum(row.total for row in rows),
    }
