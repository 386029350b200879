"""The captions of a run, streamed: which they are never changes while the run is worked on or resumed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from corpus.models import FOUND_FALSE, GIVEN_UP, Caption, MediaState, Split
from generation.models import CandidateGroup, GenerationRun
from generation.records import CaptionInput
from projects.models import Project

CHUNK = 500


@dataclass(frozen=True)
class Selected:
    """A caption's row and what a method is told of it."""

    row: Caption
    given: CaptionInput


class RunCaptions:
    """Iterable more than once, in the order of their rows; at most CHUNK captions are in memory.

    `dropped_out`: also those that were given up, taken down or broken since the run began.
    """

    def __init__(
        self, run: GenerationRun, selection: dict[str, Any] | None = None, *, dropped_out: bool = False
    ) -> None:
        chosen = run.selection if selection is None else selection
        self._rows = (_all_named if dropped_out else selected_rows)(run.project, chosen)
        keys = chosen.get("caption_keys")
        self._keys = None if keys is None else frozenset(keys)
        self._without = frozenset(chosen.get("without", ()))

    def __iter__(self) -> Iterator[CaptionInput]:
        for selected in self.selected():
            yield selected.given

    def __len__(self) -> int:
        if self._keys is None and not self._without:
            return self._rows.count()
        return sum(self._has(*row) for row in self._rows.values_list("pk", "key").iterator(CHUNK))

    def selected(self) -> Iterator[Selected]:
        last = 0
        # By key ranges, not one open cursor: batches are written between two reads.
        while chunk := list(self._rows.filter(pk__gt=last).select_related("video")[:CHUNK]):
            last = chunk[-1].pk
            yield from _with_siblings([row for row in chunk if self._has(row.pk, row.key)])

    def _has(self, pk: int, key: str) -> bool:
        return pk not in self._without and (self._keys is None or key in self._keys)


def record_excluded_captions(run: GenerationRun) -> None:
    """Note with a run that begins which captions are out already, so that `captions_to_plan` stays what it is now."""
    if "without" in run.selection or CandidateGroup.objects.filter(run=run).exists():
        return
    there = selected_rows(run.project, run.selection).order_by().values("pk")
    out = _all_named(run.project, run.selection).exclude(pk__in=there)
    run.selection = {**run.selection, "without": list(out.values_list("pk", flat=True))}
    run.save(update_fields=["selection"])


def captions_to_plan(run: GenerationRun) -> RunCaptions:
    """The captions that a run began with: those that dropped out since have given and taken in what is stored."""
    return RunCaptions(run, dropped_out="without" in run.selection)


def captions_to_learn_from(run: GenerationRun) -> RunCaptions:
    """The project's train split as it was when the run began; the run's own captions where nothing is in that split."""
    train = {"split": Split.TRAIN.value, "last_caption": run.selection.get("last_caption")}
    found = RunCaptions(run, train)
    return found if len(found) else RunCaptions(run)


def captions_to_use(project: Project) -> QuerySet[Caption]:
    """The project's captions that something may be made of: none that was given up, or whose video was taken down."""
    rows = Caption.objects.filter(video__project=project).exclude(doubt_settled__in=GIVEN_UP)
    return rows.exclude(video__media_state=MediaState.TAKEN_DOWN)


def selected_rows(project: Project, selection: dict[str, Any]) -> QuerySet[Caption]:
    """The project's captions that `selection` names, broken media left out; caption_keys are sorted out by the caller.

    {"split": "test", "key_prefix": "direction-", "caption_keys": [...], "last_caption": pk, "without": [pk, ...]}, each
    optional; `without` too is sorted out by the caller.
    """
    return _named(captions_to_use(project).exclude(video__media_state=MediaState.BROKEN), selection)


def _all_named(project: Project, selection: dict[str, Any]) -> QuerySet[Caption]:
    return _named(Caption.objects.filter(video__project=project), selection)


def _named(rows: QuerySet[Caption], selection: dict[str, Any]) -> QuerySet[Caption]:
    if selection.get("split"):
        rows = rows.filter(video__split=selection["split"])
    if selection.get("key_prefix"):
        rows = rows.filter(key__startswith=selection["key_prefix"])
    if selection.get("last_caption") is not None:
        rows = rows.filter(pk__lte=selection["last_caption"])
    return rows.order_by("pk")


def _with_siblings(rows: Sequence[Caption]) -> Iterator[Selected]:
    by_video: dict[int, list[tuple[int, str]]] = {row.video_id: [] for row in rows}
    true = Caption.objects.filter(video__in=by_video).exclude(FOUND_FALSE).order_by("pk")
    for pk, video, text in true.values_list("pk", "video", "text"):
        by_video[video].append((pk, text))
    for row in rows:
        siblings = tuple(text for pk, text in by_video[row.video_id] if pk != row.pk)
        # Made of contents, not of row numbers: the same corpus in another database gets the same foils.
        name = f"{row.video.key}/{row.text_sha256}"
        yield Selected(row, CaptionInput(name, row.text, row.video.key, _facts(row), siblings))


def _facts(row: Caption) -> dict[str, Any]:
    """The caption's facts, and of its video what methods ask for: the movie (identity, random), class, category."""
    video = row.video
    known = {"movie": video.movie, "class_label": video.class_label, "category": video.category}
    return {**{name: value for name, value in known.items() if value}, **row.facts}
