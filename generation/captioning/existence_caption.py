"""Existence captions: "washing some fridges" -> "there are some fridges".

For the proficiency test of rare actions (ViLMA, Sec. C.5).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from foilworks.core.text.language.change_finding import as_instruction
from foilworks.core.text.language.inflection import can_be
from foilworks.core.text.language.phrases import POSSESSIVE, NounPhrase, is_plural_noun, noun_phrases
from foilworks.core.text.language.tokens import Token
from foilworks.core.text.language.tools import tagger
from generation.grammar.existence import frame_for, singular_noun
from generation.grammar.things import domains_of
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "2"
MAX_WORDS = 3
PLAIN = re.compile(r"[a-z]+(?:-[a-z]+)*")


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make one caption per source: of its fact "noun", else the first noun phrase after the verb, else the only one."""
    del seed
    tags = tagger(params["tagger"])
    for source in sources:
        noun, several = _noun_of_fact(source) or _noun_of_text(source.text, tags.tag(source.text))
        if not noun:
            yield Skip(source.id, "it names no thing that could be there")
            continue
        frame, form = frame_for(noun, several=several)
        yield MadeCaption(source.id, f"there {frame} {form}", "existence_caption", mode, {"thing": noun})


def _noun_of_fact(source: CaptionInput) -> tuple[str, bool] | None:
    noun = source.facts.get("noun")
    if not isinstance(noun, str) or not noun.strip():
        return None
    words = " ".join(noun.lower().split())
    return singular_noun(words), is_plural_noun(words.split()[-1])


def _noun_of_text(text: str, tokens: Sequence[Token]) -> tuple[str, bool]:
    # "grab salad bowl": the verb of an instruction is no part of the thing.
    tokens = as_instruction(tokens)
    verb = next((index for index, token in enumerate(tokens) if token.part == "VERB"), None)
    if verb is None and len(tokens) > 1 and tokens[0].part == "NOUN" and can_be(tokens[0].lower, "VERB"):
        tokens, verb = [replace(tokens[0], part="VERB"), *tokens[1:]], 0
    phrases = [phrase for phrase in noun_phrases(tokens) if domains_of(tokens[phrase.head].lower)]
    behind = [phrase for phrase in phrases if verb is not None and phrase.first > verb]
    if not behind and len(phrases) != 1:
        return "", False
    phrase = (behind or phrases)[0]
    words = " ".join(text[tokens[_bare(tokens, phrase)].start : tokens[phrase.head].end].lower().split())
    if len(words.split()) > MAX_WORDS or not all(PLAIN.fullmatch(word) for word in words.split()):
        return "", False
    return singular_noun(words), is_plural_noun(tokens[phrase.head].text)


def _bare(tokens: Sequence[Token], phrase: NounPhrase) -> int:
    """Return the start of the phrase without article, possessive, number and adjectives."""
    first = phrase.first
    while first < phrase.head and (
        tokens[first].part in ("DET", "NUM", "PART", "VERB", "ADJ") or tokens[first].lower in POSSESSIVE
    ):
        first += 1
    return first
