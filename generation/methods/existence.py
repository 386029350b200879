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
from generation.errors import GenerationError
from generation.grammar.existence import (
    ONE,
    PARTS,
    SEVERAL,
    Existence,
    in_frame,
    many_of,
    one_of,
    own_frame,
    read_existence,
)
from generation.grammar.synonyms import names_of
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "4"
DRAWS = 20
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
    "drum",
    "hammer",
    "ladder",
    "lemon",
    "pillow",
    "umbrella",
)


@dataclass(frozen=True)
class Things:
    """(thing in the singular, its frame), running totals of captions with it, and the
    things of videos with more than one.
    """

    things: tuple[tuple[str, str], ...]
    cumulative: tuple[int, ...]
    by_video: dict[str, frozenset[str]]


BUILT_IN = Things(tuple((thing, ONE) for thing in LISTED), tuple(range(1, len(LISTED) + 1)), {})


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> Things | None:
    """Collect the things that the run's captions name; None if fewer than two videos name any."""
    del mode, seed
    check(params)
    counts: Counter[tuple[str, str]] = Counter()
    by_video: dict[str, frozenset[str]] = {}
    for caption in captions:
        said = read_existence(caption.text)
        if said:
            thing = one_of(said.thing)
            counts[thing, own_frame(thing, said.frame)] += 1
            video = caption.video or caption.id
            by_video[video] = by_video.get(video, frozenset()) | {thing}
    if len(by_video) < 2:
        return None
    things = tuple(sorted(counts))
    several = {video: found for video, found in by_video.items() if len(found) > 1}
    return Things(things, tuple(accumulate(counts[thing] for thing in things)), several)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: Things | None = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption; `state` is from `prepare` over the whole run."""
    check(params)
    for caption in captions:
        found = read_existence(caption.text)
        if found is None:
            yield Skip(
                caption.id, "it does not contain “there is at least one …”, “there are some …” or “there is some …”"
            )
            continue
        drawn = _drawn(caption, found, params["foils"], mode, seed, state or BUILT_IN)
        if not drawn:
            yield Skip(caption.id, "its captions name every thing of the other videos")
            continue
        for rank, edits in enumerate(drawn):
            facts = {"thing": found.thing, "source": "other videos" if state else "built-in list"}
            yield draft_from_edits(caption, edits, method="existence", mode=mode, rank=rank, facts=facts)


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")


def _drawn(
    caption: CaptionInput, found: Existence, wanted: int, mode: str, seed: int, state: Things
) -> list[tuple[Edit, ...]]:
    """Draw different edits, in proportion to how often the run names their things; all things are tried."""
    own = _own_things(caption, found, state)
    rng = generator_for(seed, "existence", caption.id)
    made: dict[tuple[Edit, ...], None] = {}
    # Most draws fit; trying all things for each caption would take things times captions steps.
    for _ in range(DRAWS * wanted):
        thing, said = rng.choices(state.things, cum_weights=state.cumulative)[0]
        edits = _fitting(caption.text, found, thing, own, mode, said)
        if edits:
            made[edits] = None
        if len(made) == wanted:
            return list(made)
    for thing, said in rng.sample(state.things, len(state.things)):
        edits = _fitting(caption.text, found, thing, own, mode, said)
        if edits:
            made[edits] = None
    return list(made)[:wanted]


def _own_things(caption: CaptionInput, found: Existence, state: Things) -> frozenset[str]:
    """Return the video's things: with all synonyms if its facts or captions name a thing, alone if the word may mean
    something else ("people watch a dog" names no clock).
    """
    said = state.by_video.get(caption.video or caption.id, frozenset())
    told = [other.thing for other in map(read_existence, caption.siblings) if other]
    seen = [str(thing) for thing in caption.facts.get("objects", ())]
    nouns = [noun for text in caption.siblings for noun in _nouns(text)]
    spoken = {one_of(word) for text in (caption.text, *caption.siblings) for word in words(text)}
    named = (found.thing, *said, *told, *seen, *nouns)
    parts = (PARTS.get(one_of(thing), frozenset()) for thing in named)
    return frozenset(spoken).union(*(names_of(thing) for thing in named), *parts)


@lru_cache(maxsize=20_000)
def _nouns(text: str) -> tuple[str, ...]:
    """Return the nouns by the offline tagger, so that the same captions make the same foils everywhere."""
    if len(text) > MAX_TAGGED_LENGTH or read_existence(text):
        return ()
    return tuple({token.lower for token in tagger("offline").tag(text) if token.part == "NOUN"})


def _fitting(text: str, found: Existence, thing: str, own: frozenset[str], mode: str, said: str) -> tuple[Edit, ...]:
    if thing in own or own.issuperset(thing.split()):
        return ()
    return _edits(text, found, thing, mode, said)


def _edits(text: str, found: Existence, thing: str, mode: str, said: str) -> tuple[Edit, ...]:
    own = text[found.start : found.end]
    if mode != "paper":
        form = in_frame(thing, said, found.frame)
        return (Edit(found.start, found.end, match_case(own, form)),) if form else ()
    changed = Edit(found.start, found.end, match_case(own, many_of(thing) if said == SEVERAL else thing))
    if said == found.frame:
        return (changed,)
    return Edit(
        found.frame_start, found.frame_end, match_case(text[found.frame_start : found.frame_end], said)
    ), changed
