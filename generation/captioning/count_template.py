"""Counting captions (ViLMA, Secs. 3.2 and C.2): a template with <number> and the video's annotated count.

The template is the source's fact "template", or its text; the count is its fact "count" (or "class", as ViLMA's files
have it).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.diff import apply_edits
from foilworks.core.text.language.numbers import WORDS, value_of
from generation.errors import GenerationError
from generation.grammar.numbers import Count, realise
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "1"
SLOT = re.compile(r"<number>", re.IGNORECASE)


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make one caption per source."""
    del seed
    if not 1 <= params["max"] < len(WORDS):
        raise GenerationError(f"parameter 'max' is {params['max']}; give a whole number from 1 to {len(WORDS) - 1}")
    for source in sources:
        template = str(source.facts.get("template") or source.text)
        value = _count(source)
        slots = list(SLOT.finditer(template))
        if len(slots) != 1:
            yield Skip(source.id, f"its template contains <number> {len(slots)} times; write it once")
        elif value is None:
            yield Skip(source.id, 'it has no annotated count; add it as the fact "count"')
        elif not 1 <= value <= params["max"]:
            yield Skip(source.id, f"the count {value} is not within 1..{params['max']} (parameter max)")
        else:
            text = _filled(template, slots[0].span(), value, params["style"], mode)
            if text is None:
                yield Skip(source.id, "with the count one the sentence is ungrammatical; write a separate template")
            else:
                facts = {"count": value, "template": template}
                yield MadeCaption(source.id, text, "count_template", mode, facts)


def _count(source: CaptionInput) -> int | None:
    noted = source.facts.get("count", source.facts.get("class"))
    return None if noted is None or isinstance(noted, bool) else value_of(str(noted))


def _filled(template: str, slot: tuple[int, int], value: int, style: str, mode: str) -> str | None:
    """Fill the template with its count. Templates are plural, so a count of one needs the grammar of numbers."""
    start, end = slot
    written = str(value) if style == "digits" else WORDS[value]
    if not template[:start].strip():
        written = written[0].upper() + written[1:] if template[:1].isupper() or template[0] == "<" else written
    if value != 1 or mode == "paper":
        return template[:start] + written + template[end:]
    two = "2" if style == "digits" else "Two" if written[0].isupper() else "two"
    several = template[:start] + two + template[end:]
    edits = realise(Count(several, start, start + len(two), 2, adverb=False), 1, adverb=False)
    return None if edits is None else apply_edits(several, edits)
