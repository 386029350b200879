"""Find the spatial prepositions of a caption, and the replacements that would make it false."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from foilworks.core.text.language.inflection import lemmas, plain_verb
from foilworks.core.text.language.numbers import value_of
from generation.grammar import preposition_choice
from generation.grammar.consistency import why_unsound
from generation.grammar.place_clashes import clash
from generation.grammar.place_needs import needs_place
from generation.grammar.preposition_misfits import misfit
from generation.grammar.preposition_rows import OPPOSITES
from generation.grammar.preposition_words import (
    CARRIERS,
    COLOURS,
    CONTAINERS,
    DETERMINERS,
    ENTAILED,
    FIXED,
    FIXED_BEFORE,
    IN_IS_ON,
    IN_IS_ON_TOP,
    NEVER_DRAWN,
    NO_OBJECT,
    OPPOSITE_ENDS,
    PAPER_ONLY,
    PARTICLES,
    PATHS,
    PLACES,
    SAME,
    SEATS,
    TIME_WORDS,
    WORN,
)
from generation.grammar.surface import phrase_pattern, replace_phrase

LISTED = PLACES + PATHS
# Mode corrected has further relations; they are never drawn, except as exact opposites.
MORE = {"far from": "place", "from behind of": "path"}
MORE |= dict.fromkeys(("to", "over to", "up to", "back to", "from on top of"), "path")
KIND = dict.fromkeys(PLACES, "place") | dict.fromkeys(PATHS, "path") | MORE
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# The longest phrase of a list limits the context; keeps the time linear for captions of 10^6 characters.
WINDOW = 120
CLAUSE_END = re.compile(r"[.,;:!?]")
SENTENCE_END = re.compile(r"[.;:!?]")

FROM_TO = {f"from {a} to {b}": f"from {b} to {a}" for a, b in OPPOSITE_ENDS}
FROM_THE_TO = {f"from the {a} to the {b}": f"from the {b} to the {a}" for a, b in OPPOSITE_ENDS}
# Another may be on the other side, or be there later.
NOT_ONLY = re.compile(r"\b(?:first|seen|visible|appears?)\b", re.IGNORECASE)
SIDES = {
    f"{before} the {a}": f"{before} the {b}"
    for before in ("to", "on")
    for a, b in (("left", "right"), ("right", "left"))
}
DIRECTIONS = FROM_TO | FROM_THE_TO | SIDES


@dataclass(frozen=True)
class Relation:
    """A relation: characters `start:end` are `phrase`; `opposite` is set if only the whole can be replaced.

    `same`: phrases that mean the same for its object, in addition to those for any object.
    """

    start: int
    end: int
    phrase: str
    opposite: str = ""
    same: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def relations(text: str, mode: str) -> tuple[Relation, ...]:
    """Return the spatial relations from left to right; the longest match wins ("out of" does not match "of").

    Mode paper takes every listed word that is not part of a longer match; corrected excludes the module's lists
    of particles, fixed phrases and clothes, and treats "from left to right" as one relation with its opposite.
    """
    return tuple(_relations(text, mode))


def _relations(text: str, mode: str) -> Iterator[Relation]:
    for match in (_PAPER if mode == "paper" else _CORRECTED).finditer(text):
        phrase = " ".join(match.group().lower().split())
        if mode == "paper":
            yield Relation(match.start(), match.end(), phrase)
        elif phrase in DIRECTIONS:
            if phrase in SIDES and (
                _continues(text, match.end())
                or NOT_ONLY.search(text, max(0, match.start() - WINDOW), match.end() + WINDOW)
            ):
                continue
            yield Relation(match.start(), match.end(), phrase, DIRECTIONS[phrase])
        elif phrase in KIND and _relates(text, match.start(), match.end(), phrase):
            same = _same_of(text, match.end(), phrase)
            yield Relation(match.start(), match.end(), phrase, same=same)


def replacements(relation: Relation, mode: str, vocabulary: frozenset[str] | None) -> list[str]:
    """Return the sorted replacements of the relation, from `vocabulary` (the corpus) if given, else from the list."""
    phrase = relation.phrase
    if mode == "paper":
        return sorted((vocabulary or frozenset(LISTED + PAPER_ONLY)) - {phrase})
    allowed = {
        preposition for preposition in LISTED if preposition not in NEVER_DRAWN and KIND[preposition] == KIND[phrase]
    }
    if vocabulary:
        allowed &= vocabulary
    return sorted(allowed - {phrase} - STAYS_TRUE[phrase] - relation.same)


def fitting(text: str, relation: Relation) -> tuple[str, ...]:
    """Return the replacements that are false and natural with the relation's verb and landmark, opposites first."""
    clause = SENTENCE_END.split(text[max(0, relation.start - WINDOW) : relation.start])[-1]
    before = [match.group().lower() for match in WORD.finditer(clause)]
    targets = preposition_choice.choices(relation.phrase, before, _words_after(text, relation.end))
    return tuple(target for target in targets if target not in relation.same and not why_unfit(text, relation, target))


