"""Cut a run into shards, so that no pair of clip and text is in two of them, and collect their results.

A shard lists its items by their positions in the release (for a model without video, which share of the texts, by their
hashes). The worker that takes it looks up which of its scores are missing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import ScoringCounts
from evaluation.scoring.rungs import BLANK
from evaluation.scoring.shards.outlook import smallest
from evaluation.scoring.shards.pending_pairs import ClipWork
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.shards import failed_message, merged, problems_of, shard_size
from foilworks.core.text.batches import batched

MIN_SHARD, MAX_SHARD = 512, 2048

Todo = Sequence[tuple[ClipWork, list[str]]]
Part = tuple[dict[str, Any], int]


def shard_items(n_items: int) -> int:
    """Return the number of items per shard: 512 to 2,048, or SHARD_ITEMS."""
    return shard_size(n_items, MIN_SHARD, MAX_SHARD)


def parts_of(todo: Todo, needs_video: bool) -> list[Part]:
    """Return (payload, pairs to score) of each shard, in the order of the clips."""
    size = shard_items(len({position for clip_work, _ in todo for position in clip_work.positions}))
    return _by_clips(todo, size) if needs_video else _by_texts(todo, size)


def _by_clips(todo: Todo, size: int) -> list[Part]:
    """Keep everything about a clip, and about an item, in one shard."""
    shard_of: dict[int, int] = {}
    shards: list[set[int]] = []
    todo_by_shard: list[list[tuple[ClipWork, list[str]]]] = []
    for clip_work, texts in todo:
        positions = clip_work.positions
        shard_numbers = {shard_of[position] for position in positions if position in shard_of}
        if not shard_numbers and (not shards or len(shards[-1]) >= size):
            shards.append(set())
            todo_by_shard.append([])
        at = min(shard_numbers, default=len(shards) - 1)
        shards[at] |= positions
        todo_by_shard[at].append((clip_work, texts))
        shard_of |= dict.fromkeys(positions, at)
    return [
        ({"positions": sorted(positions)}, pairs_of(shard_todo))
        for positions, shard_todo in zip(shards, todo_by_shard, strict=True)
    ]


def _by_texts(todo: Todo, size: int) -> list[Part]:
    n_items = sum(len(clip_work.items) for clip_work, _ in todo)
    count = max(1, -(-n_items // size))
    totals = [0] * count
    for _, texts in todo:
        for text in texts:
            totals[share_of(text, count)] += 1
    return [({"share": number, "of": count}, total) for number, total in enumerate(totals) if total]


def pairs_of(todo: Iterable[tuple[ClipWork, Collection[str]]]) -> int:
    """Count the distinct pairs of clip and text. Without a clip, or with another one, each item has work of its own."""
    distinct, shared = 0, set()
    for clip_work, texts in todo:
        if clip_work.clip.view == BLANK or clip_work.owner is not None:
            shared.update((clip_work.clip.key, text) for text in texts)
        else:
            distinct += len(texts)
    return distinct + len(shared)


def rounds_of(todo: Todo, size: int) -> Iterator[list[tuple[Clip, list[str]]]]:
    """Yield what to score in rounds of `size` clips. All views of a clip, and all texts without one, are together."""
    sources: dict[Any, list[tuple[Clip, list[str]]]] = {}
    for clip_work, texts in todo:
        sources.setdefault(clip_work.clip.source, []).append((clip_work.clip, texts))
    for some in batched(sources.values(), size):
        yield [request for source in some for request in source]


def share_of(text: str, count: int) -> int:
    """Return which of `count` shares a text belongs to."""
    return int(text_key(text)[:8], 16) % count


def cut_to(work: list[ClipWork], payload: Mapping[str, Any]) -> list[ClipWork]:
    """Return the part of the work that a shard by texts covers; one by items covers all of it."""
    if "of" not in payload:
        return work
    share, count = payload["share"], payload["of"]
    return [
        replace(clip_work, texts={text: None for text in clip_work.texts if share_of(text, count) == share})
        for clip_work in work
    ]


def collected(job: Job) -> dict[str, list[Any]]:
    """Return the problems of all shards together. EvaluationError: a shard failed."""
    shards = list(job.shards.order_by("number"))
    if why := failed_message(shards):
        raise EvaluationError(why)
    return merged([{"missing_media": job.payload.get("missing_media", [])}, problems_of(shards)])


def costs(tally: ScoringCounts, write_seconds: float, before: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return the costs of this attempt and earlier ones (`before`), as JSON. `halved`: the smallest batch that memory
    forced.
    """
    now = {
        "decode": tally.decode_seconds,
        "wait": tally.wait_seconds,
        "compute": tally.compute_seconds,
        "write": write_seconds,
        "decoded": tally.clips_decoded,
        "clips": tally.clips_encoded,
        "texts": tally.texts_encoded,
        "pairs": tally.pairs,
        "vectors_kept": tally.vectors_kept,
    }
    summed = {name: before.get(name, 0) + value for name, value in now.items()}
    return {**summed, "halved": smallest(before.get("halved", {}), tally.halved), "device": device}
