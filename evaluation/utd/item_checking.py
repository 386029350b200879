"""Which items descriptions alone answer: caption against foils by the cosine of texts. Only jobs load it.

Nine readings of objects in sequence (three ways of asking for the objects by three for the sentences: UTD, Table F.4),
and the whole description of the middle frame alone.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from django.db.models import QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from corpus.models import Item, Subtest
from corpus.rules.states import ItemState, drops_out
from evaluation.errors import EvaluationError
from evaluation.utd.concepts import DESCRIPTION, OBJECTS
from evaluation.utd.instructions import FRAME, INSTRUCTIONS, RETRIEVAL, ROBUST_CAPTIONS, ROBUST_OBJECTS, TARGET
from evaluation.utd.measures import normalised
from evaluation.utd.measuring import open_encoder
from evaluation.utd.models import ItemCheck, ItemShortcut
from evaluation.utd.representations import Embedding, texts_of
from evaluation.utd.samples import described_videos, raw_frames
from evaluation.utd.shortcuts import texts_sha256
from jobs.models import Job
from jobs.progress import progress

ITEMS_PER_BATCH = 200
ACCEPTED = (ItemState.IN_VALIDATION, ItemState.DISPUTED, ItemState.VALID)


def check_items(check: ItemCheck, job: Job) -> None:
    """Every accepted main item of a described video; what an earlier attempt stored stays. EvaluationError: none."""
    described = described_videos(check.descriptions)
    items = accepted_items(check).filter(video__in=described)
    done = items.filter(shortcuts__check_of=check).count()
    total = items.count()
    if not total:
        raise EvaluationError("no accepted item stands on a described video; describe the videos first")
    progress(job, done, total, "loading the encoder")
    embedding, check.encoder_key, cuts = open_encoder(check.encoder, check.params.get("device", "auto"))
    left = items.exclude(shortcuts__check_of=check).order_by("video_id", "pk").prefetch_related("foils")
    for batch in _batches(list(left.select_related("caption"))):
        ItemShortcut.objects.bulk_create(_found(check, embedding, batch), ignore_conflicts=True)
        done += len(batch)
        progress(job, done, total, "comparing sentences with descriptions")
    check.checked_at = timezone.now()
    check.params = {**check.params, "truncated": cuts.facts()}
    check.save(update_fields=["encoder_key", "checked_at", "params"])


def accepted_items(check: ItemCheck) -> QuerySet[Item]:
    return Item.objects.filter(
        subtest__project=check.descriptions.project_id, subtest__kind=Subtest.Kind.MAIN, state__in=ACCEPTED
    )


def _found(check: ItemCheck, embedding: Embedding, items: Sequence[Item]) -> list[ItemShortcut]:
    videos = list(dict.fromkeys(item.video_id for item in items))
    place = {video: at for at, video in enumerate(videos)}
    own = [place[item.video_id] for item in items]
    raw = raw_frames(check.descriptions, videos)
    objects, whole = texts_of(raw, OBJECTS), texts_of(raw, DESCRIPTION)
    sentences = [_sentences(item) for item in items]
    nine = np.zeros(len(items), dtype=np.int64)
    for told in ROBUST_OBJECTS[RETRIEVAL]:
        seen = normalised(embedding.rows(objects.sequences, told)[:])[own]
        for asked in ROBUST_CAPTIONS:
            nine += _right(embedding, seen, sentences, asked)
    middle = (len(whole.frames[0]) - 1) // 2
    told = INSTRUCTIONS[RETRIEVAL]
    one = normalised(embedding.rows([frames[middle] for frames in whole.frames], told[DESCRIPTION][FRAME])[:])[own]
    frame = _right(embedding, one, sentences, told[TARGET][FRAME])
    return [
        ItemShortcut(
            check_of=check,
            item=item,
            texts_sha256=texts_sha256(texts),
            objects_right=int(nine[at]),
            frame_right=bool(frame[at]),
        )
        for at, (item, texts) in enumerate(zip(items, sentences, strict=True))
    ]


def _sentences(item: Item) -> list[str]:
    return [item.caption.text, *[foil.text for foil in item.foils.all() if not drops_out(foil.verdict, item.state)]]


def _right(
    embedding: Embedding, seen: NDArray[np.float32], sentences: Sequence[Sequence[str]], asked: str
) -> NDArray[np.bool_]:
    """(n,) whether the caption is nearer to its video's text than every foil; a tie is not."""
    flat = [text for texts in sentences for text in texts]
    rows = normalised(embedding.rows(flat, asked)[:])
    right, first = [], 0
    for at, texts in enumerate(sentences):
        scores = rows[first : first + len(texts)] @ seen[at]
        first += len(texts)
        right.append(len(texts) > 1 and bool(scores[0] > scores[1:].max()))
    return np.array(right, dtype=np.bool_)


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), ITEMS_PER_BATCH):
        yield items[start : start + ITEMS_PER_BATCH]
