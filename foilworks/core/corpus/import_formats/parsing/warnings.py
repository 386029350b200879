"""Warnings of a record and its proficiency pair: imported, but probably wrong."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from foilworks.core.corpus.records import ItemRecord, PairRecord, RecordWarning
from foilworks.core.text.comparable import comparable
from foilworks.core.text.language.numbers import WORDS
from foilworks.core.text.quoting import quoted
from foilworks.core.text.tokens import words

# What ViLMA's counting files put into their templates.
_SLOT = "<number>"


# 1,23457E+17 was a long number; 02. Jan and 2-Jan were names such as 2-1.
_MONTH = "(jan|feb|m\u00e4r|mrz|mar|apr|mai|may|jun|jul|aug|sept?|okt|oct|nov|dez|dec)"
_REWRITTEN = re.compile(rf"\d[.,]\d+E\+\d+|\d{{1,2}}[.-] ?{_MONTH}\.?|{_MONTH}[-. ]+\d\d", re.IGNORECASE)


def warnings_of(location: str, item: ItemRecord) -> Iterator[RecordWarning]:
    """The warnings of one record; `location` is PATH:LINE."""
    pairs: list[tuple[str, ItemRecord | PairRecord]] = [("", item)]
    if item.proficiency is not None:
        pairs.append(("proficiency.", item.proficiency))
    for prefix, pair in pairs:
        for field, problem in _pair(pair):
            yield RecordWarning(location, f"{prefix}{field}", problem)
    for field, name in (("id", item.id), ("source_id", item.video.source_id)):
        if _REWRITTEN.fullmatch(name):
            problem = "looks like a number or a date that a spreadsheet rewrote; format the column as text"
            yield RecordWarning(location, field, f"{quoted(name)} {problem}")
    for field, problem in _classes(item):
        yield RecordWarning(location, field, problem)


def repeats_caption(pair: ItemRecord | PairRecord) -> bool:
    """Return whether a foil is the caption: an é of one character and one of two are equal."""
    return comparable(pair.caption) in map(comparable, pair.foils)


def _pair(pair: ItemRecord | PairRecord) -> Iterator[tuple[str, str]]:
    if repeats_caption(pair):
        yield "foils", "a foil is equal to the caption"
    if len(set(pair.foils)) < len(pair.foils):
        yield "foils", "two foils are equal"
    if pair.votes is not None and pair.votes.total == 0:
        yield "votes", "nobody voted: all counts are zero"
    # Of two clips, captions that differ by the order of their words alone are the rule.
    of_two_clips = isinstance(pair, ItemRecord) and pair.pair
    if pair.foils and not of_two_clips and (repeated_text := _same_words(pair.caption, pair.foils)):
        likeness = "has the words of the caption in another order, or its letters in another case"
        yield "foils", f"{quoted(repeated_text)} {likeness}; check that it is false"


def _same_words(caption: str, foils: tuple[str, ...]) -> str:
    """The first foil with the caption's words, no more and no less: nothing but their order tells it apart."""
    of_caption = sorted(words(caption))
    if not of_caption:
        return ""
    return next(
        (foil for foil in foils if sorted(words(foil)) == of_caption and comparable(foil) != comparable(caption)), ""
    )


def _classes(item: ItemRecord) -> Iterator[tuple[str, str]]:
    """What the record says the caption or a foil is about, and no word of it says."""
    facts: Mapping[str, Any] = {**item.facts, **item.extra}
    template = str(facts.get("template") or "")
    for field, texts in (("class", (item.caption,)), ("classes_foil", item.foils)):
        values = facts.get(field)
        for value in values if isinstance(values, list) else [values]:
            if value is None or isinstance(value, bool | float | dict | list) or not texts:
                continue
            if isinstance(value, int) and _SLOT not in template:
                continue  # a number that is no count: an answer, an index
            if not any(_says(text, value) for text in texts):
                yield field, f"{quoted(str(value))} is not said in {'the caption' if field == 'class' else 'any foil'}"


def _says(text: str, value: int | str) -> bool:
    """Whether a text says the class: its words one after the other, an inflected verb or noun by its stem."""
    text_words = words(text)
    if isinstance(value, int):
        spelled = WORDS[value] if 0 <= value < len(WORDS) else ""
        return str(value) in text_words or (bool(spelled) and spelled in text_words)
    class_words = words(value)
    if not class_words:
        return True
    # One after the other, with others between: "tidies the room up" says "tidy up".
    stems = iter([_stem(word) for word in text_words])
    return all(_stem(word) in stems for word in class_words)


def _stem(word: str) -> str:
    """Return a rough stem: `jumps`, `jumped`, `jumping` are one; an error is only an extra warning."""
    for ending, shortest in (("ing", 3), ("ies", 2), ("ied", 2), ("es", 3), ("ed", 3), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            word = word.removesuffix(ending)
            break
    word = word.rstrip("ey")
    return word[:-1] if len(word) > 3 and word[-1:] == word[-2:-1] else word