def why_unfit(text: str, relation: Relation, target: str) -> str:
    """Return why the rest of the caption does not fit a replacement, or ""."""
    edits = replace_phrase(text, relation.start, relation.end, target)
    place = (text, relation.phrase, relation.start, relation.end, target)
    return needs_place(*place) or misfit(*place) or clash(*place) or why_unsound(text, edits)


def _continues(text: str, end: int) -> bool:
    """Return whether a noun follows: "on the right track", or it is the side of somebody: the viewer's or theirs."""
    after = _words_after(text, end)[:2]
    if after in (["side", "of"], ["hand", "of"]):
        return True
    return (
        bool(after) and after[0] not in NO_OBJECT and after[0] not in ("side", "hand") and not after[0].endswith("ing")
    )


def is_opposite(phrase: str, target: str) -> bool:
    """Return whether the replacement is the exact opposite, such as "up" and "down"."""
    return target in OPPOSITES.get(phrase, ())


def _stays_true(phrase: str) -> frozenset[str]:
    true_prepositions = set(ENTAILED.get(phrase, ()))
    for group in SAME:
        if phrase in group:
            true_prepositions |= group
    return frozenset(true_prepositions - {phrase})


def _same_of(text: str, end: int, phrase: str) -> frozenset[str]:
    """Return the synonyms for "in a chair", "on a bus": things that a person can be both in and on."""
    if phrase not in IN_IS_ON:
        return frozenset()
    after = _words_after(text, end)
    for index, word in enumerate(after[1:] if after and after[0] in DETERMINERS else after):
        if word in SEATS:
            return frozenset(IN_IS_ON_TOP[phrase])
        if word in CARRIERS:
            return frozenset(IN_IS_ON[phrase])
        # "a rocking chair"; a noun after a verb or the next relation is another thing.
        if word in NO_OBJECT or word in DETERMINERS or word in KIND or (index and word.endswith("ing")):
            break
    return frozenset()


def _relates(text: str, start: int, end: int, phrase: str) -> bool:
    """Return whether the match is spatial: not a particle, adverb or noun, nor about time or clothes."""
    after = _words_after(text, end)
    if not after or after[0] in NO_OBJECT:
        return False
    before = "".join(match.group().lower() for match in deque(WORD.finditer(_clause_before(text, start)), maxlen=1))
    if before in DETERMINERS:
        return False
    if before and (_belongs(before, phrase, PARTICLES) or _belongs(before, phrase, FIXED_BEFORE)):
        return False
    if phrase in ("in", "on", "over", "under", "around", "from", "past") and _is_quantity(after):
        return False
    if phrase == "in" and _is_worn(after):
        return False
    return not (phrase == "from" and re.match(r"[^.,;:!?]*?\bto\b", text[end : end + WINDOW]))


def _clause_before(text: str, start: int) -> str:
    return CLAUSE_END.split(text[max(0, start - WINDOW) : start])[-1]


def _clause_after(text: str, end: int) -> str:
    return CLAUSE_END.split(text[end : end + WINDOW])[0]


def _words_after(text: str, end: int) -> list[str]:
    return [match.group().lower() for match in islice(WORD.finditer(_clause_after(text, end)), 8)]


def _belongs(word: str, phrase: str, table: dict[str, frozenset[str]]) -> bool:
    """Return whether `phrase` belongs to the word before it, by the word itself or its lemma."""
    verbs = table.get(phrase)
    return verbs is not None and not verbs.isdisjoint((word, *lemmas(word).get("VERB", ())))


def _is_quantity(after: list[str]) -> bool:
    """Return whether it is a quantity: "in exactly two moves", "for over ten minutes", "in the summer", "on Monday"."""
    if after[0] == "exactly" or after[0] in TIME_WORDS:
        return True
    head = after[1:3] if after[0] in DETERMINERS or value_of(after[0]) is not None else []
    return any(word in TIME_WORDS for word in head)


def _is_worn(after: list[str]) -> bool:
    """Return whether it is worn: "in a red shirt", "in black"."""
    phrase = after[1:] if after[0] in DETERMINERS else after
    for index, word in enumerate(phrase[:4]):
        follower = phrase[index + 1] if index + 1 < len(phrase) else ""
        if word in NO_OBJECT or word.endswith("ing"):
            return False
        if word in WORN:
            return follower not in CONTAINERS
        if word in COLOURS and (not follower or follower in NO_OBJECT or plain_verb(follower) is not None):
            return True
    return False


STAYS_TRUE = {phrase: _stays_true(phrase) for phrase in KIND}
_PAPER = phrase_pattern(list(LISTED + PAPER_ONLY))
_CORRECTED = phrase_pattern([*KIND, *FIXED, *DIRECTIONS])
