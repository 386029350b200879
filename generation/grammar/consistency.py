"""Tell whether the rest of a caption still holds after a change: a thing used again, a count taken up again, grammar.

Works on text alone, so that a method checks each candidate and a filter any foil.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from foilworks.core.text.diff import Edit, apply_edits
from foilworks.core.text.language.change_of_state import verbs_by_head
from foilworks.core.text.language.inflection import article, lemmas, plural, singular
from foilworks.core.text.language.numbers import value_of
from foilworks.core.text.language.word_lists import word_set
from generation.grammar.assertion import why_unasserted
from generation.grammar.preposition_choice import head_noun
from generation.grammar.preposition_words import PATHS, PLACES

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
MAX_LENGTH = 20_000
RELATIONS = frozenset(PLACES) | frozenset(PATHS) | {"to", "over to", "up to", "back to", "far from", "from on top of"}
PATH = re.compile(r"\b(into|onto|out of|off of|from|towards?|away from|through|to)\b", re.IGNORECASE)
# What takes a count or a participant up again.
TAKEN_UP = re.compile(
    r"\b(?:each other|one another|both|either|respectively|one|ones|(?:the|while|and|then|as) others?"
    r"|the (?:first|second|third|fourth|last|rest|two|three|four|former|latter)|apart|between them)\b",
    re.IGNORECASE,
)
TOGETHER = re.compile(r"\b(?:together|others|another|other)\b", re.IGNORECASE)
ALL_OF = re.compile(r"\b(?:all|all of the)\s+$", re.IGNORECASE)
EACH = re.compile(r"\beach\b", re.IGNORECASE)
# "once", "two minutes": no one takes these up again.
UNITS = word_set("time times second seconds minute minutes hour hours day days week weeks month months year years min")
# The templates of changes of state name their thing three times.
TEMPLATE = re.compile(r"\s*(?:initially|at the end)\b", re.IGNORECASE)
AGAIN = word_set("it its them itself themselves")
INSIDE_IT = re.compile(
    r"\b(?:from|in|into|inside|on|onto|out of|of|through|with|under|off) (?:it|them)\b|\bthere(?:in)?\b"
)
# "one push-up and one squat"
SINGLE_THING = re.compile(r"\bone (?!is|of|with|has|on|in|by|who|and|or|the)[a-z-]+(?= *[.,;]|$)", re.IGNORECASE)
SINGLE = word_set("he she his her him himself herself")
# Between a place and "it": "sits on a couch, picks up a cup and drinks from it".
OTHER_THING = re.compile(
    r"\b(?:an?|the|his|her|their|some) (?!drink|sip|bite|photo|picture|look|while|few|seat|nap)\w+"
)
MANY = word_set("they them their themselves theirs")
# Differences that say nothing about who somebody is.
GENERIC = word_set(
    "a an the one another other second third first person somebody someone people individual different more some new"
)
ARTICLE = re.compile(r"(?<![\w'’-])(an?)\s+([^\W\d_]+)", re.IGNORECASE)
TWICE = re.compile(r"(?<![\w'’-])([^\W\d_]+)\s+\1(?![\w'’-])", re.IGNORECASE)
ONE = re.compile(r"(?<![\w'’-])(?:exactly|at\s+least)\s+(?:one|1)\s+([^\W\d_]+)", re.IGNORECASE)
SEVERAL = re.compile(
    r"(?<![\w'’-])exactly\s+(?:two|three|four|five|six|seven|eight|nine|ten|[2-9]|10)\s+([^\W\d_]+)(?=\s*[.!?]?\s*$)",
    re.IGNORECASE,
)
THERE = re.compile(r"(?<![\w'’-])there\s+(is|are)\s+(?:exactly\s+|at\s+least\s+)?(\w+)", re.IGNORECASE)
SOMEONE = re.compile(r"(?<![\w'’-])(someone|he|she|it)\s+([^\W\d_]+)", re.IGNORECASE)
# "had had" and "that that" can be correct.
MAY_DOUBLE = frozenset({"had", "that", "very", "so", "bye", "no", "ha", "knock"})
BE = frozenset({"are", "were", "have", "do"})


def why_unsound(text: str, edits: Sequence[Edit]) -> str:
    """Return why a foil of these edits may be true with its caption, or cannot be true at all, or ""."""
    return why_unasserted(text, edits) or why_contradicted(text, edits)


def why_contradicted(text: str, edits: Sequence[Edit]) -> str:
    """Return why the edited caption contradicts itself, says the same or has an error of grammar, or ""."""
    return _why_contradicted(text, tuple(sorted(edits)))


@lru_cache(maxsize=4096)
def _why_contradicted(text: str, edits: tuple[Edit, ...]) -> str:
    if len(text) > MAX_LENGTH or not edits:
        return ""
    foil = apply_edits(text, edits)
    permuted = sorted(_words(text)) == sorted(_words(foil))
    for edit in () if permuted or TEMPLATE.match(text) else edits:
        if why := _changed_count(text, edit) or _changed_relation(text, edit) or _changed_act(text, edit):
            return why
    if _says_the_same(text, foil):
        return "the foil says the same in another order"
    return next((error for error in errors_of(foil) if error not in _known_errors(text)), "")


@lru_cache(maxsize=4096)
def _known_errors(text: str) -> frozenset[str]:
    return frozenset(errors_of(text))


def errors_of(text: str) -> Iterator[str]:
    """Yield wrong articles, repeated words, and numbers, "there is" and pronouns that do not agree."""
    for match in ARTICLE.finditer(text):
        if article(match[2]) != match[1].lower() and len(match[2]) > 1:
            yield f"'{match[0]}': wrong article"
    for match in TWICE.finditer(text):
        if match[1].lower() not in MAY_DOUBLE:
            yield f"'{match[0]}': repeated word"
    for match in ONE.finditer(text):
        if singular(match[1]) is not None and plural(match[1]) != match[1].lower():
            yield f"'{match[0]}': one with a plural"
    for match in SEVERAL.finditer(text):
        word = match[1].lower()
        if singular(word) is None and plural(word) != word:
            yield f"'{match[0]}': several with a singular"
    for match in THERE.finditer(text):
        several = match[2].lower() in ("some", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
        if (match[1].lower() == "are") != several and match[2].lower() in ("one", "a", "an", "two", "three", "four"):
            yield f"'{match[0]}': does not agree"
    for match in SOMEONE.finditer(text):
        if match[2].lower() in BE:
            yield f"'{match[0]}': does not agree"


def _changed_count(text: str, edit: Edit) -> str:
    """Return whether a changed count is taken up again: "two people …, one of them"."""
    old, new = _count(text[edit.start : edit.end]), _count(edit.target)
    if old is None or new is None or old == new:
        return ""
    behind = text[edit.end :]
    head = head_noun(_words(_clause_behind(text, edit.end)))
    if head in UNITS or edit.target.lower().startswith(("once", "twice", "thrice", "one time")):
        return ""
    rest = f"{text[: edit.start]} | {SINGLE_THING.sub('', behind) if old == 1 else behind}"
    again = (
        TAKEN_UP.search(rest)
        or (1 in (old, new) and TOGETHER.search(rest))
        or ALL_OF.search(text[: edit.start])
        or EACH.search(behind)
    )
    if again:
        return f"'{again.group().strip()}' takes the count up again"
    if old == 1 and not SINGLE.isdisjoint(_words(behind)):
        return "a pronoun takes the count up again"
    if 1 in (old, new) and not MANY.isdisjoint(_words(rest)):
        return "a pronoun takes the count up again"
    if head and _mentioned(head, text[: edit.start], behind, times=1):
        return f"'{head}' is mentioned again"
    return ""


def _count(text: str) -> int | None:
    words = _words(text)
    return value_of(words[0]) if words else None


def _changed_relation(text: str, edit: Edit) -> str:
    """Return whether the place of a changed preposition is used again, or the foil names two directions."""
    old, new = (" ".join(_words(phrase)) for phrase in (text[edit.start : edit.end], edit.target))
    if new not in RELATIONS or (old and old not in RELATIONS):
        return ""
    behind = _clause_behind(text, edit.end)
    head = head_noun(_words(behind))
    later = text[edit.end :]
    if head and _mentioned(head, "", later, times=1):
        return f"'{head}' is mentioned again"
    pronoun = INSIDE_IT.search(later.lower())
    if pronoun and not OTHER_THING.search(later[: pronoun.start()].lower().split(head, 1)[-1] if head else ""):
        return f"a pronoun may name the {head or 'place'} again"
    if new in PATHS:
        clause = re.split(r"[,;:]|\b(?:and|while|as|then)\b", behind)[0]
        before = re.split(r"[,.;:!?]|\b(?:and|while|as|then)\b", text[: edit.start])[-1]
        if PATH.search(clause) or (PATH.search(before) and not re.search(r"\bto \w+ ", before)):
            return "the caption names another direction, too"
    return ""


def _changed_act(text: str, edit: Edit) -> str:
    """Return whether the object of a changed verb is used again: "picks up a glass and drinks from it"."""
    old, new = _words(text[edit.start : edit.end]), _words(edit.target)
    if not old or not new or not (_is_verb(old[0]) and _is_verb(new[0])):
        return ""
    words = _words(_clause_behind(text, edit.end))
    while words and words[0] in ("up", "down", "on", "off", "in", "out", "back", "away"):
        words = words[1:]
    later = text[edit.end :]
    direct = words[:1] in (["it"], ["them"])
    head = "" if direct else head_noun(words)
    if head and _mentioned(head, "", later, times=1):
        return f"'{head}' is mentioned again"
    pronouns = [word for word in _words(later) if word in AGAIN]
    if len(pronouns) > direct:
        return f"'{pronouns[-1]}' may be the {head or 'same thing'} again"
    return ""


def _is_verb(word: str) -> bool:
    """Return whether it is a verb of change: others do not leave their object somewhere else."""
    return word not in RELATIONS and any(lemma in verbs_by_head() for lemma in lemmas(word).get("VERB", ()))


def _mentioned(noun: str, before: str, behind: str, *, times: int) -> bool:
    """Return whether a noun is there more than `times` times, in either number."""
    forms = {noun, singular(noun) or noun, plural(noun)}
    words = [*_words(before), *_words(behind)]
    return sum(word.removesuffix("'s").removesuffix("’s") in forms for word in words) > times


def _says_the_same(text: str, foil: str) -> bool:
    """Return whether the foil only exchanges words that do not tell participants apart: "a second person"."""
    old, new = _words(text), _words(foil)
    if sorted(old) != sorted(new) or old == new:
        return False
    return [word for word in old if word not in GENERIC] == [word for word in new if word not in GENERIC]


def _words(text: str) -> list[str]:
    return [match.group().lower() for match in WORD.finditer(text)]


def _clause_behind(text: str, end: int) -> str:
    return re.split(r"[,.;:!?]", text[end:], maxsplit=1)[0]
