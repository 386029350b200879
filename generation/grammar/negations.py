"""Foils that deny what a caption has, or the reverse: "with no hat" -> "with a hat", "shirtless" -> "in a red shirt".

"not" is not added to verbs: nobody describes what does not happen. Start and stop are not exchanged: a clip may show
both. What is denied here are things that captions say to be missing. Outcomes ("fails to") do not fit their captions.
"""

import random
import re
from collections.abc import Iterator, Sequence

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.inflection import article
from foilworks.core.text.language.living import COLLECTIVES, kind_of
from foilworks.core.text.language.numbers import match_case
from foilworks.core.text.language.phrases import is_plural_noun
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.word_lists import word_set

HAS = word_set("with wearing wears has having")
# Whoever has none of these is described so: "a man with no hat", "a boy without shoes".
THINGS = word_set(
    "top shoe shoes sock socks hat cap helmet helmets coat jacket vest tie glove gloves glasses sunglasses",
    "goggles mask makeup beard mustache moustache tattoos pants scarf bandana backpack umbrella leash collar saddle",
    "rider driver net rope ropes harness shirts hats jackets",
)
MASS = word_set("makeup")
# Later, or on somebody else, it may be otherwise; or the thing is for something else, such as a shirt with a text.
CHANGES = word_set(
    "dress dresses dressed change changes changed play plays playing did that displaying reads reading says saying",
    "text word words logo put puts putting take takes taking remove removes removing off then again before after later",
    "another other others one both some each throws gets adjusts adjusting different or but nor",
)
SKIPPED_PERSONS = COLLECTIVES | word_set("people persons")
MAX_WORDS = 22
MAX_PERSONS = 2
# With weights: as often as captions name them, and "in" or "wearing" before them.
SHIRT_COLOURS = {"blue": 6, "white": 4, "red": 4, "black": 3, "green": 2, "yellow": 2, "gray": 1}
LEADS = {"in": 5, "wearing": 1}
_COLOURS = "|".join(SHIRT_COLOURS)
_SHIRTED = re.compile(
    rf"\b(?P<who>\w+) (?:in|wearing) an? (?:{_COLOURS}) shirt\b(?!-|,| ,| and\b| with\b| \w+ed\b)", re.IGNORECASE
)
_SHIRTLESS = re.compile(
    r"\bshirtless (?P<young>(?:young|old|older|elderly|little) )?(?P<who>\w+)\b(?! in\b| with\b| wearing\b| and\b)"
    r"|\b(?P<whom>\w+) (?:with no|wearing no|without a|without his) shirt(?: on)?\b(?! ?,| and\b| or\b| on\b)",
    re.IGNORECASE,
)
# "shirtless" is rarer than in captions, so that a draw keeps more of the others.
_DENIALS = ("shirtless {}", *("{} with no shirt",) * 6, *("{} wearing no shirt", "{} without a shirt") * 3)


def negations(text: str, tokens: Sequence[Token], generator: random.Random) -> Iterator[list[Edit]]:
    """Yield the edits that deny a thing of a caption, or assert one that it denies."""
    words = [token.lower for token in tokens if token.part != "PUNCT"]
    if len(words) > MAX_WORDS:
        return
    persons = [word for word in words if kind_of(word)]
    is_clear = len(persons) == len(set(persons)) and CHANGES.isdisjoint(words) and SKIPPED_PERSONS.isdisjoint(words)
    if persons and len(persons) <= MAX_PERSONS and is_clear:
        yield from _shirt(text, generator)
        for index in range(len(tokens) - 2):
            yield from _thing(tokens, index)


def _shirt(text: str, generator: random.Random) -> Iterator[list[Edit]]:
    """Yield the edit that takes a man's shirt away, or gives him one of a random colour."""
    if text.lower().count("shirt") != 1:
        return
    for match in _SHIRTED.finditer(text):
        if _is_man(match["who"]):
            target = generator.choice(_DENIALS).replace("{}", match["who"].lower())
            yield [Edit(*match.span(), match_case(match["who"], target))]
    for match in _SHIRTLESS.finditer(text):
        who = match["who"] or match["whom"]
        if _is_man(who):
            lead, colour = (generator.choices([*row], [*row.values()])[0] for row in (LEADS, SHIRT_COLOURS))
            target = f"{match['young'] or ''}{who} {lead} a {colour} shirt"
            yield [Edit(*match.span(), match_case(match.group(), target) if match["who"] else target)]


def _is_man(noun: str) -> bool:
    return kind_of(noun.lower()) == "m" and not is_plural_noun(noun)


def _thing(tokens: Sequence[Token], index: int) -> Iterator[list[Edit]]:
    """Yield the edit behind "with", "wearing" or "has" at `index`, or of "without" there."""
    lead, det = tokens[index], tokens[index + 1]
    has_det = det.lower in ("a", "an", "no", "any")
    at = index + 1 + has_det
    if at >= len(tokens) or tokens[at].lower not in THINGS or _goes_on(tokens, at + 1):
        return
    noun = tokens[at]
    several = is_plural_noun(noun.text) or noun.lower in MASS
    if lead.lower == "without" and det.lower != "no":
        yield [Edit(lead.start, det.end if det.lower == "any" else lead.end, match_case(lead.text, "with"))]
    elif lead.lower in HAS and det.lower == "no":
        yield [Edit(det.start, noun.start, "")] if several else [Edit(det.start, det.end, article(noun.lower))]
    elif lead.lower in HAS and has_det and det.lower != "any":
        yield [Edit(det.start, det.end, "no")]
    elif lead.lower == "with" and not has_det:
        yield [Edit(lead.start, lead.end, "without")]


def _goes_on(tokens: Sequence[Token], index: int) -> bool:
    """Return whether more is said of a thing: "a hat rack", "a jacket with an eye on it", "a mask around his chin"."""
    if index == len(tokens):
        return False
    token = tokens[index]
    is_its_place = token.part == "ADP" and token.lower not in ("on", "at", "while", "from", "to")
    return token.part == "NOUN" or is_its_place or token.lower in (",", "and", "or")
