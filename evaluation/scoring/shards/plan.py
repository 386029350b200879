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
from evaluation.scoring.shards.work import ClipWork
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
    size = shard_items(len({position for each, _ in todo for position in each.places}))
    return _by_clips(todo, size) if needs_video else _by_texts(todo, size)


def _by_clips(todo: Todo, size: int) -> list[Part]:
    """Keep everything about a clip, and about an item, in one shard."""
    shard_of: dict[int, int] = {}
    shards: list[set[int]] = []
    parts: list[list[tuple[ClipWork, list[str]]]] = []
    for each, texts in todo:
        places = each.places
        known = {shard_of[place] for place in places if place in shard_of}
        if not known and (not shards or len(shards[-1]) >= size):
            shards.append(set())
            parts.append([])
        at = min(known, default=len(shards) - 1)
        shards[at] |= places
        parts[at].append((each, texts))
        shard_of |= dict.fromkeys(places, at)
    return [({"positions": sorted(places)}, pairs_of(part)) for places, part in zip(shards, parts, strict=True)]


def _by_texts(todo: Todo, size: int) -> list[Part]:
    n_items = sum(len(each.items) for each, _ in todo)
    count = max(1, -(-n_items // size))
    totals = [0] * count
    for _, texts in todo:
        for text in texts:
            totals[share_of(text, count)] += 1
    return [({"share": number, "of": count}, total) for number, total in enumerate(totals) if total]


def pairs_of(todo: Iterable[tuple[ClipWork, Collection[str]]]) -> int:
    """Count the distinct pairs of clip and text. Without a clip, or with another one, each item has work of its own."""
    distinct, shared = 0, set()
    for each, texts in todo:
        if each.clip.view == BLANK or each.owner is not None:
            shared.update((each.clip.key, text) for text in texts)
        else:
            distinct += len(texts)
    return distinct + len(shared)


def rounds_of(todo: Todo, size: int) -> Iterator[list[tuple[Clip, list[str]]]]:
    """Yield what to score in rounds of `size` clips. All views of a clip, and all texts without one, are together."""
    sources: dict[Any, list[tuple[Clip, list[str]]]] = {}
    for each, texts in todo:
        sources.setdefault(each.clip.source, []).append((each.clip, texts))
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
    return [replace(each, texts={text: None for text in each.texts if share_of(text, count) == share}) for each in work]


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
