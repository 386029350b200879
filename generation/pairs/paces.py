"""Propose clips at another speed, and clips that repeat their event: pairs that only the time tells apart.

Both clips of a pair have the same frames. A caption that says "slowly" is true of its clip, and false of the same clip
at twice its speed. A clip of one short event is played two and three times.
"""

import re
from collections.abc import Iterable, Iterator
from heapq import nsmallest

from foilworks.core.text.diff import Edit, apply_edits
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.assertion import why_unasserted
from generation.pairs.counterparts import in_twos, once_per_clip
from generation.pairs.proposals import (
    AS_RECORDED,
    FASTER,
    REPETITION,
    SLOWER,
    SPEED,
    THREE_TIMES,
    TWICE,
    PairCaption,
    Proposal,
)
from generation.pairs.reversals import LONG, MAX_SECONDS, SEVERAL, SEVERAL_EVENTS
from generation.pairs.signatures import number_of

# Slow -> quick.
PACES = {"slowly": "quickly", "at a slow pace": "at a fast pace"}
OPPOSITES = PACES | {quick: slow for slow, quick in PACES.items()}
PACE = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b", re.IGNORECASE)
# Their speed is heard, or the caption is about the film.
UNSEEN_PACES = word_set("talk speak sing say read explain play motion camera video film")
# Acts that are over in a moment, so that they can be counted.
MOMENTARY = word_set(
    "clap jump kick throw toss hit punch knock nod bow sneeze blink wink fall drop spin flip dive hop leap swing shoot",
    "catch stomp slap press push pull open close squat lift raise bend touch tap poke smash bite lick kiss hug strike",
)
# Seconds of an event that is repeated.
MIN_EVENT, MAX_EVENT = 0.5, 8.0
COUNTED = re.compile(
    r"\b(?:once|twice|thrice|times?|repeatedly|several|multiple|many|over and over|\d+)\b", re.IGNORECASE
)


def speeds(captions: Iterable[PairCaption], *, limit: int | None = None, seed: int = 0) -> Iterator[Proposal]:
    """Yield clips with a copy at another speed, in twos: as many slow clips are sped up as quick ones are slowed.

    At most one per clip; the captions of a clip come one after the other.
    """
    yield from in_twos(once_per_clip(captions, _speed), limit=limit, seed=seed)


def repetitions(captions: Iterable[PairCaption], *, limit: int | None = None, seed: int = 0) -> Iterator[Proposal]:
    """Yield clips of one event that are played two and three times; at most one per clip, as in `speeds`."""
    proposals = once_per_clip(captions, _repetition)
    if limit is not None:
        proposals = iter(nsmallest(limit, proposals, key=lambda proposal: number_of(str(seed), proposal.name)))
    yield from proposals


def _speed(caption: PairCaption) -> Proposal | None:
    matches = list(PACE.finditer(caption.text))
    if len(matches) != 1 or UNSEEN_PACES & {token.lemma for token in tagger().tag(caption.text)}:
        return None
    pace = matches[0].group()
    edits = [Edit(*matches[0].span(), match_case(pace, OPPOSITES[pace.lower()]))]
    if why_unasserted(caption.text, edits):
        return None
    replacement = edits[0].target
    played = FASTER if pace.lower() in PACES else SLOWER
    warnings = [SEVERAL_EVENTS] if SEVERAL.search(caption.text) else []
    if caption.duration is not None and caption.duration > MAX_SECONDS:
        warnings.append(LONG)
    return Proposal(
        SPEED,
        (caption.text, apply_edits(caption.text, edits)),
        (caption,),
        "speed",
        (pace, replacement),
        f"played {played}, “{pace}” looks like “{replacement}”",
        warning="; ".join(warnings),
        played=(AS_RECORDED, played),
    )


def _repetition(caption: PairCaption) -> Proposal | None:
    text = caption.text.rstrip()
    verbs = {token.lemma for token in tagger().tag(text) if token.part == "VERB"}
    is_short = caption.duration is not None and MIN_EVENT <= caption.duration <= MAX_EVENT
    if not is_short or len(verbs) != 1 or not verbs <= MOMENTARY or COUNTED.search(text) or SEVERAL.search(text):
        return None
    bare = text.rstrip(".!")
    texts = f"{bare} {TWICE}{text[len(bare) :]}", f"{bare} {THREE_TIMES}{text[len(bare) :]}"
    why = f"the clip is played {TWICE} and {THREE_TIMES}, one after the other"
    played = (TWICE, THREE_TIMES)
    return Proposal(REPETITION, texts, (caption,), "number of repetitions", played, why, played=played)
