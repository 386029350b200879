"""Rank the runs of a release with their results, and group the models that do not differ significantly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from evaluation.metrics.ranking import COLUMNS, ModelScores, default_column, ranking
from evaluation.metrics.sets import BESIDE, OF_SETS
from evaluation.scoring.human_baseline import human_line
from evaluation.scoring.involvement import Overlap, Uses, screening_part, uses_of
from evaluation.scoring.model_cards import cards_of
from evaluation.scoring.models import ModelCard, Run
from evaluation.scoring.run_results import (
    Axes,
    Credits,
    axes_of,
    credits_of,
    fingerprint_of,
    group_of,
    is_partly,
    is_settled,
    results_of,
    runs_of,
)
from foilworks.core.corpus.models import Release
from foilworks.core.text.quoting import quoted

OVERALL = "overall"
# Column of a board -> score of metrics.two_clips. They do not rank: T ranks the two items of a pair.
OF_TWO_CLIPS = {"Text": "text", "Video": "video", "Group": "group"}
# The share of items whose caption scores above their hard foil (`foilworks.core.corpus.rules.hard_foils`). It does not
# rank.
HARD = "Hard"
# Raise it if a board is computed differently from its models.
VERSION = "4"


@dataclass(frozen=True)
class RankedRun:
    """`overall` is a group of evaluation.metrics.pairwise; None without scores."""

    run: Run
    overall: Mapping[str, Any] | None
    n_missing: int

    @property
    def order(self) -> tuple[int, float, float, int]:
        """Return the sort key: P+T first, then T, which covers other items; runs without scores are last."""
        if self.overall is None:
            return (2, 0.0, 0.0, self.run.pk)
        combined = self.overall["P+T"]
        return (int(combined is None), -(combined or 0.0), -self.overall["T"], self.run.pk)


def is_uneven(groups: Iterable[Mapping[str, Any] | None]) -> bool:
    """Report whether only some models scored the proficiency items, so that their T covers different items."""
    return len({group["P"] is None for group in groups if group is not None}) > 1


def leaderboard(release: Release) -> list[RankedRun]:
    """Return every run of the release; an unfinished run is shown without results."""
    return sorted((_standing(run) for run in runs_of(release)), key=lambda standing: standing.order)


def _standing(run: Run) -> RankedRun:
    if not is_settled(run):
        return RankedRun(run, None, 0)
    results = results_of(run)
    return RankedRun(run, None if is_partly(run) else results["overall"], len(results["missing"]))


@dataclass(frozen=True)
class BoardRow:
    """One model. `rank` counts from 1 and is shared within a `group` of models without a significant difference."""

    run: Run
    group: Mapping[str, Any] | None
    rank: int | None
    tied: int | None
    p_best: float | None
    card: ModelCard | None
    n_missing: int
    # How the model, or one of its family, screened foils of the release.
    screening: Overlap | None = None
    # Whether the run is not ranked because too many of its answers cannot be read.
    is_partly: bool = False
    # Whether the run would be behind another one if its unreadable answers were all wrong.
    may_fall: bool = False


@dataclass(frozen=True)
class Board:
    """A leaderboard column over one scope of a release. `scopes`: the other choices, as (value, label)."""

    column: str
    scope: str
    rows: Sequence[BoardRow]
    chance: float | None
    human: Mapping[str, Any] | None
    n_tests: int
    items_to_separate: int | None
    scopes: Sequence[tuple[str, str]]
    n_items: int
    # Of the whole release: items that count as valid because they were imported as published.
    n_as_published: int = 0
    uses: Uses = field(default_factory=Uses)

    @property
    def columns(self) -> list[str]:
        """Return the metrics that some model has, the ranked one first."""
        names = [name for name in COLUMNS if any(row.group[name] is not None for row in self.scored)]
        return [*sorted(names, key=lambda name: name != self.column), *self.unranked]

    @property
    def of_two_clips(self) -> list[str]:
        """Return the scores of items of two clips, if the release has such items."""
        return [name for name in OF_TWO_CLIPS if any(row.group.get(name) is not None for row in self.scored)]

    @property
    def of_sets(self) -> list[str]:
        """Return the scores of sets of answers, if the release has items that count in sets."""
        return [name for name in OF_SETS if any(row.group.get(name) is not None for row in self.scored)]

    @property
    def hard_sources(self) -> Mapping[str, int]:
        """Return the number of items with a hard foil by how it is known; empty if the release has no such items."""
        return next((row.group["hard_sources"] for row in self.scored if "hard_sources" in row.group), {})

    @property
    def unranked(self) -> list[str]:
        """Return the columns that do not rank the models."""
        return [*self.of_two_clips, *self.of_sets, *([HARD] if self.hard_sources else [])]

    @property
    def uneven(self) -> bool:
        return is_uneven(row.group for row in self.rows)

    @property
    def scored(self) -> list[BoardRow]:
        return [row for row in self.rows if row.group is not None]


def board(release: Release, column: str = "", scope: str = OVERALL, *, with_partly: bool = False) -> Board:
    """Build the board of one column (P+T if any model has it, unless named) over `overall`, `subtest:X` or `test:X`.

    It has the latest run per model and protocol. `with_partly`: also rank those with too many unreadable answers. A
    fixed number of queries once results are cached. EvaluationError: the release has no such scope or column.
    """
    axes = axes_of(release)
    scopes = _scopes(axes)
    if scope not in dict(scopes):
        raise EvaluationError(f"the release has no scope {quoted(scope)}; choose one of: {', '.join(dict(scopes))}")
    runs = latest_runs(release)
    results = {run.pk: results_of(run) for run in runs if is_settled(run)}
    groups = {
        pk: with_hard_foils(with_sets(group_of(run_results, scope), run_results, scope), run_results, scope)
        for pk, run_results in results.items()
    }
    groups |= dict.fromkeys(partly := set() if with_partly else {run.pk for run in runs if is_partly(run)})
    column = column or default_column(groups.values())
    ranking = _ranked(release, runs, groups, axes, column, scope)
    by_key = {str(run.pk): run for run in runs}
    cards, uses = cards_of(release.project), uses_of(release)
    rows = [
        BoardRow(
            run=run,
            group=groups.get(run.pk),
            rank=row["place"],
            tied=row["group"],
            p_best=row["p_best"],
            card=cards.get(run.model_key),
            n_missing=len(results[run.pk]["missing"]) if run.pk in results else 0,
            screening=screening_part(uses, run),
            is_partly=run.pk in partly,
            may_fall=_may_fall(run.pk, groups, column),
        )
        for row, run in ((row, by_key[row["key"]]) for row in ranking["rows"])
    ]
    best = next((row.group for row in rows if row.group), None)
    return Board(
        column=column,
        scope=scope,
        rows=rows,
        chance=best["chance"][column] if best else None,
        human=human_line(release, axes, scope, paired=any(row.group and row.group["P"] is not None for row in rows)),
        n_tests=ranking["n_tests"],
        items_to_separate=ranking["items_to_separate"],
        scopes=scopes,
        n_items=int(axes.scope(scope).sum()),
        n_as_published=release.n_as_published,
        uses=uses,
    )


def _may_fall(pk: int, groups: Mapping[int, Mapping[str, Any] | None], column: str) -> bool:
    """Report whether a worse model would be better if all unreadable answers of this one were wrong."""
    own = groups.get(pk)
    if own is None or own[column] is None or "all_wrong" not in own:
        return False
    lowest, values = own["all_wrong"][column], [group[column] for group in groups.values() if group is not None]
    return any(value is not None and lowest < value < own[column] for value in values)


def with_sets(group: Mapping[str, Any] | None, results: Mapping[str, Any], scope: str) -> Mapping[str, Any] | None:
    """Add the scores of items of two clips and of sets in the scope, with intervals and chance, under the names of
    their columns; `luck` of sets, and `n_pairs`, `n_sets`. A test of several subtests has none.
    """
    for source, columns, n, counted in (
        ("two_clips", OF_TWO_CLIPS, "n", "n_pairs"),
        ("sets", OF_SETS, "n_sets", "n_sets"),
    ):
        found = _in_scope(results.get(source), scope)
        if not group or not found:
            continue
        names = {column: own for column, own in columns.items() if own in found}
        added = {f"{column}{end}": found[f"{own}{end}"] for column, own in names.items() for end in ("", "_ci")}
        chance, luck = ({column: found.get(kind, {}).get(own) for column, own in names.items()} for kind in BESIDE)
        group = {**group, **added, counted: found[n], "chance": {**group["chance"], **chance}}
        group |= {"luck": luck} if source == "sets" else {}
    return group


def _in_scope(found: Mapping[str, Any] | None, scope: str) -> Mapping[str, Any] | None:
    kind, _colon, name = scope.partition(":")
    if not found or scope == OVERALL:
        return found and found["overall"]
    group: Mapping[str, Any] | None = found["subtests"].get(name) if kind == "subtest" else None
    return group


def with_hard_foils(
    group: Mapping[str, Any] | None, results: Mapping[str, Any], scope: str
) -> Mapping[str, Any] | None:
    """Add the accuracy against hard foils in the scope, with interval and chance, under the name of its column."""
    results = results.get("hard_foils") or {}
    hard_group = group_of(results, scope) if results else None
    if not group or not hard_group:
        return group
    added = {
        HARD: hard_group["T"],
        f"{HARD}_ci": hard_group["T_ci"],
        "n_hard": hard_group["n"],
        "hard_sources": results["sources"],
    }
    return {**group, **added, "chance": {**group["chance"], HARD: hard_group["chance"]["T"]}}


def latest_runs(release: Release) -> list[Run]:
    """Return the latest of several runs of one model under one protocol: they share their scores."""
    latest: dict[tuple[str, str], Run] = {}
    for run in runs_of(release):
        latest.setdefault((run.model_key or f"waiting {run.pk}", run.protocol), run)
    return list(latest.values())


def _ranked(
    release: Release,
    runs: Sequence[Run],
    groups: Mapping[int, Mapping[str, Any] | None],
    axes: Axes,
    column: str,
    scope: str,
) -> dict[str, Any]:
    if column not in COLUMNS:
        raise EvaluationError(f"unknown column {quoted(column)}; choose one of: {', '.join(COLUMNS)}")
    prints = [[run.pk, fingerprint_of(run) if is_settled(run) else ""] for run in runs]
    ranked_ids = [run.pk for run in runs if groups.get(run.pk) is not None]
    fingerprint = digest([VERSION, release.content_hash, column, scope, prints, ranked_ids])

    def make() -> dict[str, Any]:
        models = [_model(run, groups.get(run.pk), axes) for run in runs]
        return ranking(models, axes.clusters, column, axes.scope(scope))

    return cached_by_fingerprint(release.project, "board", f"{release.pk}:{column}:{scope}", fingerprint, make)


def _model(run: Run, group: Mapping[str, Any] | None, axes: Axes) -> ModelScores:
    """List a model without results last, without loading its credits."""
    credit = credits_of(run, axes) if group is not None else Credits(np.empty(0), np.empty(0))
    return ModelScores(str(run.pk), credit.main, credit.proficiency, group)


def _scopes(axes: Axes) -> list[tuple[str, str]]:
    """Return overall, then tests with several subtests, then subtests, in the order of the items."""
    pairs = dict.fromkeys(zip(axes.tests, axes.subtests, strict=True))
    sizes: dict[str, int] = {}
    for test, _subtest in pairs:
        sizes[test] = sizes.get(test, 0) + 1
    several = [(f"test:{test}", test) for test, size in sizes.items() if size > 1]
    return [(OVERALL, _("overall")), *several, *((f"subtest:{name}", name) for _test, name in pairs)]
