"""Random captions: captions of other videos as easy negatives (contrast sets, Secs. 4.1 and D).

They are from the same movie if it is known.

`prepare` samples the run's captions per movie, independent of their order; memory does not grow with
the run beyond params["pool"] captions per movie. A foil is never a caption of the same video, or the same text.
"""

import hashlib
import math
import random
from collections.abc import Iterable, Iterator
from heapq import heappush, heappushpop
from typing import Any, NamedTuple

from foilworks.core.text.diff import Edit
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "1"


class PoolCaption(NamedTuple):
    """A caption of the pool. The negated draw is first, so that a heap keeps the smallest draws."""

    draw: int
    id: str
    video: str
    text: str


State = dict[str, tuple[PoolCaption, ...]] | None


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Return movie ("" if unknown) -> a uniform sample of its captions."""
    del mode
    check(params)
    pools: dict[str, list[PoolCaption]] = {}
    for caption in captions:
        digest = hashlib.sha256(f"{seed}\x1fpool\x1f{caption.id}".encode("utf-8", "surrogatepass")).digest()
        pool_caption = PoolCaption(-int.from_bytes(digest[:8], "big"), caption.id, _video(caption), caption.text)
        pool = pools.setdefault(_movie(caption), [])
        (heappush if len(pool) < params["pool"] else heappushpop)(pool, pool_caption)
    return {movie: tuple(sorted(pool)) for movie, pool in pools.items()}


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, each a whole other caption; `state` is from `prepare`."""
    check(params)
    for caption in captions:
        pool = (state or {}).get(_movie(caption), ())
        drawn_captions = list(_drawn(caption, pool, params["foils"], mode, seed))
        if not drawn_captions:
            where = "of its movie" if _movie(caption) else "of the run"
            yield Skip(caption.id, f"no other video {where} has a different caption")
        for rank, pool_caption in enumerate(drawn_captions):
            edit = Edit(0, len(caption.text), pool_caption.text)
            facts = {"from_caption": pool_caption.id, "from_video": pool_caption.video}
            yield draft_from_edits(caption, [edit], method="random_caption", mode=mode, rank=rank, facts=facts)


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils", "pool")


def _movie(caption: CaptionInput) -> str:
    return str(caption.facts.get("movie") or "")


def _video(caption: CaptionInput) -> str:
    """Return the video's key. A caption without a video counts as its own video."""
    return caption.video or caption.id


def _drawn(
    caption: CaptionInput, pool: tuple[PoolCaption, ...], n_captions: int, mode: str, seed: int
) -> Iterator[PoolCaption]:
    """Draw different captions of other videos; in mode corrected one per video, and no text of the own video."""
    rng = generator_for(seed, "random_caption", caption.id)
    texts = {_plain(caption.text)}
    videos = {_video(caption)}
    if mode != "paper":
        texts |= {_plain(text) for text in caption.siblings}
    n_remaining = n_captions
    for index in rng.sample(range(len(pool)), len(pool)) if len(pool) < 50 else _walk(rng, len(pool)):
        pool_caption = pool[index]
        if pool_caption.video in videos or _plain(pool_caption.text) in texts:
            continue
        yield pool_caption
        texts.add(_plain(pool_caption.text))
        if mode != "paper":
            videos.add(pool_caption.video)
        n_remaining -= 1
        if not n_remaining:
            return


def _walk(rng: random.Random, size: int) -> Iterator[int]:
    """Yield every index once in random order without a list: by steps coprime to the size."""
    index, step = rng.randrange(size), rng.randrange(1, size)
    while math.gcd(size, step) != 1:
        step = rng.randrange(1, size)
    for _ in range(size):
        yield index
        index = (index + step) % size


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
