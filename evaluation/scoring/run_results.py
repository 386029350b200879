"""Compute each run's credit per item of its release, and its results: once after it ends, then cached."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics import pairwise, two_clips
from evaluation.metrics.ties import hit, standing
from evaluation.scoring.models import Run
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import (
    counted,
    item_texts_of,
    pair_scores,
    release_scores,
    run_results,
    scored_records,
    unscored_parts,
)
from evaluation.scoring.rungs import Rung, ladder_of
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.release_records import cluster
from foilworks.core.jobs.models import JobState

Floats = NDArray[np.float64]
# In addition to the analysis's own version: raise it if credits are computed differently.
VERSION = "10"
AXES_VERSION = "3"
# Of the rungs below the whole clip (`scoring.rungs`).
RUNGS_VERSION = "1"
RANKED = "ranked"


@dataclass(frozen=True)
class Axes:
    """The public items of a release in order: n names each. They never change, because a release never does.

    `has_pair`: whether P and P+T cover the item, which has a valid proficiency pair.
    """

    ids: Sequence[str]
    subtests: Sequence[str]
    tests: Sequence[str]
    clusters: Sequence[str]
    n_foils: Sequence[int]
    has_pair: Sequence[bool]

    def scope(self, name: str) -> NDArray[np.bool_]:
        """Return the items of `subtest:NAME` or `test:NAME`, or `ranked` ones (two foils and more), (n,); else all of
        them.
        """
        if name == RANKED:
            return np.array(self.n_foils) > 1
        kind, _, scope_name = name.partition(":")
        names = {"subtest": self.subtests, "test": self.tests}.get(kind)
        if names is None:
            return np.ones(len(self.ids), dtype=bool)
        return np.array([label == scope_name for label in names], dtype=bool)


@dataclass(frozen=True)
class Credits:
    """(n,) credit of one run on each item of its release; NaN without a score, or without a proficiency pair."""

    main: Floats
    proficiency: Floats


def axes_of(release: Release) -> Axes:
    """Return the axes of the release's public items. One query, or none."""

    def make() -> dict[str, Any]:
        return asdict(axes_from(scored_records(release)))

    return Axes(
        **cached_by_fingerprint(
            release.project, "axes", str(release.pk), digest([AXES_VERSION, release.content_hash]), make
        )
    )


def item_ids_of(release: Release) -> QuerySet[ReleaseItem, int | None]:
    """Return the ids of the release's public items in the order of its axes, None for an erased one."""
    members = ReleaseItem.objects.filter(release=release, is_private=False)
    return members.order_by("position").values_list("item_id", flat=True)


def axes_from(records: Sequence[Mapping[str, Any]]) -> Axes:
    """Return the axes of frozen records."""
    return Axes(
        ids=[record["id"] for record in records],
        subtests=[record["subtest"] for record in records],
        tests=[record["test"] or record["subtest"] for record in records],
        clusters=[cluster(record["video"]) for record in records],
        n_foils=[len(record["foils"]) for record in records],
        has_pair=[bool(item_texts_of(record).proficiency) for record in records],
    )


def runs_of(release: Release) -> QuerySet[Run]:
    """Return the runs of the release, latest first, each with `stamp`: when scores of its model were last stored."""
    return _stamped(Run.objects.filter(release=release).select_related("job", "release__project")).order_by("-id")


