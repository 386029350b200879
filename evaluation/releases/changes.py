"""Compare a release with its predecessor: added, removed and changed items, and the effect on each model's score.

Scores are stored by clip and text, so a new release queries a model only for what is new in it; this module lists that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus.models import Release, ReleaseItem
from corpus.release_records import content_of
from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics.ranking import ModelScores, column_credit
from evaluation.scoring.models import Run
from evaluation.scoring.queries import asked_of
from evaluation.scoring.run_results import Axes, axes_of, credits_of, fingerprint_of, is_settled

VERSION = "2"


@dataclass(frozen=True)
class Changes:
    """Ids of items in release order. `edited`: changed in what models read; `described`: changed in anything else."""

    added: list[str]
    removed: list[str]
    edited: list[str]
    described: list[str]
    n_same: int


def previous_of(release: Release) -> Release | None:
    """Return the release of the project that was frozen before this one."""
    return Release.objects.filter(project=release.project, pk__lt=release.pk).order_by("-pk").first()


def changes(before: Release, after: Release) -> Changes:
    """Return the changes from `before` to `after`, cached, because releases never change. Two queries the first
    time."""

    def make() -> dict[str, Any]:
        old, new = (_contents(release) for release in (before, after))
        shared = [name for name in new if name in old]
        edited = [name for name in shared if new[name][0] != old[name][0]]
        described = [name for name in shared if new[name][0] == old[name][0] and new[name][1] != old[name][1]]
        return {
            "added": [name for name in new if name not in old],
            "removed": [name for name in old if name not in new],
            "edited": edited,
            "described": described,
            "n_same": len(shared) - len(edited) - len(described),
        }

    about = f"{before.pk}:{after.pk}"
    fingerprint = digest([VERSION, before.content_hash, after.content_hash])
    return Changes(**cached_by_fingerprint(after.project, "changes", about, fingerprint, make))


def _contents(release: Release) -> dict[str, tuple[str, str]]:
    """Return by id the hash of what models read and the hash of everything.

    A change elsewhere (a fact, a label of the clip, a provenance) does not affect the scores.
    """
    rows = ReleaseItem.objects.filter(release=release, is_private=False).order_by("position")
    rows = rows.values_list("record", flat=True)
    return {
        record["id"]: (digest([asked.main_key, asked.main, asked.proficiency]), digest(content_of(record)))
        for record in rows.iterator()
        for asked in [asked_of(record)]
    }


@dataclass(frozen=True)
class Shift:
    """One model on both releases: its share over all items of each, and over the items that are equal in both.

    The last two are equal for a deterministic model; if they differ, something other than the items changed.
    """

    label: str
    protocol: str
    column: str
    before: float
    after: float
    same_before: float | None
    same_after: float | None
    n_before: int
    n_after: int
    n_same: int


def shifts(before: Release, after: Release) -> list[Shift]:
    """Return the models with scores on both, best on `after` first."""
    old = {(run.model_key, run.protocol): run for run in latest_runs(before) if run.model_key and is_settled(run)}
    pairs = [
        (old[run.model_key, run.protocol], run)
        for run in latest_runs(after)
        if is_settled(run) and (run.model_key, run.protocol) in old
    ]
    found = changes(before, after)
    changed = {*found.added, *found.edited}
    same = [name for name in axes_of(after).ids if name not in changed]
    rows = [shift for pair in pairs for shift in _shift(*pair, same)]
    return sorted(rows, key=lambda row: -row.after)


def _shift(old: Run, new: Run, same: list[str]) -> list[Shift]:
    fingerprint = digest([VERSION, fingerprint_of(old), fingerprint_of(new)])
    data = cached_by_fingerprint(
        new.release.project, "shift", f"{old.pk}:{new.pk}", fingerprint, lambda: _measured(old, new, same)
    )
    return [Shift(label=new.label, protocol=new.protocol, **data)] if data else []


def _measured(old: Run, new: Run, same: list[str]) -> dict[str, Any]:
    tables = {}
    for name, run in (("before", old), ("after", new)):
        axes = axes_of(run.release)
        credit = credits_of(run, axes)
        model = ModelScores("", credit.main, credit.proficiency, None)
        tables[name] = {column: _by_id(axes, column_credit(model, column)) for column in ("P+T", "T")}
    column = "P+T" if all(tables[name]["P+T"] for name in tables) else "T"
    values = {name: tables[name][column] for name in tables}
    if not all(values.values()):
        return {}
    both = [name for name in same if name in values["before"] and name in values["after"]]
    return {
        "column": column,
        **{name: float(np.mean(list(each.values()))) for name, each in values.items()},
        **{f"same_{k}": float(np.mean([v[i] for i in both])) if both else None for k, v in values.items()},
        **{f"n_{name}": len(each) for name, each in values.items()},
        "n_same": len(both),
    }


def _by_id(axes: Axes, credit: Any) -> Mapping[str, float]:
    return {name: float(credit[k]) for k, name in enumerate(axes.ids) if not np.isnan(credit[k])}
