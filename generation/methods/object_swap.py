"""Object swap: "cutting a keyboard" -> "cutting a bread", of what cannot be seen (ViLMA, Secs. 3.5 and C.5).

Masked language models that vote fill "a person can cut a/an/some [MASK]": more than .01 is a vote, two votes are
needed, then the product of probabilities ranks. What a detector sees in the video's frames is dropped, and the
caption's own object, under whatever name; the five best of the rest are the foils. `corrected` masks the vocabulary as
mask_fill does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from generation.grammar.synonyms import seen_as
from generation.methods import mask_fill
from generation.records import CaptionInput, FoilDraft, Skip
from text.language.phrases import noun_phrases

VERSION = "2"
# All that the models vote for; the detector takes some away before the best are kept.
ALL = 1000

State = mask_fill.State


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Loads the models; `corrected` notes which lemmas the run's captions use, where they are enough to draw from."""
    return mask_fill.prepare(captions, params=_filling(params), mode=mode, seed=seed)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> Iterator[FoilDraft | Skip]:
    """Up to params["foils"] foils a caption, none of an object that facts["objects"] lists or the caption names."""
    batch = {caption.id: caption for caption in captions}
    found: dict[str, list[FoilDraft]] = {name: [] for name in batch}
    for made in mask_fill.make(batch.values(), params=_filling(params), mode=mode, seed=seed, state=state):
        if isinstance(made, FoilDraft):
            found[made.caption_id].append(made)
        elif isinstance(made, Skip):
            yield made
    for name, drafts in found.items():
        if drafts:
            yield from _unseen(batch[name], drafts, params["foils"], state)


def _filling(params: dict[str, Any]) -> dict[str, Any]:
    return {**params, "target": "object", "which": "first", "foils": ALL}


def _unseen(caption: CaptionInput, drafts: list[FoilDraft], foils: int, state: State) -> Iterator[FoilDraft | Skip]:
    seen = frozenset(str(label) for label in caption.facts.get("objects", ()))
    kept, dropped = [], {}
    for draft in drafts:
        # The caption's own object by another name is there as well.
        label = _seen_in(draft, seen | {str(draft.facts["from"])}, state)
        if label:
            dropped[draft.facts["to"]] = label
        else:
            kept.append(draft)
    if not kept:
        yield Skip(caption.id, f"all {len(drafts)} words that the models agree on are seen in the video")
    for rank, draft in enumerate(kept[:foils]):
        facts = {**draft.facts, "seen": sorted(seen), "dropped_as_seen": sorted(dropped)}
        yield replace(draft, method="object_swap", rank=rank, facts=facts)


def _seen_in(draft: FoilDraft, seen: frozenset[str], state: State) -> str:
    """The label of the new object, or of its whole noun phrase ("cell" was no phone, "cell phone" is)."""
    label = seen_as(str(draft.facts["to"]), seen)
    if label:
        return label
    tokens = state.tags.tag(draft.foil)
    start = draft.edits[-1].start
    for phrase in noun_phrases(tokens):
        words = tokens[phrase.first : phrase.last]
        if words and words[0].start <= start + len(str(draft.facts["to"])) and start <= words[-1].end:
            content = " ".join(token.lower for token in words if token.part in ("NOUN", "PROPN"))
            label = seen_as(content, seen) if content else ""
            if label:
                return label
    return ""
