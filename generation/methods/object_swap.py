"""Object swap: "cutting a keyboard" -> "cutting a bread", with objects not seen (ViLMA, Secs. 3.5 and C.5).

Several masked language models fill "a person can cut a/an/some [MASK]": more than .01 is a vote, two votes are
needed, and the product of probabilities ranks. Things that a detector sees in the frames are dropped, and so is the
caption's own object or a synonym; the five best others are the foils. `corrected` restricts the vocabulary as
mask_fill does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from foilworks.core.text.language.phrases import noun_phrases
from generation.grammar.synonyms import seen_as
from generation.methods import mask_fill
from generation.records import CaptionInput, FoilDraft, Skip

VERSION = "2"
# All words with votes; the detector removes some before the best are chosen.
ALL = 1000

State = mask_fill.State


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    mask_fill.check(params)


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Load the models; mode corrected also collects the lemmas of the run's captions, if there are enough."""
    return mask_fill.prepare(captions, params=_filling(params), mode=mode, seed=seed)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption, without objects in facts["objects"] or the caption."""
    batch = {caption.id: caption for caption in captions}
    drafts_by_caption: dict[str, list[FoilDraft]] = {name: [] for name in batch}
    for output in mask_fill.make(batch.values(), params=_filling(params), mode=mode, seed=seed, state=state):
        if isinstance(output, FoilDraft):
            drafts_by_caption[output.caption_id].append(output)
        elif isinstance(output, Skip):
            yield output
    for caption_id, drafts in drafts_by_caption.items():
        if drafts:
            yield from _unseen(batch[caption_id], drafts, params["foils"], state)


def _filling(params: dict[str, Any]) -> dict[str, Any]:
    return {**params, "target": "object", "which": "first", "foils": ALL}


def _unseen(caption: CaptionInput, drafts: list[FoilDraft], foils: int, state: State) -> Iterator[FoilDraft | Skip]:
    detected_labels = frozenset(str(label) for label in caption.facts.get("objects", ()))
    unseen_drafts, seen_labels = [], {}
    for draft in drafts:
        # A synonym of the caption's own object is true as well.
        label = _detected_label(draft, detected_labels | {str(draft.facts["from"])}, state)
        if label:
            seen_labels[draft.facts["to"]] = label
        else:
            unseen_drafts.append(draft)
    if not unseen_drafts:
        yield Skip(caption.id, f"all {len(drafts)} words that the models agree on are seen in the video")
    for rank, draft in enumerate(unseen_drafts[:foils]):
        facts = {**draft.facts, "seen": sorted(detected_labels), "dropped_as_seen": sorted(seen_labels)}
        yield replace(draft, method="object_swap", rank=rank, facts=facts)


def _detected_label(draft: FoilDraft, detected_labels: frozenset[str], state: State) -> str:
    """Return the label of the new object, or of its whole noun phrase ("cell" was no phone, "cell phone" is)."""
    label = seen_as(str(draft.facts["to"]), detected_labels)
    if label:
        return label
    tokens = state.tags.tag(draft.foil)
    start = draft.edits[-1].start
    for phrase in noun_phrases(tokens):
        words = tokens[phrase.first : phrase.last]
        if words and words[0].start <= start + len(str(draft.facts["to"])) and start <= words[-1].end:
            content = " ".join(token.lower for token in words if token.part in ("NOUN", "PROPN"))
            label = seen_as(content, detected_labels) if content else ""
            if label:
                return label
    return ""
