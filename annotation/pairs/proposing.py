"""Propose pairs of a project's captions: read the rows, and call the rules of `generation.pairs`."""

from collections.abc import Callable, Iterator

from django.db.models import QuerySet

from annotation.pairs.made_clips import MADE_CLIP
from foilworks.core.corpus.models import NOT_RELIED_ON, Caption, MediaState
from foilworks.core.projects.models import Project
from generation.pairs.natural import natural_pairs
from generation.pairs.orders import orders
from generation.pairs.paces import repetitions, speeds
from generation.pairs.proposals import NATURAL, ORDER, REPETITION, REVERSAL, SPEED, PairCaption, Proposal
from generation.pairs.reversals import reversals

ROWS_PER_QUERY = 2000
# Kinds that are made of one clip and its caption.
OF_ONE_CLIP = {REVERSAL: reversals, SPEED: speeds, REPETITION: repetitions}
FIELDS = (
    "pk",
    "text",
    "video__key",
    "video__sha256",
    "video__source_dataset",
    "video__source_id",
    "video__category",
    "video__class_label",
    "video__movie",
    "video__start_time",
    "video__end_time",
    "video__duration",
)


def propose(project: Project, kind: str, *, limit: int | None, per_caption: int, seed: int) -> Iterator[Proposal]:
    """Yield up to `limit` proposals of a kind; equal arguments give equal proposals.

    Reads captions that nobody found false, of clips that are not taken down. Only natural pairs need no file.
    """
    captions = Caption.objects.filter(video__project=project).exclude(NOT_RELIED_ON)
    if kind == NATURAL:
        captions = captions.exclude(video__media_state=MediaState.TAKEN_DOWN).order_by("pk")
        yield from natural_pairs(_read(captions, _cluster), limit=limit, per_caption=per_caption, seed=seed)
        return
    captions = captions.filter(video__media_state=MediaState.READY, video__time_unit="sec")
    if of_one_clip := OF_ONE_CLIP.get(kind):
        yield from of_one_clip(_read(captions.order_by("video_id", "pk"), _cluster), limit=limit, seed=seed)
    elif kind == ORDER:
        # Trims of one file, so that it can be cut and joined.
        in_order = captions.order_by("video__sha256", "video__key", "pk")
        yield from orders(_read(in_order, lambda row: row["video__sha256"]), limit=limit, seed=seed)


def _read(captions: QuerySet[Caption], source: Callable[[dict], str]) -> Iterator[PairCaption]:
    for row in captions.values(*FIELDS).iterator(ROWS_PER_QUERY):
        if MADE_CLIP.search(row["video__key"]):
            continue
        start, end, duration = row["video__start_time"], row["video__end_time"], row["video__duration"]
        until = end if end is not None else duration
        yield PairCaption(
            id=row["pk"],
            text=row["text"],
            clip=row["video__key"],
            source=source(row),
            dataset=row["video__source_dataset"],
            category=row["video__category"],
            label=row["video__class_label"],
            movie=row["video__movie"],
            start=start,
            end=end,
            duration=None if until is None else until - (start or 0.0),
        )


def _cluster(row: dict) -> str:
    """Return the source video, as the statistics of releases group items (evaluation/scoring/clip_keys.py)."""
    if row["video__source_id"]:
        return f"{row['video__source_dataset']}/{row['video__source_id']}"
    return row["video__sha256"] or row["video__key"]
