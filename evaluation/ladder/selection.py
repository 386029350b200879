"""Keep the items of a release that are supported for a need: the clip, several frames or their order.

The ladder reads a release; a new release freezes the items that are valid now. They are matched by id and content: an
item that the scored release lacks, or has with other texts, does not qualify (docs/decisions/0086-items-by-ladder.md).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.ladder.ladders import evidence_of, has_ladder, ladder_of_release, ladder_runs
from evaluation.metrics.need_evidence import FALSE_SHARE, LOWEST, MIN_LOOKS
from evaluation.scoring.models import Run
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
    """`kept`: ids of the items that qualify; empty in a selection that was stored. `looks`: the effective looks that
    count for the need; with fewer than MIN_LOOKS nothing qualifies.
    """

    need: str
    runs: Sequence[Run]
    kept: frozenset[str]
    looks: float
    is_enough: bool
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
            "looks": self.looks,
            "false_share": FALSE_SHARE,
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
    """Return the runs of the newest release with a ladder, without models at luck: they are no evidence for a need."""
    scored = (
        Release.objects.filter(project=project, runs__params__has_key="ladder").select_related("project").distinct()
    )
    for release in scored.order_by("-pk"):
        if runs := ladder_runs(release):
            ladder = ladder_of_release(release)
            guessers = ladder["overall"]["guessers"] if ladder else []
            return [run for run in runs if run.label not in guessers] or runs
    return []


def select(records: Collection[Record], need: str, runs: Sequence[Run]) -> Selection:
    """Return which of the records are supported for a need (`metrics.need_evidence`).

    EvaluationError: an unknown need, no runs, or too few looks to name items.
    """
    if need not in LOWEST:
        raise EvaluationError(
            _("unknown need %(need)s; choose one of: %(known)s") % {"need": quoted(need), "known": ", ".join(LOWEST)}
        )
    if not runs:
        raise EvaluationError(
            _("No run has a ladder yet. Score a release with `foilworks evaluate model SPEC --controls` first.")
        )
    selection = _selections(records, runs)[need]
    if not selection.is_enough:
        words = _(
            "Single items cannot be named: %(looks).1f independent answers of %(min).0f. Score again on the page of "
            "the evidence ladder, or score another model that beats guessing."
        )
        raise EvaluationError(words % {"looks": selection.looks, "min": MIN_LOOKS})
    return selection


def _selections(records: Collection[Record], runs: Sequence[Run]) -> dict[str, Selection]:
    """Return what remains of the records for each need, by the evidence for the items that the runs scored."""
    scored, evidence = evidence_of(runs, with_private=runs[0].release.n_private > 0)
    index_by_id = {record["id"]: at for at, record in enumerate(scored)}
    indices = [index_by_id.get(record["id"]) for record in records]
    current = [
        at if at is not None and _content(scored[at]) == _content(record) else None
        for at, record in zip(indices, records, strict=True)
    ]
    selections = {}
    for need in LOWEST:
        supported = evidence.supported(need)
        kept = frozenset(
            record["id"] for at, record in zip(current, records, strict=True) if at is not None and supported[at]
        )
        unknown = {record["id"] for at, record in zip(current, records, strict=True) if at is None}
        counts = _counts(records, kept, unknown)
        selections[need] = Selection(
            need, tuple(runs), kept, evidence.looks_for(need), evidence.is_enough(need), counts
        )
    return selections


@dataclass(frozen=True)
class Offer:
    """What a release could be selected with: `runs` of one release, and how many items remain for each need."""

    runs: Sequence[Run]
    chosen: Sequence[Run]
    selections: Mapping[str, Selection]

    @property
    def possible(self) -> dict[str, Selection]:
        """Return the needs with enough looks to name items."""
        return {need: selection for need, selection in self.selections.items() if selection.is_enough}

    @property
    def rows(self) -> list[tuple[SubtestCount, list[int]]]:
        """Return each subtest with the number of items that remain, in the order of `possible`."""
        tables = [selection.subtests for selection in self.possible.values()]
        return [(row, [table[at].n_kept for table in tables]) for at, row in enumerate(tables[0])] if tables else []


def offer(project: Project, records: Collection[Record], run_ids: Sequence[int] = ()) -> Offer | None:
    """Return the selections that the ladders of the newest scored release allow; None without a ladder.

    `run_ids`: ids of its runs to go by; others are ignored.
    """
    runs = _newest(project)
    selected_runs = [run for run in runs if run.pk in run_ids] or runs
    return Offer(runs, selected_runs, _selections(records, selected_runs)) if selected_runs else None


def _content(record: Record) -> tuple[Any, ...]:
    """Return what a model reads of an item."""
    return record["caption"], tuple(record["foils"]), record["video"]["key"]


def _counts(records: Collection[Record], kept: Collection[str], unknown: Collection[str]) -> tuple[SubtestCount, ...]:
    by_subtest: dict[str, list[str]] = {}
    for record in records:
        by_subtest.setdefault(record["subtest"], []).append(record["id"])
    return tuple(
        SubtestCount(name, len(ids), sum(row in kept for row in ids), sum(row in unknown for row in ids))
        for name, ids in by_subtest.items()
    )
