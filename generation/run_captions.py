"""Stream the captions of a run. The set of captions does not change while the run is in progress or resumed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Q, QuerySet

from foilworks.core.corpus.models import FOUND_FALSE, GIVEN_UP, Caption, Item, MediaState, Split, Subtest
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import Project
from generation.models import PERSON_METHOD, CandidateGroup, GenerationRun
from generation.records import CaptionInput

CHUNK = 500
_S = CandidateState
UNDER_WAY = (_S.QUEUED, _S.EDITING, _S.IN_REVIEW, _S.RETURNED, _S.ACCEPTED)


@dataclass(frozen=True)
class Selected:
    """A caption's row and the method's input."""

    row: Caption
    caption_input: CaptionInput


class RunCaptions:
    """The captions of a run in the order of their rows. Iterable more than once; memory holds at most CHUNK captions.

    `dropped_out`: also captions that were retracted, taken down or broken since the run began.
    """

    def __init__(
        self, run: GenerationRun, selection: dict[str, Any] | None = None, *, dropped_out: bool = False
    ) -> None:
        run_selection = run.selection if selection is None else selection
        self._rows = (_captions_selected if dropped_out else selected_rows)(run.project, run_selection)
        keys = run_selection.get("caption_keys")
        self._keys = None if keys is None else frozenset(keys)
        self._without = frozenset((*run_selection.get("without", ()), *run_selection.get("with_foil", ())))

    def __iter__(self) -> Iterator[CaptionInput]:
        for selected in self.selected():
            yield selected.caption_input

    def __len__(self) -> int:
        if self._keys is None and not self._without:
            return self._rows.count()
        return sum(self._has(*row) for row in self._rows.values_list("pk", "key").iterator(CHUNK))

    def selected(self) -> Iterator[Selected]:
        last = 0
        # By key ranges instead of one open cursor: batches are written between two reads.
        while chunk := list(self._rows.filter(pk__gt=last).select_related("video")[:CHUNK]):
            last = chunk[-1].pk
            yield from with_siblings([row for row in chunk if self._has(row.pk, row.key)])

    def _has(self, pk: int, key: str) -> bool:
        return pk not in self._without and (self._keys is None or key in self._keys)


def record_excluded_captions(run: GenerationRun) -> None:
    """Store with a starting run which captions are already excluded, so that `captions_to_plan` never changes."""
    if "without" in run.selection or CandidateGroup.objects.filter(run=run).exists():
        return
    current_rows = selected_rows(run.project, run.selection).order_by().values("pk")
    excluded_rows = _captions_selected(run.project, run.selection).exclude(pk__in=current_rows)
    run.selection = {**run.selection, "without": list(excluded_rows.values_list("pk", flat=True))}
    run.save(update_fields=["selection"])


def captions_to_plan(run: GenerationRun) -> RunCaptions:
    """Return the captions that a run began with. Stored results depend also on those that were excluded since."""
    return RunCaptions(run, dropped_out="without" in run.selection)


def captions_to_learn_from(run: GenerationRun) -> RunCaptions:
    """Return the train split as it was when the run began, or the run's own captions if the split is empty."""
    train_set = train_captions(run)
    return train_set if len(train_set) else RunCaptions(run)


def train_captions(run: GenerationRun) -> RunCaptions:
    """Return the train split as it was when the run began."""
    last = run.selection.get("last_imported", run.selection.get("last_caption"))
    return RunCaptions(run, {"split": Split.TRAIN.value, "last_caption": last})


def captions_to_use(project: Project) -> QuerySet[Caption]:
    """Return the project's usable captions: neither retracted nor of a video that was taken down."""
    rows = Caption.objects.filter(video__project=project).exclude(doubt_settled__in=GIVEN_UP)
    return rows.exclude(video__media_state=MediaState.TAKEN_DOWN)


