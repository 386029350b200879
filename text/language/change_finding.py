"""Find verbs of change in a tagged caption: the change, the thing that changes, the particle and the place."""

from collections.abc import Sequence
from dataclasses import dataclass

from text.language.change_of_state import StateChange, by_verb
from text.language.phrases import NounPhrase, noun_phrases
from text.language.tokens import Token

# A particle may follow the object, but only nearby; keeps the time linear for captions of 10^6 characters.
REACH = 12
BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "gets", "get"})
OBJECT_PRONOUNS = frozenset({"it", "them", "him", "her", "this", "that", "these", "something"})


@dataclass(frozen=True)
class FoundChange:
    """A found change. Token indices: `verb`, `particle` (-1 if none), `preposition` (-1 if none) that links a place.

    `what` changes: the object, or the subject if there is none or the verb is passive; None for a pronoun.
    """

    change: StateChange
    verb: int
    particle: int
    preposition: int
    what: NounPhrase | None
    transitive: bool
    passive: bool


def find_changes(tokens: Sequence[Token]) -> list[FoundChange]:
    """Find every verb of the lexicon with the thing that changes, from left to right."""
    phrases = {phrase.first: phrase for phrase in noun_phrases(tokens)}
    ends = {phrase.last: phrase for phrase in phrases.values()}
    found = []
    for at, token in enumerate(tokens):
        change = _change_at(tokens, phrases, ends, at) if token.part == "VERB" else None
        if change is not None:
            found.append(change)
    return found


def _change_at(
    tokens: Sequence[Token], phrases: dict[int, NounPhrase], ends: dict[int, NounPhrase], at: int
) -> FoundChange | None:
    lemma = tokens[at].lemma
    first = at + 1
    while first < len(tokens) and tokens[first].part == "ADV":
        first += 1
    particle = first if first < len(tokens) and tokens[first].part in ("ADP", "ADV") else -1
    opens = first + 1 if particle >= 0 else first
    what = phrases.get(first) or (phrases.get(opens) if particle >= 0 else None)
    pronoun = _pronoun_at(tokens, first)
    after = what.last if what else first + 1 if pronoun else first
    passive = tokens[at].tag == "VBN" and any(token.lower in BE for token in tokens[max(0, at - 3) : at])
    if particle >= 0 and what is not None and what.first == opens:
        options = [(f"{lemma} {tokens[particle].lower}", particle)]
        # "sits on the box": without that verb the phrase is a place, not an object.
        direct: NounPhrase | None = None
    else:
        behind = range(after, min(len(tokens), after + REACH))
        ends_clause = next((n for n in behind if tokens[n].part in ("PUNCT", "CCONJ", "SCONJ", "VERB")), len(tokens))
        options = [
            (f"{lemma} {tokens[n].lower}", n)
            for n in behind
            if n < ends_clause
            and tokens[n].part in ("ADP", "ADV")
            and (n == after or n + 1 not in phrases)
            and _preposition(tokens, n) == tokens[n].lower
        ]
        direct = what
    subject = _subject(tokens, ends, at)
    for verb, where in options:
        made = _made(verb, where, -1, tokens, at, what, subject, pronoun=pronoun, passive=passive)
        if made:
            return made
    place = after if after < len(tokens) and tokens[after].part == "ADP" else -1
    for verb in _bare(lemma, tokens, place):
        made = _made(verb, -1, place, tokens, at, direct, subject, pronoun=pronoun, passive=passive)
        if made:
            return made
    return None


def _bare(lemma: str, tokens: Sequence[Token], place: int) -> list[str]:
    """Return verbs without a particle, and those whose preposition implies it: "puts a book into a bag"."""
    found = [lemma]
    if place >= 0:
        preposition = _preposition(tokens, place)
        found += [
            verb
            for verb, changes in by_verb().items()
            if verb.startswith(f"{lemma} ") and any(change.prepositions[0] == preposition for change in changes)
        ]
    return found


def _preposition(tokens: Sequence[Token], at: int) -> str:
    two = at + 1 < len(tokens) and tokens[at].lower == "out" and tokens[at + 1].lower == "of"
    return "out of" if two else tokens[at].lower


def _made(
    verb: str,
    particle: int,
    place: int,
    tokens: Sequence[Token],
    at: int,
    what: NounPhrase | None,
    subject: NounPhrase | None,
    *,
    pronoun: bool,
    passive: bool,
) -> FoundChange | None:
    """Return the change if the lexicon has the verb with the caption's kind of object."""
    transitive = passive or what is not None or pronoun
    for change in by_verb().get(verb, ()):
        if not (change.transitive if transitive else change.intransitive):
            continue
        linked = place if place >= 0 and change.prepositions[0] == _preposition(tokens, place) else -1
        if particle >= 0 and what is not None and particle > what.last - 1 and change.prepositions[0]:
            linked = particle + 1 if particle + 1 < len(tokens) and tokens[particle + 1].part == "ADP" else -1
            linked = linked if linked >= 0 and _preposition(tokens, linked) == change.prepositions[0] else -1
        changing = subject if passive or not transitive else what
        return FoundChange(change, at, particle, linked, changing, transitive, passive)
    return None


def _pronoun_at(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].part in ("PRON", "DET") and tokens[at].lower in OBJECT_PRONOUNS


def _subject(tokens: Sequence[Token], ends: dict[int, NounPhrase], at: int) -> NounPhrase | None:
    """Return the phrase that ends before the verb and its auxiliaries and adverbs."""
    back = at
    while back > 0 and tokens[back - 1].part in ("AUX", "ADV"):
        back -= 1
    return ends.get(back)
