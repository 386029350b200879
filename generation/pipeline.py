"""Captions in, judged foils out: a method, then every cheap filter, then the costly ones on what is left.

Pure and streaming: at most one batch of captions is in memory, plus what the method's `prepare` keeps.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from generation.errors import GenerationError
from generation.records import Blank, CaptionInput, FoilDraft, Skip, Verdict
from text.diff import apply_edits

BATCH = 256


@dataclass(frozen=True)
class Step:
    """A loaded method or filter module with its slug and its full parameters."""

    slug: str
    module: Any
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """A foil with each filter's verdict; `rejected_by` names all that did not pass it, in the filters' order."""

    draft: FoilDraft
    verdicts: Mapping[str, Verdict]
    rejected_by: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """All that came of one caption: its foils, or why there are none, or how many blanks a person fills."""

    caption: CaptionInput
    foils: tuple[Judged, ...] = ()
    skipped: tuple[str, ...] = ()
    blanks: int = 0


def prepare(method: Step, captions: Iterable[CaptionInput], *, mode: str, seed: int) -> Any:
    """What the method needs to know of all captions of the run; None where it needs nothing."""
    if not hasattr(method.module, "prepare"):
        return None
    return method.module.prepare(captions, params=dict(method.params), mode=mode, seed=seed)


def run(
    method: Step,
    captions: Iterable[CaptionInput],
    *,
    filters: Sequence[Step] = (),
    mode: str,
    seed: int,
    state: Any = None,
    known: Mapping[str, Sequence[str]] | None = None,
    batch_size: int = BATCH,
) -> Iterator[Outcome]:
    """One outcome a caption, in their order. `state` comes from `prepare` over the whole run, so that batches,
    order and resuming change nothing. `known`: caption id -> foils that the caption already has elsewhere.

    Raises GenerationError where a method breaks its contract (edits that do not make the foil, an unknown caption).
    """
    stream = iter(captions)
    while batch := list(islice(stream, batch_size)):
        made = _made(method, batch, mode=mode, seed=seed, state=state)
        for caption in batch:
            yield _outcome(caption, made[caption.id], filters, (known or {}).get(caption.id, ()))


def _made(
    method: Step, batch: Sequence[CaptionInput], *, mode: str, seed: int, state: Any
) -> dict[str, list[FoilDraft | Skip | Blank]]:
    by_id: dict[str, list[FoilDraft | Skip | Blank]] = {caption.id: [] for caption in batch}
    texts = {caption.id: caption.text for caption in batch}
    if len(by_id) != len(batch):
        raise GenerationError("two captions of one run have the same id; give each its own")
    for thing in method.module.make(batch, params=dict(method.params), mode=mode, seed=seed, state=state):
        if thing.caption_id not in by_id:
            raise GenerationError(f"method {method.slug} answered for a caption it was not given: {thing.caption_id}")
        if isinstance(thing, FoilDraft) and apply_edits(texts[thing.caption_id], thing.edits) != thing.foil:
            raise GenerationError(f"method {method.slug}: the edits of caption {thing.caption_id} do not make its foil")
        by_id[thing.caption_id].append(thing)
    return by_id


def _outcome(
    caption: CaptionInput, things: list[FoilDraft | Skip | Blank], filters: Sequence[Step], known: Sequence[str]
) -> Outcome:
    drafts = [thing for thing in things if isinstance(thing, FoilDraft)]
    blanks = sum(thing.count for thing in things if isinstance(thing, Blank))
    skipped = tuple(thing.why for thing in things if isinstance(thing, Skip))
    if not drafts and not blanks and not skipped:
        skipped = ("the method made nothing of it",)
    return Outcome(caption, tuple(_judged(caption, drafts, filters, known)), skipped, blanks)


def _judged(
    caption: CaptionInput, drafts: Sequence[FoilDraft], filters: Sequence[Step], known: Sequence[str]
) -> Iterator[Judged]:
    others = list(known)
    for draft in drafts:
        verdicts: dict[str, Verdict] = {}
        for costly in (False, True):
            if costly and not all(verdict.passed for verdict in verdicts.values()):
                break
            for step in filters:
                if costly == step.module.COSTLY:
                    verdicts[step.slug] = step.module.judge(
                        caption, draft.foil, others=others, params=dict(step.params)
                    )
        rejected = tuple(step.slug for step in filters if step.slug in verdicts and not verdicts[step.slug].passed)
        others.append(draft.foil)
        yield Judged(draft, verdicts, rejected)
