"""Read an instruction model's answer as a list of captions, and check each of them."""

import json
import re
from collections.abc import Collection, Iterator
from itertools import islice

from foilworks.core.text.model_answers import without_thoughts
from foilworks.core.text.storable import storable
from foilworks.core.text.tokens import normal_form

NAMES = ("captions", "counterfactuals", "foils", "sentences", "answers")
OPENS = re.compile(r"[\[{]")
ENDS = ".!?"
# Otherwise an answer of only brackets would take quadratic time.
MAX_JSON_STARTS = 200
# A reworded caption is about as long as the caption; a far longer text is an explanation.
MAX_TIMES_LONGER, MAX_EXTRA_CHARACTERS = 3, 60


def read_captions(answer: str) -> list[str] | None:
    """Return the captions of an answer in JSON, also inside a code fence or prose; None if it contains no JSON.

    Accepted: {"captions": […]} (and a few other keys), a bare list, and a list of objects with one text each.
    """
    for value in _values(answer):
        texts = _texts(value)
        if texts is not None:
            return texts
    return None


def read_choice(answer: str, choices: Collection[str]) -> str:
    """Return the one choice that an answer in JSON gives as its only text; "" if it gives none."""
    for value in _values(answer):
        text = _text(value)
        if text is not None and text.strip().lower() in choices:
            return text.strip().lower()
    return ""


def _values(answer: str) -> Iterator[object]:
    """Yield the JSON objects and arrays, outermost first, ignoring the model's reasoning text."""
    decoder = json.JSONDecoder()
    answer, _is_open = without_thoughts(answer)
    for match in islice(OPENS.finditer(answer), MAX_JSON_STARTS):
        try:
            yield decoder.raw_decode(answer, match.start())[0]
        except (ValueError, RecursionError):
            continue


def _texts(value: object) -> list[str] | None:
    if isinstance(value, dict):
        named_list = next((value[name] for name in NAMES if isinstance(value.get(name), list)), None)
        lists = [list_value for list_value in value.values() if isinstance(list_value, list)]
        return (
            _texts(named_list if named_list is not None else lists[0])
            if named_list is not None or len(lists) == 1
            else None
        )
    if not isinstance(value, list):
        return None
    texts = [_text(element) for element in value]
    return [text for text in texts if text is not None] if texts and all(text is not None for text in texts) else None


def _text(value: object) -> str | None:
    if isinstance(value, dict):
        strings = [string for string in value.values() if isinstance(string, str)]
        value = strings[0] if len(strings) == 1 else None
    # Escaped characters of the JSON appear only here.
    return " ".join(storable(value).split()) if isinstance(value, str) else None


def check_answers(caption: str, answers: list[str], k: int, *, mend: bool) -> tuple[list[str], list[str]]:
    """Return (at most k foils, why others are missing), in order.

    `mend`: the foil copies the case of the caption's first letter and its final full stop, so that neither reveals
    which text a machine wrote.
    """
    foils: list[str] = []
    reasons: list[str] = []
    normal_forms: set[str] = set()
    for answer in answers[:k]:
        text = _like(caption, answer) if mend else answer
        form = normal_form(text) if text else ""
        if not text:
            reasons.append("empty answer")
        elif form == normal_form(caption):
            reasons.append("repeats the caption")
        elif form in normal_forms:
            reasons.append("repeats another answer")
        elif len(text) > MAX_TIMES_LONGER * len(caption) + MAX_EXTRA_CHARACTERS:
            reasons.append("far longer than the caption")
        else:
            normal_forms.add(form)
            foils.append(text)
    return foils, reasons + ["fewer than requested"] * (k - len(answers[:k]))


def _like(caption: str, foil: str) -> str:
    text = foil.strip()
    bare = caption.rstrip()
    if not text or not bare:
        return text
    if text[-1] in ENDS and bare[-1] not in ENDS:
        text = text.rstrip(ENDS).rstrip()
    elif bare[-1] in ENDS and text and text[-1] not in ENDS:
        text += bare[-1]
    first = bare.lstrip()[0]
    # "I", "TV" and names keep their capitals: only a word otherwise in lower case changes.
    word = re.match(r"[^\W\d_]+", text)
    if word and first.isupper() and text[0].islower():
        text = text[0].upper() + text[1:]
    elif word and first.islower() and text[0].isupper() and not word.group()[1:].isupper() and _is_common(word.group()):
        text = text[0].lower() + text[1:]
    return text


def _is_common(word: str) -> bool:
    """Return whether a caption's first word is not a name."""
    return word.lower() in {
        "a",
        "an",
        "the",
        "some",
        "someone",
        "somebody",
        "two",
        "three",
        "four",
        "five",
        "several",
        "many",
        "one",
        "there",
        "people",
        "person",
        "man",
        "men",
        "woman",
        "women",
        "boy",
        "boys",
        "girl",
        "girls",
        "kid",
        "kids",
        "child",
        "children",
        "he",
        "she",
        "it",
        "they",
        "his",
        "her",
        "their",
        "this",
        "that",
        "these",
        "those",
        "in",
        "on",
        "at",
        "young",
        "old",
        "little",
    }
