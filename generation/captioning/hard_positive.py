"""Hard positives: captions with a word or two reworded and still true, so that an edit alone reveals nothing.

A foil is a small edit of a true caption; a model that prefers unedited text is right without the video. A hard
positive is the same kind of edit that keeps the meaning (Kamath et al. 2024). Only words that can replace each other
in any caption are exchanged, by a list of ours and by part of speech, whatever the video shows.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foilworks.core.text.diff import Edit, apply_edits
from foilworks.core.text.language.inflection import article
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "2"

# Part of speech -> sets of words that mean the same wherever a caption uses them, in the same form.
SAME: dict[str, tuple[tuple[str, ...], ...]] = {
    "NOUN": (
        ("couch", "sofa"),
        ("couches", "sofas"),
        ("bike", "bicycle"),
        ("bikes", "bicycles"),
        ("photo", "photograph"),
        ("photos", "photographs"),
        ("child", "kid"),
        ("children", "kids"),
        ("tv", "television"),
        ("fridge", "refrigerator"),
        ("plane", "airplane"),
        ("planes", "airplanes"),
        ("phone", "telephone"),
        ("rock", "stone"),
        ("rocks", "stones"),
        ("road", "street"),
        ("carpet", "rug"),
        ("trousers", "pants"),
        ("garbage", "rubbish", "trash"),
        ("automobile", "car"),
        ("cars", "automobiles"),
        ("sidewalk", "pavement"),
        ("mom", "mother"),
        ("dad", "father"),
        ("doctor", "physician"),
    ),
    "VERB": (
        ("begins", "starts"),
        ("begin", "start"),
        ("beginning", "starting"),
        ("began", "started"),
        ("shuts", "closes"),
        ("shutting", "closing"),
        ("speaks", "talks"),
        ("speaking", "talking"),
        ("hurls", "flings"),
        ("constructs", "builds"),
        ("constructing", "building"),
        ("fixes", "repairs"),
        ("fixing", "repairing"),
        ("collects", "gathers"),
        ("collecting", "gathering"),
        ("sketches", "draws"),
        ("shouts", "yells"),
        ("shouting", "yelling"),
        ("leaps", "jumps"),
        ("leaping", "jumping"),
    ),
    "ADJ": (
        ("big", "large"),
        ("small", "little"),
        ("quick", "fast"),
        ("ill", "sick"),
        ("tiny", "minuscule"),
        ("wealthy", "rich"),
        ("quiet", "silent"),
        ("damp", "moist"),
        ("spherical", "round"),
    ),
    "ADV": (("quickly", "rapidly"), ("slowly", "unhurriedly"), ("repeatedly", "over and over"), ("again", "once more")),
    "ADP": (("beside", "next to"), ("beneath", "underneath"), ("near", "close to"), ("atop", "on top of")),
}
PARTS = {word_class: {word: row for row in rows for word in row} for word_class, rows in SAME.items()}
# These have other meanings as well (a motorbike, a round plate, draws a sword, starts a car, fixes her hair): words
# of the same list may be replaced by them, but they are never replaced.
MEAN_MORE = frozenset(
    {"bike", "bikes", "round", "rich", "draws", "starts", "start", "starting", "started", "fixes", "fixing"}
)
# "rock climbing", "street dancing": a gerund after them belongs to them.
BEFORE_GERUNDS = frozenset({"rock", "stone", "road", "street"})
THINGS = ("NOUN", "PROPN")
# Facts that stay true when words change.
KEPT = ("count", "entities")
VOWELS = ("a", "an")


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make up to params["each"] captions per source, each with one word exchanged; the seed draws among more."""
    tags = tagger(params["tagger"])
    for source in sources:
        rewordings = list(_rewordings(source.text, tags.tag(source.text)))
        if not rewordings:
            yield Skip(source.id, "none of its words has a synonym that always fits")
            continue
        drawn = random.Random(f"{seed}:{source.id}").sample(rewordings, min(params["each"], len(rewordings)))
        for text, old, new in sorted(drawn):
            copied_facts = {name: source.facts[name] for name in KEPT if name in source.facts}
            facts = {**copied_facts, "paraphrase_of": source.id, "replaced": [old, new]}
            yield MadeCaption(source.id, text, "hard_positive", mode, facts)


def _rewordings(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    """Yield (text, old word, new word) for every exchange, each once."""
    for index, token in enumerate(tokens):
        if token.lower in MEAN_MORE or _is_in_compound(tokens, index):
            continue
        for synonym in PARTS.get(token.part, {}).get(token.lower, ()):
            if synonym != token.lower:
                new = synonym.capitalize() if token.text[:1].isupper() else synonym
                edits = [Edit(token.start, token.end, new), *_article(tokens, index, synonym)]
                yield apply_edits(text, sorted(edits)), token.lower, synonym


def _is_in_compound(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word is a part of another thing's name: "rock band", "cable car", "rock climbing"."""
    if tokens[index].part != "NOUN":
        return False
    neighbours = [*tokens[max(0, index - 1) : index], *tokens[index + 1 : index + 2]]
    gerund = tokens[index].lower in BEFORE_GERUNDS and index + 1 < len(tokens) and tokens[index + 1].tag == "VBG"
    return gerund or any(token.part in THINGS for token in neighbours)


def _article(tokens: Sequence[Token], index: int, word: str) -> list[Edit]:
    """Correct the article before the new word if it no longer fits: "a car", "an automobile"."""
    before = tokens[index - 1] if index else None
    if before is None or before.lower not in VOWELS:
        return []
    fitting = article(word).split()[0]
    if fitting == before.lower:
        return []
    return [Edit(before.start, before.end, fitting.capitalize() if before.text[:1].isupper() else fitting)]
