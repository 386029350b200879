"""Captions of rare actions (ViLMA, Sec. 3.5): the pair cut, keyboard -> "cutting a keyboard", with no subject.

Input: facts {"verb", "noun"}; or a class label "cut-keyboard" (facts "class_label" or "class"), or the text itself.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.language.articles import with_article
from foilworks.core.text.language.verb_forms import verb_form, verb_readings
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "1"
PAIR = re.compile(r"^\s*([a-z]+(?: [a-z]+)?)\s*[-_,/|]\s*([a-z]+(?:[ _][a-z]+)*)\s*$", re.IGNORECASE)


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make one caption per source."""
    del params, seed
    for source in sources:
        pair = _pair(source)
        if pair is None:
            yield Skip(source.id, 'it has no verb and noun; add the facts "verb" and "noun", or a label "cut-keyboard"')
            continue
        verb, noun = pair
        if not any(tag == "VB" for _, tag in verb_readings(verb.partition(" ")[0])):
            yield Skip(source.id, f"'{verb}' is not the base form of a verb; write a form such as “cut”")
            continue
        text = f"{verb_form(verb, 'VBG')} {with_article(noun)}"
        yield MadeCaption(source.id, text, "verb_noun_caption", mode, {"verb": verb, "noun": noun})


def _pair(source: CaptionInput) -> tuple[str, str] | None:
    verb, noun = source.facts.get("verb"), source.facts.get("noun")
    if isinstance(verb, str) and isinstance(noun, str) and verb.strip() and noun.strip():
        return _plain(verb), _plain(noun)
    for label in (source.facts.get("class_label"), source.facts.get("class"), source.text):
        match = PAIR.match(label) if isinstance(label, str) and len(label) < 200 else None
        if match:
            return _plain(match[1]), _plain(match[2])
    return None


def _plain(words: str) -> str:
    return " ".join(words.replace("_", " ").lower().split())
