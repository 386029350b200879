"""Drop a foil with template errors: agreement, articles, repeated words, punctuation, states before and after.

Only errors that the caption does not have count: captions are as people and sources wrote them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from generation.grammar.consistency import errors_of
from generation.records import CaptionInput, Verdict

VERSION = "1"
COSTLY = False

MARKS = re.compile(r"[.,;:!?]")
BE_WORD = re.compile(r"\b(?:is|are)\s", re.IGNORECASE)
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
    yield from errors_of(text)
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