def _stamped(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Set the stamp of the runs. Scores belong to a model and a protocol, so a run on another release may have added
    some.
    """
    same = Run.objects.filter(model_key=OuterRef("model_key"), protocol=OuterRef("protocol"))
    ended = same.annotate(at=Coalesce("scored_at", "job__finished_at")).filter(at__isnull=False)
    return runs.annotate(stamp=Subquery(ended.order_by(F("at").desc()).values("at")[:1]))


def is_settled(run: Run) -> bool:
    """Report whether the run's scores are complete: its job stored the last one or ended, or it never had a job."""
    return run.job is None or run.job.is_over or run.scored_at is not None


def is_partly(run: Run) -> bool:
    """Report whether too many of the run's items have no score (`foilworks.core.jobs.outcomes`)."""
    return run.job is not None and run.job.state == JobState.PARTLY


def is_comparable(run: Run) -> bool:
    """Report whether the run's numbers can be compared with those of other runs: complete, not only partly read."""
    return is_settled(run) and not is_partly(run)


def fingerprint_of(run: Run) -> str:
    """Return what the run's results follow from: the scores stored until `stamp`, the tie policy, the metric's
    version."""
    row = run if "stamp" in vars(run) else _stamped(Run.objects.filter(pk=run.pk)).get()
    stamp: datetime | None = vars(row)["stamp"]
    rules = asdict(PROTOCOLS[run.protocol])
    versions = [VERSION, pairwise.VERSION, two_clips.VERSION]
    inputs = [*versions, run.release_id, run.model_key, run.protocol, rules, stamp and stamp.timestamp()]
    # Earlier versions had none, so their results do not change.
    unscored = sorted(unscored_parts(run))
    return digest([*inputs, run.params.get("control"), *([unscored] if unscored else [])])


def results_of(run: Run) -> dict[str, Any]:
    """Return `queries.run_results`; cached once the run's job is over, computed for every request while it runs."""
    if not is_settled(run):
        return run_results(run)
    return cached_by_fingerprint(
        run.release.project, "results", str(run.pk), fingerprint_of(run), lambda: run_results(run)
    )


def rungs_of(run: Run) -> tuple[Rung, ...]:
    """Return the rungs that the run was asked to score, from no clip to the whole clip; only FULL without a ladder."""
    ladder = ladder_of(run.params)
    return (*(ladder.rungs if ladder else ()), Rung.FULL)


def rung_fingerprint(run: Run, rung: Rung) -> str:
    """Return what the run's results on a rung follow from; for the whole clip, `fingerprint_of`."""
    full_fingerprint = fingerprint_of(run)
    return (
        full_fingerprint
        if rung == Rung.FULL
        else digest([full_fingerprint, RUNGS_VERSION, rung, run.params.get("ladder")])
    )


def credits_of(
    run: Run, axes: Axes, rung: Rung = Rung.FULL, records: Sequence[Mapping[str, Any]] | None = None
) -> Credits:
    """Return the run's credits on a rung in the order of `axes`, under the tie policy of its protocol.

    `records`: the public ones of the release, if they are read already.
    """
    subject = str(run.pk) if rung == Rung.FULL else f"{run.pk} {rung}"
    data = cached_by_fingerprint(
        run.release.project, "credits", subject, rung_fingerprint(run, rung), lambda: _credits(run, axes, rung, records)
    )
    return _credits_in(data)


def credits_from(
    run: Run, axes: Axes, records: Sequence[Mapping[str, Any]] | None, rung: Rung = Rung.FULL, look: int = 0
) -> Credits:
    """Return the run's credits on the given records of its release, whose axes are `axes`; None: the public ones.

    `look`: a further look at the rung (`scoring.rungs`).
    """
    return _credits_in(_credits(run, axes, rung, records, look))


def _credits_in(data: Mapping[str, Sequence[float | None]]) -> Credits:
    return Credits(*(np.array(data[comparison], dtype=np.float64) for comparison in ("main", "proficiency")))


def _credits(
    run: Run, axes: Axes, rung: Rung = Rung.FULL, records: Sequence[Mapping[str, Any]] | None = None, look: int = 0
) -> dict[str, list[float | None]]:
    """Convert credits to JSON values: None for NaN, which JSON does not have."""
    rows, _left_out = counted(run, release_scores(run, records, rung=rung, look=look)[0])
    out: dict[str, list[float | None]] = {"main": [None] * len(axes.ids), "proficiency": [None] * len(axes.ids)}
    if not rows:
        return out
    scores, ties = pair_scores(rows), PROTOCOLS[run.protocol].ties
    index_by_id = {name: number for number, name in enumerate(axes.ids)}
    has = ~np.isnan(scores.proficiency[:, 0])
    earned = {
        "main": (hit(standing(scores.main), ties), np.ones(len(rows), dtype=bool)),
        "proficiency": (hit(standing(np.where(has[:, None], scores.proficiency, 0.0)), ties), has),
    }
    for comparison, (credit, has_credit) in earned.items():
        for row, name in enumerate(scores.ids):
            if has_credit[row]:
                out[comparison][index_by_id[name]] = float(credit[row])
    return out


def margins_of(run: Run) -> list[float | None]:
    """Return the caption's score minus the best foil's, in the order of `axes_of` and in the model's own unit.

    Below zero, the model is wrong. None without a score. Cached as credits are.
    """
    fingerprint = fingerprint_of(run)
    return list(cached_by_fingerprint(run.release.project, "margins", str(run.pk), fingerprint, lambda: _margins(run)))


def _margins(run: Run) -> list[float | None]:
    margin_by_id: dict[str, float] = {}
    rows, _left_out = counted(run, release_scores(run)[0])
    if rows:
        scores = pair_scores(rows)
        margins = scores.main[:, 0] - np.nanmax(scores.main[:, 1:], axis=1)
        margin_by_id = dict(zip(scores.ids, margins.tolist(), strict=True))
    return [margin_by_id.get(name) for name in axes_of(run.release).ids]


def keep(run: Run) -> dict[str, Any]:
    """Compute what pages will need at the end of the run's job, and return the results: no visitor waits for them."""
    axes, records = axes_of(run.release), scored_records(run.release)
    stamped = _stamped(Run.objects.filter(pk=run.pk).select_related("release__project")).get()
    results = cached_by_fingerprint(
        run.release.project, "results", str(run.pk), fingerprint_of(stamped), lambda: run_results(run, records)
    )
    for rung in rungs_of(stamped):
        credits_of(stamped, axes, rung, records)
    margins_of(stamped)
    return results


def group_of(results: Mapping[str, Any], scope: str) -> Mapping[str, Any] | None:
    """Return the group of metrics.pairwise that a scope names, None if the run has none."""
    kind, _, name = scope.partition(":")
    return results[f"{kind}s"].get(name) if kind in {"subtest", "test"} else results["overall"]
