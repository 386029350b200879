"""Inflect words: singular and plural, third person, articles; and look up parts of speech.

`inflect` (rules) makes forms, `lemminflect` (a lexicon of the NIH) says what a word can be. Nothing is downloaded.
"""

import re
import sys
from functools import cache, lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

from foilworks.core.text.language.lexicon import lemmatizer

if TYPE_CHECKING:
    import inflect

IRREGULAR_THIRD = {"be": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}
IRREGULAR_PLAIN = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
# The lexicon has "people" as a singular.
IRREGULAR_SINGULAR = {"people": "person"}
# Nouns that are plural and have no singular: "a pair of jeans", never "a jean". The rules write "jeanss".
PLURAL_ONLY = frozenset(
    {
        "bagpipes",
        "belongings",
        "binoculars",
        "briefs",
        "clippers",
        "clothes",
        "dungarees",
        "fatigues",
        "goggles",
        "groceries",
        "headphones",
        "jeans",
        "knickers",
        "leggings",
        "nunchucks",
        "overalls",
        "pajamas",
        "pants",
        "panties",
        "pliers",
        "pyjamas",
        "scissors",
        "shears",
        "shorts",
        "sunglasses",
        "surroundings",
        "sweatpants",
        "tights",
        "tongs",
        "trousers",
        "trunks",
        "tweezers",
        "undies",
    }
)
# inflect treats digits as consonants.
VOWEL_DIGITS = re.compile(r"(?:8|11(?!\d)|18(?!\d))")


@cache
def rules() -> "inflect.engine":
    """Return the inflect engine, imported without typeguard, which would rewrite its functions at import, in three
    seconds, and check the types of each call."""
    substitute, loaded_typeguard = ModuleType("typeguard"), sys.modules.get("typeguard")
    substitute.__dict__["typechecked"] = lambda function: function
    sys.modules["typeguard"] = substitute
    try:
        import inflect
    finally:
        del sys.modules["typeguard"]
        if loaded_typeguard is not None:
            sys.modules["typeguard"] = loaded_typeguard
    return inflect.engine()


@lru_cache(maxsize=20_000)
def lemmas(word: str) -> dict[str, tuple[str, ...]]:
    """Return universal part of speech -> lemmas of a lower-case word; empty for unknown words."""
    return dict(lemmatizer().getAllLemmas(word))


def can_be(word: str, part_of_speech: str) -> bool:
    """Return whether the lexicon has the word as NOUN, VERB, ADJ, ADV …"""
    return part_of_speech in lemmas(word.lower())


def plural(noun: str) -> str:
    """Return the plural of a singular noun, also with hyphens: "push-up" -> "push-ups", "person" -> "people"; a
    plural without a singular stays: "jeans"."""
    if noun.lower() in PLURAL_ONLY:
        return noun.lower()
    return str(rules().plural_noun(noun.lower()))


@lru_cache(maxsize=20_000)
def singular(noun: str) -> str | None:
    """Return the singular of a plural noun, or None if it has none ("glass", "bus", "clockwise", "jeans")."""
    lowered = noun.lower()
    if lowered in PLURAL_ONLY:
        return None
    if lowered in IRREGULAR_SINGULAR:
        return IRREGULAR_SINGULAR[lowered]
    singular_form = rules().singular_noun(lowered)
    if not singular_form or singular_form == lowered:
        return None
    noun_lemmas = lemmas(lowered).get("NOUN", ())
    # The rules remove the s of any word ("bus" -> "bu"): a known word must be a plural in the lexicon too.
    if lemmas(lowered) and not any(lemma != lowered for lemma in noun_lemmas):
        return None
    return str(singular_form)


def third_person(verb: str) -> str:
    """Return a base-form verb in the third person singular: "jump" -> "jumps", "are" -> "is"."""
    lowered = verb.lower()
    if lowered in IRREGULAR_THIRD:
        return IRREGULAR_THIRD[lowered]
    if re.search(r"(?:s|x|z|ch|sh|(?<!o)o)$", lowered):
        return lowered + "es"
    return lowered[:-1] + "ies" if re.search(r"[^aeiou]y$", lowered) else lowered + "s"


def plain_verb(verb: str) -> str | None:
    """Return the plural form of a third-person verb: "jumps" -> "jump", "is" -> "are"; None for other words."""
    lowered = verb.lower()
    if lowered in IRREGULAR_PLAIN:
        return IRREGULAR_PLAIN[lowered]
    for lemma in lemmas(lowered).get("VERB", ()):
        if lemma != lowered and third_person(lemma) == lowered:
            return lemma
    return None


def article(following: str) -> str:
    """Return "a" or "an", by the sound of the next word."""
    word = following.lstrip()
    if VOWEL_DIGITS.match(word):
        return "an"
    return str(rules().a(word)).split(" ", 1)[0] if word else "a"
