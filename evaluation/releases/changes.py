"""Compare a release with its predecessor: added, removed and changed items, and the effect on each model's score.

Scores are stored by clip and text, so a new release queries a model only for what is new in it; this module lists that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics.intervals import mean_intervals
from evaluation.metrics.ranking import ModelScores, column_credit
from evaluation.scoring.models import Run
from evaluation.scoring.queries import item_texts_of, records_of, release_scores
from evaluation.scoring.run_results import Axes, axes_of, credits_from, credits_of, fingerprint_of, is_comparable
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.release_records import content_of

VERSION = "3"


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

    key = f"{before.pk}:{after.pk}"
    fingerprint = digest([VERSION, before.content_hash, after.content_hash])
    return Changes(**cached_by_fingerprint(after.project, "changes", key, fingerprint, make))


def _contents(release: Release) -> dict[str, tuple[str, str]]:
    """Return by id the hash of what models read and the hash of everything.

    A change elsewhere (a fact, a label of the clip, a provenance) does not affect the scores.
    """
    rows = ReleaseItem.objects.filter(release=release, is_private=False).order_by("position")
    rows = rows.values_list("record", flat=True)
    return {
        record["id"]: (digest([questions.main_key, questions.main, questions.proficiency]), digest(content_of(record)))
        for record in rows.iterator()
        for questions in [item_texts_of(record)]
    }


@dataclass(frozen=True)
class ScoreChange:
    """One model on both releases: its share over all items of each, and over the items that are equal in both.

    `place_before`, `place_after`: its rank by these shares among the models that are on both. The shares over equal
    items are equal for a deterministic model; if they differ, something other than the items changed.
    """

    label: str
    protocol: str
    column: str
    before: float
    after: float
    before_ci: list[float] | None
    after_ci: list[float] | None
    same_before: float | None
    same_after: float | None
    n_before: int
    n_after: int
    n_same: int
    place_before: int = 0
    place_after: int = 0


@dataclass(frozen=True)
class Unscored:
    """A model of the earlier release without scores of `n_missing` items of the later one."""

    run: Run
    n_missing: int


def shifts(before: Release, after: Release) -> list[ScoreChange]:
    """Return the models whose stored scores cover both, best on `after` first.

    A model that was run only on `before` counts if its scores cover all items of `after`. No model is loaded.
    """
    rows = [shift for old, new in _runs_on_both(before, after)[0] for shift in _shift(old, new, after, before)]
    for name in ("before", "after"):
        rows = [replace(row, **{f"place_{name}": _rank(row, rows, name)}) for row in rows]
    return sorted(rows, key=lambda row: (-row.after, row.label))


def unscored(before: Release, after: Release) -> list[Unscored]:
    """Return the models of `before` that have to score items of `after` first."""
    return _runs_on_both(before, after)[1]


def _rank(row: ScoreChange, rows: Sequence[ScoreChange], name: str) -> int:
    """Return the rank among the models of the same column; equal shares have equal ranks."""
    return 1 + sum(getattr(shift, name) > getattr(row, name) for shift in rows if shift.column == row.column)


def _runs_on_both(before: Release, after: Release) -> tuple[list[tuple[Run, Run]], list[Unscored]]:
    later = {(run.model_key, run.protocol): run for run in latest_runs(after) if run.model_key and is_comparable(run)}
    pairs, without = [], []
    for run in latest_runs(before):
        if not (run.model_key and is_comparable(run)):
            continue
        new = later.get((run.model_key, run.protocol))
        missing = 0 if new is not None else _n_missing(run, before, after)
        if missing:
            without.append(Unscored(run, missing))
        else:
            pairs.append((run, new or run))
    return pairs, without


def _n_missing(run: Run, before: Release, after: Release) -> int:
    def make() -> dict[str, Any]:
        return {"n": len(release_scores(run, records_of(after))[1])}

    fingerprint = digest([VERSION, fingerprint_of(run), after.content_hash])
    return int(cached_by_fingerprint(after.project, "shift", f"{run.pk}@{after.pk}", fingerprint, make)["n"])


def _shift(old: Run, new: Run, after: Release, before: Release) -> list[ScoreChange]:
    difference = changes(before, after)
    changed = {*difference.added, *difference.edited}
    unchanged = [name for name in axes_of(after).ids if name not in changed]
    fingerprint = digest([VERSION, fingerprint_of(old), fingerprint_of(new), after.content_hash])
    key = f"{old.pk}:{new.pk}:{after.pk}"
    data = cached_by_fingerprint(
        after.project, "shift", key, fingerprint, lambda: _measured(old, new, after, unchanged)
    )
    return [ScoreChange(label=new.label, protocol=new.protocol, **data)] if data else []


def _measured(old: Run, new: Run, after: Release, unchanged: list[str]) -> dict[str, Any]:
    tables, axes_by = {}, {}
    for name, run, release in (("before", old, old.release), ("after", new, after)):
        axes = axes_by[name] = axes_of(release)
        is_own_release = run.release_id == release.pk
        credit = credits_of(run, axes) if is_own_release else credits_from(run, axes, records_of(release))
        model = ModelScores("", credit.main, credit.proficiency, None)
        tables[name] = {column: column_credit(model, column) for column in ("P+T", "T")}
    column = "P+T" if all((~np.isnan(table["P+T"])).any() for table in tables.values()) else "T"
    values = {name: _by_id(axes_by[name], tables[name][column]) for name in tables}
    if not all(values.values()):
        return {}
    shared = [name for name in unchanged if name in values["before"] and name in values["after"]]
    return {
        "column": column,
        **{name: float(np.mean(list(credit_by_id.values()))) for name, credit_by_id in values.items()},
        **{f"{name}_ci": _interval(axes_by[name], tables[name][column]) for name in tables},
        **{f"same_{k}": float(np.mean([v[i] for i in shared])) if shared else None for k, v in values.items()},
        **{f"n_{name}": len(credit_by_id) for name, credit_by_id in values.items()},
        "n_same": len(shared),
    }


def _interval(axes: Axes, credit: Any) -> list[float] | None:
    counts = ~np.isnan(credit)
    clusters = [name for name, is_scored in zip(axes.clusters, counts, strict=True) if is_scored]
    return mean_intervals(credit[counts][:, None], clusters)[0]


def _by_id(axes: Axes, credit: Any) -> Mapping[str, float]:
    return {name: float(credit[k]) for k, name in enumerate(axes.ids) if not np.isnan(credit[k])}
