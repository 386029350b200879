"""Keep the items of a release whose answer needs the clip, several frames or their order, by the ladder of models.

The ladder reads a release; a new release freezes the items that are valid now. They are matched by id and content: an
item that the scored release lacks, or has with other texts, does not qualify (docs/decisions/0086-items-by-ladder.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import chance_of, has_ladder, lacking, ladder_runs, levels_of
from evaluation.metrics.ladder import QUALIFIES, UNKNOWN, lucky
from evaluation.scoring.models import Run
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_results import axes_from, axes_of
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted

Record = Mapping[str, Any]


@dataclass(frozen=True)
class SubtestCount:
    """Of a subtest's `n` items: `n_kept` qualify, `n_unknown` were not scored as they are now."""

    name: str
    n: int
    n_kept: int
    n_unknown: int


@dataclass(frozen=True)
class Selection:
    """`kept`: ids of the items that qualify; empty in a selection that was stored. `luck`: the highest share that
    guesses alone would make qualify.
    """

    need: str
    runs: Sequence[Run]
    kept: frozenset[str]
    luck: float | None
    subtests: Sequence[SubtestCount] = field(default_factory=tuple)

    @property
    def n_kept(self) -> int:
        return sum(subtest.n_kept for subtest in self.subtests)

    @property
    def n_unknown(self) -> int:
        return sum(subtest.n_unknown for subtest in self.subtests)

    def as_json(self) -> dict[str, Any]:
        """Return what a release stores about it."""
        release = self.runs[0].release
        return {
            "needs": self.need,
            "models": [
                {"run": run.pk, "label": run.label, "model_key": run.model_key, "protocol": run.protocol}
                for run in self.runs
            ],
            "scored_release": {"id": release.pk, "name": release.name, "content_hash": release.shown_hash},
            "subtests": {
                subtest.name: {"n": subtest.n, "n_kept": subtest.n_kept, "n_unknown": subtest.n_unknown}
                for subtest in self.subtests
            },
            "luck": self.luck,
        }


def runs_to_select_with(project: Project, run_ids: Sequence[int] = ()) -> list[Run]:
    """Return the chosen runs; without a choice those of the newest release with a ladder, [] if there is none.

    EvaluationError: a run that the project does not have, without a ladder, or of another release than the first.
    """
    if not run_ids:
        return _newest(project)
    runs_by_id = {
        run.pk: run
        for run in Run.objects.filter(release__project=project, pk__in=run_ids).select_related(
            "release__project", "job"
        )
    }
    for pk in run_ids:
        if pk not in runs_by_id:
            raise EvaluationError(_("The project has no run %(run)s. Choose one of its runs.") % {"run": pk})
        if not has_ladder(runs_by_id[pk]):
            words = _("Run %(run)s (%(model)s) has no ladder. Add controls to it first.")
            raise EvaluationError(words % {"run": pk, "model": runs_by_id[pk].label})
    runs = [runs_by_id[pk] for pk in dict.fromkeys(run_ids)]
    if len({run.release_id for run in runs}) > 1:
        raise EvaluationError(_("The runs are of different releases. Choose runs of one release."))
    return runs


def _newest(project: Project) -> list[Run]:
    scored = (
        Release.objects.filter(project=project, runs__params__has_key="ladder").select_related("project").distinct()
    )
    for release in scored.order_by("-pk"):
        if runs := ladder_runs(release):
            return runs
    return []


def select(records: Sequence[Record], need: str, runs: Sequence[Run]) -> Selection:
    """Return which of the records qualify: some model solves them with the full clip, and none with less.

    EvaluationError: an unknown need, no runs, or a run without the rungs that show it.
    """
    if need not in QUALIFIES:
        raise EvaluationError(
            _("unknown need %(need)s; choose one of: %(known)s") % {"need": quoted(need), "known": ", ".join(QUALIFIES)}
        )
    if not runs:
        raise EvaluationError(
            _("No run has a ladder yet. Score a release with `foilworks evaluate model SPEC --controls` first.")
        )
    if missing := lacking(runs, need):
        words = _("These runs cannot show which items need it, because they lack rungs (%(missing)s). Add controls.")
        raise EvaluationError(words % {"missing": ", ".join(missing)})
    scored = _scored(runs)
    level_of = {
        record["id"]: scored_item.level
        if (scored_item := scored.get(record["id"])) and scored_item.content == _content(record)
        else UNKNOWN
        for record in records
    }
    qualified_ids = frozenset(name for name, level in level_of.items() if level >= QUALIFIES[need])
    lucks = [scored[name].luck for name, level in level_of.items() if level != UNKNOWN]
    counts = _counts(records, level_of, qualified_ids)
    return Selection(need, tuple(runs), qualified_ids, sum(lucks) / len(lucks) if lucks else None, counts)


@dataclass(frozen=True)
class _Scored:
    """What the ladders show of an item; `luck`: the highest chance that guesses alone would make it qualify."""

    content: tuple[Any, ...]
    level: int
    luck: float


def _scored(runs: Sequence[Run]) -> dict[str, _Scored]:
    """Return {id: what the ladders show} of all items of the runs' release, also of private ones."""
    release = runs[0].release
    scored_by_id = {}
    for is_private in (False, True) if release.n_private else (False,):
        records = records_of(release, private=is_private)
        axes = axes_from(records) if is_private else axes_of(release)
        levels = levels_of(runs, axes, records if is_private else None).tolist()
        chances = lucky(chance_of(axes), len(runs)).tolist()
        rows = zip(records, levels, chances, strict=True)
        scored_by_id |= {record["id"]: _Scored(_content(record), level, luck) for record, level, luck in rows}
    return scored_by_id


@dataclass(frozen=True)
class Offer:
    """What a release could be selected with: `runs` of one release, and how many items remain for each need."""

    runs: Sequence[Run]
    chosen: Sequence[Run]
    selections: Mapping[str, Selection]

    @property
    def rows(self) -> list[tuple[SubtestCount, list[int]]]:
        """Return each subtest with the number of items that remain, in the order of `selections`."""
        tables = [selection.subtests for selection in self.selections.values()]
        return [(row, [table[at].n_kept for table in tables]) for at, row in enumerate(tables[0])] if tables else []


def offer(project: Project, records: Sequence[Record], run_ids: Sequence[int] = ()) -> Offer | None:
    """Return the selections that the ladders of the newest scored release allow; None without a ladder.

    `run_ids`: ids of its runs to go by; others are ignored.
    """
    runs = _newest(project)
    selected_runs = [run for run in runs if run.pk in run_ids] or runs
    if not selected_runs:
        return None
    possible = {need: select(records, need, selected_runs) for need in QUALIFIES if not lacking(selected_runs, need)}
    return Offer(runs, selected_runs, possible) if possible else None


def _content(record: Record) -> tuple[Any, ...]:
    """Return what a model reads of an item."""
    return record["caption"], tuple(record["foils"]), record["video"]["key"]


def _counts(
    records: Sequence[Record], level_of: Mapping[str, int], qualified_ids: frozenset[str]
) -> tuple[SubtestCount, ...]:
    by_subtest: dict[str, list[str]] = {}
    for record in records:
        by_subtest.setdefault(record["subtest"], []).append(record["id"])
    return tuple(
        SubtestCount(
            name,
            len(ids),
            sum(item_id in qualified_ids for item_id in ids),
            sum(level_of[item_id] == UNKNOWN for item_id in ids),
        )
        for name, ids in by_subtest.items()
    )
