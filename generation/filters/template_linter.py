"""Drop a foil with template errors: agreement, articles, repeated words, punctuation, states before and after.

Only errors that the caption does not have count: captions are as people and sources wrote them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from foilworks.core.text.language.inflection import article, plural, singular
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False

MARKS = re.compile(r"[.,;:!?]")
ARTICLE = re.compile(r"(?<![\w'’-])(an?)\s+([^\W\d_]+)", re.IGNORECASE)
TWICE = re.compile(r"(?<![\w'’-])([^\W\d_]+)\s+\1(?![\w'’-])", re.IGNORECASE)
ONE = re.compile(r"(?<![\w'’-])(?:exactly|at\s+least)\s+(?:one|1)\s+([^\W\d_]+)", re.IGNORECASE)
SEVERAL = re.compile(
    r"(?<![\w'’-])exactly\s+(?:two|three|four|five|six|seven|eight|nine|ten|[2-9]|10)\s+([^\W\d_]+)(?=\s*[.!?]?\s*$)",
    re.IGNORECASE,
)
THERE = re.compile(r"(?<![\w'’-])there\s+(is|are)\s+(?:exactly\s+|at\s+least\s+)?(\w+)", re.IGNORECASE)
SOMEONE = re.compile(r"(?<![\w'’-])(someone|he|she|it)\s+([^\W\d_]+)", re.IGNORECASE)
BE_WORD = re.compile(r"\b(?:is|are)\s", re.IGNORECASE)
# "had had" and "that that" can be correct.
MAY_DOUBLE = frozenset({"had", "that", "very", "so", "bye", "no", "ha", "knock"})
BE = frozenset({"are", "were", "have", "do"})
MAX_TEXT_LENGTH = 5_000


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    """Score a foil by the number of its errors that the caption does not have; it passes at 0."""
    del others
    if max(len(foil), len(caption.text)) > MAX_TEXT_LENGTH:
        return Verdict(True, 0.0, "too long for a template; not checked")
    before = set(_complaints(caption.text))
    new_complaints = [complaint for complaint in _complaints(foil) if complaint not in before]
    if params["punctuation"] == "same" and MARKS.findall(caption.text) != MARKS.findall(foil):
        new_complaints.append("its punctuation marks differ from the caption's")
    return Verdict(not new_complaints, float(len(new_complaints)), "; ".join(new_complaints))


def _complaints(text: str) -> Iterator[str]:
    for match in ARTICLE.finditer(text):
        if article(match[2]) != match[1].lower() and len(match[2]) > 1:
            yield f"'{match[0]}': wrong article"
    for match in TWICE.finditer(text):
        if match[1].lower() not in MAY_DOUBLE:
            yield f"'{match[0]}': repeated word"
    yield from _disagreements(text)
    before, after = _states(text)
    if before and before == after:
        yield "the states before and after are the same"


def _states(text: str) -> tuple[str, str]:
    """Return the states of "Initially, X is …. At the end, X is …"; empty for other texts.

    The words are searched in sequence, so the time is linear in the length of the text.
    """
    words = " ".join(text.lower().split())
    before = words.partition("initially")[2].partition(".")[0]
    after = words.rpartition("at the end")[2].rstrip(" .!")
    return _state(before), "" if "." in after else _state(after)


def _state(sentence: str) -> str:
    be_word = BE_WORD.search(sentence)
    return sentence[be_word.end() :].strip() if be_word else ""


def _disagreements(text: str) -> Iterator[str]:
    """Yield disagreements of numbers with nouns, of "there is" with its noun, and of pronouns with verbs."""
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
