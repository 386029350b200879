"""Captions of the action without its count: "… performs exactly three push-ups" -> "… performs push-ups".

For the proficiency test of counting (ViLMA, Sec. C.2).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from foilworks.core.text.diff import apply_edits
from generation.grammar.numbers import Count, find_count, realise
from generation.records import CaptionInput, MadeCaption, Skip

VERSION = "1"
EXACTLY = re.compile(r"(?i:exactly)\s+$")
TIMES = re.compile(r"\s+(?i:times?)(?![\w-])")
MORE = re.compile(r"\s+(?i:more)(?!\w)")
IN_TOTAL = re.compile(r"\s+(?i:in\s+total)(?!\w)")
# "in exactly two moves": without its number the phrase is meaningless.
LEADING = re.compile(r"(?<!\w)(?i:in|within|for|over)\s+$")
MEASURES = re.compile(r"\s+(?i:moves?|steps?|tries|try|goes|attempts?|strokes?|rounds?|seconds?|minutes?)(?![\w-])")


def make(
    sources: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int
) -> Iterator[MadeCaption | Skip]:
    """Make one caption per source that states a count."""
    del params, seed
    for source in sources:
        count = find_count(source.text, "exactly")
        if isinstance(count, str):
            yield Skip(source.id, count)
            continue
        text = _without(count)
        if text is None or len(text.split()) < 2:
            yield Skip(source.id, "no sentence remains without its count")
            continue
        yield MadeCaption(source.id, text, "action_caption", mode, {"without_count": count.value})


def _without(count: Count) -> str | None:
    """Return the sentence without its count; one thing becomes several ("exactly one push-up" -> "push-ups")."""
    start, end, text = count.start, count.end, count.text
    is_times = count.adverb or TIMES.match(text, end)
    if not is_times and count.value == 1:
        edits = realise(count, 2, adverb=False)
        if edits is None:
            return None
        text = apply_edits(text, edits)
        plural_count = find_count(text, "exactly")
        if isinstance(plural_count, str):
            return None
        start, end = plural_count.start, plural_count.end
    if before := EXACTLY.search(text, 0, start):
        start = before.start()
    if match := TIMES.match(text, end):
        end = match.end()
    if is_times and (match := MORE.match(text, end)):
        end = match.end()
    elif (leading := LEADING.search(text, 0, start)) and (measure := MEASURES.match(text, end)):
        start, end = leading.start(), measure.end()
    if match := IN_TOTAL.match(text, end):
        end = match.end()
    return _joined(text, start, end)


def _joined(text: str, start: int, end: int) -> str:
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if not before:
        return after[:1].upper() + after[1:] if text[:1].isupper() else after
    return f"{before}{'' if not after or after[0] in '.,;:!?' else ' '}{after}"
