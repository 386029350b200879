"""Existence: "there is at least one fridge" -> "there is at least one egg" (ViLMA, Sec. C.5).

X is from captions of other videos of the run, in proportion to its frequency. `corrected` puts X into the caption's own
frame, in the form that it needs, so that one word changes; `paper` uses the other caption's frame. A
thing is excluded if any caption of the video names it, or its fact "objects" (what a detector saw) lists it or a
synonym.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.tokens import words
from generation.grammar.existence import (
    ONE,
    PARTS,
    SEVERAL,
    Existence,
    in_frame,
    own_frame,
    plural_noun,
    read_existence,
    singular_noun,
)
from generation.grammar.synonyms import names_of
from generation.grammar.things import domains_of, is_elsewhere
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "5"
DRAWS = 20
NONE_LEFT = "its captions name every thing of the other videos"
NONE_ELSEWHERE = "its clip may show every thing that the other videos name"
# Longer captions are not single sentences about a video.
MAX_TAGGED_LENGTH = 2000
# For a trial on one sentence, without other videos.
LISTED = (
    "apple",
    "bicycle",
    "book",
    "bottle",
    "candle",
    "chair",
    "canoe",
    "drum",
    "guitar",
    "hammer",
    "horse",
    "ladder",
    "lemon",
    "pillow",
    "shovel",
    "tent",
    "trumpet",
    "umbrella",
)


@dataclass(frozen=True, eq=False)
class NounTotals:
    """(thing in the singular, its frame), running totals of captions with it, and the
    nouns of videos with more than one.
    """

    nouns: tuple[tuple[str, str], ...]
    cumulative: tuple[int, ...]
    by_video: dict[str, frozenset[str]]


BUILT_IN = NounTotals(tuple((noun, ONE) for noun in LISTED), tuple(range(1, len(LISTED) + 1)), {})


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> NounTotals | None:
    """Collect the things that the run's captions name; None if fewer than two videos name any."""
    del mode, seed
    check(params)
    counts: Counter[tuple[str, str]] = Counter()
    by_video: dict[str, frozenset[str]] = {}
    for caption in captions:
        existence = read_existence(caption.text)
        if existence:
            noun = singular_noun(existence.noun)
            counts[noun, own_frame(noun, existence.frame)] += 1
            video = caption.video or caption.id
            by_video[video] = by_video.get(video, frozenset()) | {noun}
    if len(by_video) < 2:
        return None
    nouns = tuple(sorted(counts))
    nouns_by_video = {video: named_nouns for video, named_nouns in by_video.items() if len(named_nouns) > 1}
    return NounTotals(nouns, tuple(accumulate(counts[noun] for noun in nouns)), nouns_by_video)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: NounTotals | None = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption; `state` is from `prepare` over the whole run."""
    check(params)
    for caption in captions:
        existence = read_existence(caption.text)
        if existence is None:
            yield Skip(
                caption.id, "it does not contain “there is at least one …”, “there are some …” or “there is some …”"
            )
            continue
        edit_sets = _drawn(caption, existence, params["foils"], mode, seed, state or BUILT_IN, params["things"])
        if not edit_sets:
            yield Skip(caption.id, NONE_LEFT if params["things"] == "any" else NONE_ELSEWHERE)
            continue
        for rank, edits in enumerate(edit_sets):
            facts = {"thing": existence.noun, "source": "other videos" if state else "built-in list"}
            yield draft_from_edits(caption, edits, method="existence", mode=mode, rank=rank, facts=facts)


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")


def _drawn(
    caption: CaptionInput, existence: Existence, n_foils: int, mode: str, seed: int, state: NounTotals, things: str
) -> list[tuple[Edit, ...]]:
    """Draw different edits, in proportion to how often the run names their things; all things are tried."""
    own = _own_nouns(caption, existence, state)
    if mode != "paper" and things == "elsewhere" and "objects" not in caption.facts:
        own_domains = frozenset().union(*map(domains_of, own))
        state = _elsewhere(state, own_domains)
        if not state.nouns:
            return []
    rng = generator_for(seed, "existence", caption.id)
    edit_sets: dict[tuple[Edit, ...], None] = {}
    # Most draws fit; trying all things for each caption would take things times captions steps.
    for _ in range(DRAWS * n_foils):
        noun, frame = rng.choices(state.nouns, cum_weights=state.cumulative)[0]
        edits = _fitting(caption.text, existence, noun, own, mode, frame)
        if edits:
            edit_sets[edits] = None
        if len(edit_sets) == n_foils:
            return list(edit_sets)
    for noun, frame in rng.sample(state.nouns, len(state.nouns)):
        edits = _fitting(caption.text, existence, noun, own, mode, frame)
        if edits:
            edit_sets[edits] = None
    return list(edit_sets)[:n_foils]


@lru_cache(maxsize=512)
def _elsewhere(state: NounTotals, own_domains: frozenset[str]) -> NounTotals:
    """Return the things that a clip with things of these domains surely does not show."""
    counts = [total - before for before, total in zip((0, *state.cumulative), state.cumulative, strict=False)]
    rows = [row for row in zip(state.nouns, counts, strict=True) if is_elsewhere(row[0][0], own_domains)]
    return NounTotals(tuple(noun for noun, _ in rows), tuple(accumulate(count for _, count in rows)), state.by_video)


def _own_nouns(caption: CaptionInput, existence: Existence, state: NounTotals) -> frozenset[str]:
    """Return the video's things: with all synonyms if its facts or captions name a thing, alone if the word may mean
    something else ("people watch a dog" names no clock).
    """
    run_nouns = state.by_video.get(caption.video or caption.id, frozenset())
    sibling_nouns = [sibling.noun for sibling in map(read_existence, caption.siblings) if sibling]
    detected_labels = [str(label) for label in caption.facts.get("objects", ())]
    nouns = [noun for text in caption.siblings for noun in _nouns(text)]
    mentioned_nouns = {singular_noun(word) for text in (caption.text, *caption.siblings) for word in words(text)}
    own_nouns = (existence.noun, *run_nouns, *sibling_nouns, *detected_labels, *nouns)
    part_nouns = (PARTS.get(singular_noun(noun), frozenset()) for noun in own_nouns)
    return frozenset(mentioned_nouns).union(*(names_of(noun) for noun in own_nouns), *part_nouns)


@lru_cache(maxsize=20_000)
def _nouns(text: str) -> tuple[str, ...]:
    """Return the nouns by the offline tagger, so that the same captions make the same foils everywhere."""
    if len(text) > MAX_TAGGED_LENGTH or read_existence(text):
        return ()
    return tuple({token.lower for token in tagger("offline").tag(text) if token.part == "NOUN"})


def _fitting(
    text: str, existence: Existence, noun: str, own: frozenset[str], mode: str, frame: str
) -> tuple[Edit, ...]:
    if noun in own or own.issuperset(noun.split()):
        return ()
    return _edits(text, existence, noun, mode, frame)


def _edits(text: str, existence: Existence, noun: str, mode: str, frame: str) -> tuple[Edit, ...]:
    replaced_text = text[existence.start : existence.end]
    if mode != "paper":
        form = in_frame(noun, frame, existence.frame)
        return (Edit(existence.start, existence.end, match_case(replaced_text, form)),) if form else ()
    noun_edit = Edit(
        existence.start, existence.end, match_case(replaced_text, plural_noun(noun) if frame == SEVERAL else noun)
    )
    if frame == existence.frame:
        return (noun_edit,)
    return Edit(
        existence.frame_start, existence.frame_end, match_case(text[existence.frame_start : existence.frame_end], frame)
    ), noun_edit
