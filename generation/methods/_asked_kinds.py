"""Check that a foil is of the kind that an instruction model was asked for. Pure.

The checks of all foils run as well (`assertion`, `consistency`): these say only whether the asked change came out.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from foilworks.core.text.language.inflection import can_be
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.language.word_lists import word_set
from foilworks.core.text.tokens import words
from generation.instruction_models.kind_prompts import ADDED_EVENTS, CAMERA_MOTION, CAUSES, COMPARISON, ROLES

MARKER = re.compile(
    r"\b(?:because|since|so that|so as to|in order to|due to|thanks to|as a result of"
    r"|(?P<before>[\w']+) to (?P<verb>[a-z]+))\b",
    re.I,
)
# Their "to" is no purpose.
WITH_TO = word_set(
    "want wants wanted try tries tried trying start starts started begin begins began going about continue continues",
    "need needs seem seems have has had used able attempt attempts pretend pretends learn learns decide decides like",
    "likes next",
)
COMPARED = re.compile(
    r"\bthan\b|\bas (?!well |soon |long |far )[a-z]+ as\b|\b(?:[a-z]{2,}est|most|least|first|last|same)\b", re.I
)
CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
CAMERA = re.compile(
    r"\b(?:camera|zoom\w*|pan(?:s|ned|ning)?|tilt\w*|close-?up|wide shot|long shot|view|viewpoint|angle|footage)\b",
    re.I,
)
# Words by which the two texts of one length may differ.
MAX_LONGER = 2
# Words that another motion of the camera changes.
MAX_CAMERA_WORDS = 6


class AskedKind(NamedTuple):
    """`fits`: why a caption has nothing of the kind, "" if it has; `refused`: why a foil is not of the kind."""

    fits: Callable[[str], str]
    refused: Callable[[str, str], str]
    is_likely_false: bool = False


def _always(_caption: str) -> str:
    return ""


def _states_cause(text: str) -> str:
    return "" if _marker(text) else "it states no cause or purpose"


def _refused_cause(caption: str, foil: str) -> str:
    """Refuse a foil with another marker, or that changes both sides of it."""
    own, others = _marker(caption), _marker(foil)
    if own is None or others is None or own.name != others.name:
        return "it does not keep the word that introduces the cause"
    changed = (words(own.before) != words(others.before)) + (words(own.after) != words(others.after))
    return "" if changed == 1 else "it changes more than the cause"


class _Marked(NamedTuple):
    """A text around the word that introduces its cause or purpose."""

    before: str
    name: str
    after: str


def _marker(text: str) -> _Marked | None:
    """Return the text around its first marker; "to" only before a verb that is not part of "wants to" and the like."""
    for match in MARKER.finditer(text):
        verb = match["verb"]
        if verb is None:
            return _Marked(text[: match.start()], match.group().lower(), text[match.end() :])
        if match["before"].lower() not in WITH_TO and can_be(verb.lower(), "VERB"):
            return _Marked(text[: match.end("before")], "to", text[match.start("verb") :])
    return None


def _refused_roles(caption: str, foil: str) -> str:
    """Refuse other content words, and the same order of them."""
    own, others = _content(caption), _content(foil)
    if Counter(own) != Counter(others):
        return "it does not have the words of the caption"
    return "" if own != others else "nobody changes roles"


def _content(text: str) -> list[str]:
    """Return the content words of a text as their base form."""
    return [token.lemma for token in tagger().tag(text) if token.part in CONTENT]


def _refused_event(caption: str, foil: str) -> str:
    """Refuse a foil without another action, and one whose length tells it."""
    if not _verbs(foil) - _verbs(caption):
        return "it adds no event"
    difference = len(words(foil)) - len(words(caption))
    return "" if abs(difference) <= MAX_LONGER else "its length differs from the caption's"


def _verbs(text: str) -> set[str]:
    return {token.lemma for token in tagger().tag(text) if token.part == "VERB"}


def _compares(text: str) -> str:
    return "" if COMPARED.search(text) else "it compares nothing"


def _refused_comparison(_caption: str, foil: str) -> str:
    return "" if COMPARED.search(foil) else "it compares nothing"


def _names_camera(text: str) -> str:
    return "" if CAMERA.search(text) else "it does not mention the camera"


def _refused_camera(caption: str, foil: str) -> str:
    """Refuse a foil without a camera, and one that changes more than its motion."""
    if not CAMERA.search(foil):
        return "it does not mention the camera"
    own, others = Counter(words(caption)), Counter(words(foil))
    return "" if max((own - others).total(), (others - own).total()) <= MAX_CAMERA_WORDS else "it changes more"


ASKED_KINDS: dict[str, AskedKind] = {
    CAUSES: AskedKind(_states_cause, _refused_cause),
    ROLES: AskedKind(_always, _refused_roles),
    ADDED_EVENTS: AskedKind(_always, _refused_event, is_likely_false=True),
    COMPARISON: AskedKind(_compares, _refused_comparison),
    CAMERA_MOTION: AskedKind(_names_camera, _refused_camera),
}