def selected_rows(project: Project, selection: dict[str, Any]) -> QuerySet[Caption]:
    """Return the captions of a `selection`, without broken media. The caller applies caption_keys.

    {"split": "test", "key_prefix": "direction-", "caption_keys": [...], "last_caption": pk, "without": [pk, ...],
    "with_foil": [pk, ...]}, each optional. The caller applies the last two as well. With "limit", `last_caption` ends
    the run after so many captions, and `last_imported` is the last caption that the run can learn from.
    """
    return _narrowed(captions_to_use(project).exclude(video__media_state=MediaState.BROKEN), selection)


def with_last_caption(subtest: Subtest, selection: dict[str, Any]) -> dict[str, Any]:
    """Return the selection of a new run, which ends at the last caption of now, or after `limit` captions.

    `without_foil` in `selection` leaves out the captions that have a foil in the subtest now: `with_foil`.
    """
    project = subtest.project
    last = selected_rows(project, {}).aggregate(last=Max("pk"))["last"] or 0
    if selection.get("without_foil"):
        selection = {**selection, "with_foil": captions_with_foil(subtest)}
    if "limit" not in selection:
        return {**selection, "last_caption": last}
    rows = selected_rows(project, selection).exclude(pk__in=selection.get("with_foil", ()))
    if "caption_keys" in selection:
        rows = rows.filter(key__in=selection["caption_keys"])
    nth = rows.values_list("pk", flat=True)[selection["limit"] - 1 : selection["limit"]]
    return {**selection, "last_caption": next(iter(nth), last), "last_imported": last}


def captions_with_foil(subtest: Subtest) -> list[int]:
    """Return the captions that have a foil in the subtest, or one on its way: suggested, or to be written. Two queries.

    Foils that a filter rejected or a reviewer dropped do not count.
    """
    groups = CandidateGroup.objects.filter(run__subtest=subtest)
    on_its_way = Q(candidates__state__in=UNDER_WAY) | Q(run__method=PERSON_METHOD, item=None)
    captions_with_candidate = groups.filter(on_its_way).values_list("caption", flat=True)
    captions_with_item = Item.objects.filter(subtest=subtest, foils__isnull=False).values_list("caption", flat=True)
    return sorted({*captions_with_candidate.iterator(), *captions_with_item.iterator()})


def _captions_selected(project: Project, selection: dict[str, Any]) -> QuerySet[Caption]:
    return _narrowed(Caption.objects.filter(video__project=project), selection)


def _narrowed(rows: QuerySet[Caption], selection: dict[str, Any]) -> QuerySet[Caption]:
    if selection.get("split"):
        rows = rows.filter(video__split=selection["split"])
    if selection.get("key_prefix"):
        rows = rows.filter(key__startswith=selection["key_prefix"])
    if selection.get("last_caption") is not None:
        rows = rows.filter(pk__lte=selection["last_caption"])
    return rows.order_by("pk")


def with_siblings(rows: Sequence[Caption]) -> Iterator[Selected]:
    by_video: dict[int, list[tuple[int, str]]] = {row.video_id: [] for row in rows}
    true = Caption.objects.filter(video__in=by_video).exclude(FOUND_FALSE).order_by("pk")
    for pk, video, text in true.values_list("pk", "video", "text"):
        by_video[video].append((pk, text))
    for row in rows:
        siblings = tuple(text for pk, text in by_video[row.video_id] if pk != row.pk)
        # From contents instead of row numbers: the same corpus in another database gets the same foils.
        name = f"{row.video.key}/{row.text_sha256}"
        yield Selected(row, CaptionInput(name, row.text, row.video.key, _facts(row), siblings))


def _facts(row: Caption) -> dict[str, Any]:
    """Return the caption's facts, and its video's movie (identity, random), class and category."""
    video = row.video
    video_facts = {"movie": video.movie, "class_label": video.class_label, "category": video.category}
    return {**{name: value for name, value in video_facts.items() if value}, **row.facts}
