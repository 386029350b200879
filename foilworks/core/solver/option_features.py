"""Compute what options show by themselves, among each other and beside their question: features of the item tier."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import ne

import numpy as np
import regex
from numpy.typing import NDArray

from foilworks.core.solver.layout import Layout

Floats = NDArray[np.float64]
Columns = dict[str, Floats]
NEGATIONS = frozenset(
    "no not never none nothing nobody without cannot neither nor isn't doesn't don't didn't".split()  # noqa: SIM905
)
SWEEPING = frozenset(
    "all always every only both each any entire completely everything everyone above".split()  # noqa: SIM905
)
HEDGES = frozenset(
    "some may might can could often usually sometimes possibly several few about".split()  # noqa: SIM905
)
JOINTS = frozenset(
    "and or while then after before because but with".split()  # noqa: SIM905
)
ARTICLES = frozenset(
    "a an the".split()  # noqa: SIM905
)
GENDERS = {
    "he": 1, "him": 1, "his": 1, "man": 1, "boy": 1, "male": 1, "father": 1, "she": 2, "her": 2, "hers": 2, "woman": 2,
    "girl": 2, "female": 2, "mother": 2, "they": 3, "them": 3, "their": 3, "people": 3, "men": 3, "women": 3,
}  # fmt: skip
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()  # noqa: SIM905
    )
} | {"once": 1, "twice": 2, "twenty": 20, "thirty": 30, "hundred": 100}
_NUMBER = re.compile(r"(\d+):(\d\d)(?::(\d\d))?|\d+(?:[.,]\d+)?")
_NON_ASCII_LETTER = regex.compile(r"[\p{L}--[A-Za-z]]", regex.VERSION1)
_MIXED_WORD = regex.compile(r"[A-Za-z][\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}][A-Za-z]")
_INVISIBLE = regex.compile(r"[\p{Cf}\u00a0\u2000-\u200a\u202f\u3000]")
_PUNCTUATION = regex.compile(r"\p{P}")
_VOWEL = re.compile(r"[aeiou]")


SURFACE_TESTS: dict[str, Callable[[str], float]] = {
    "begins with a capital": lambda text: text.lstrip()[:1].isupper(),
    "capitals": lambda text: sum(map(str.isupper, text)),
    "ends with punctuation": lambda text: bool(_PUNCTUATION.match(text.rstrip()[-1:])),
    "last character": lambda text: float(ord(text[-1:] or " ")) if not text[-1:].isalnum() else 0.0,
    "punctuation": lambda text: len(_PUNCTUATION.findall(text)),
    "commas": lambda text: text.count(","),
    "quotation marks": lambda text: sum(map(text.count, "\"'“”‘’`")),
    "brackets": lambda text: text.count("(") + text.count("["),
    "hyphens": lambda text: text.count("-") + text.count("–"),
    "blank at an end": lambda text: text != text.strip(),
    "double blanks": lambda text: len(re.findall(r"\s\s", text.strip())),
    "non-ASCII letters": lambda text: len(_NON_ASCII_LETTER.findall(text)),
    "letters of two scripts in one word": lambda text: len(_MIXED_WORD.findall(text)),
    "invisible characters": lambda text: len(_INVISIBLE.findall(text)),
    "characters outside the normal form": lambda text: sum(map(ne, text, unicodedata.normalize("NFC", text))),
    "digits": lambda text: sum(map(str.isdigit, text)),
}


def _in_alphabetical_order(row: Sequence[str]) -> float:
    return sum(first < second for first, second in pairwise(row)) / max(1, len(row) - 1)


def _named_in_order(row: Sequence[str]) -> float:
    """Return 1 if the first word after an article is before the last one in the alphabet, -1 if it is after it."""
    named = [second for first, second in pairwise(row) if first in ARTICLES]
    return float(np.sign((named[0] < named[-1]) - (named[0] > named[-1]))) if named else 0.0


# Of the words of an option, and of a labelled statement.
WORD_TESTS: dict[str, Callable[[Sequence[str]], float]] = {
    "length of the words": lambda row: sum(map(len, row)) / max(1, len(row)),
    "repeated words": lambda row: len(row) - len(set(row)),
    "words in -ing": lambda row: sum(word.endswith("ing") for word in row),
    "words in -ed": lambda row: sum(word.endswith("ed") for word in row),
    "words in -s": lambda row: sum(word.endswith("s") for word in row),
    "words in -ly": lambda row: sum(word.endswith("ly") for word in row),
    "endings of -s and -ed together": lambda row: len({word[-1:] for word in row if word.endswith(("s", "ed"))}),
    "successive words that begin alike": lambda row: sum(first[:1] == second[:1] for first, second in pairwise(row)),
    "words in alphabetical order": _in_alphabetical_order,
    "first and last named thing in alphabetical order": _named_in_order,
    "negations": lambda row: sum(word in NEGATIONS for word in row),
    "sweeping words": lambda row: sum(word in SWEEPING for word in row),
    "hedges": lambda row: sum(word in HEDGES for word in row),
    "connectives": lambda row: sum(word in JOINTS for word in row),
    "articles": lambda row: sum(word in ARTICLES for word in row),
}


def surface_form(layout: Layout) -> Columns:
    """Return case, punctuation, blanks and letters of each option's characters."""
    return {name: _by_text(layout, test) for name, test in SURFACE_TESTS.items()}


def lengths(layout: Layout) -> Columns:
    """Return lengths, and counts of words of a kind."""
    columns = {
        "characters": _by_text(layout, len),
        "words": _array(map(len, layout.option_words)),
        "alphabetical order": _alphabetical(layout),
    }
    return columns | {name: _array(map(test, layout.option_words)) for name, test in WORD_TESTS.items()}


def among_options(layout: Layout) -> Columns:
    """Return how each option resembles the other options of its item."""
    names = (
        "similarity to the other options",
        "highest similarity to another option",
        "words that no other option has",
        "words that most options have",
        "options one edit away",
        "most frequent word at a place",
        "same first word as other options",
        "same last word as other options",
        "same characters as another option",
        "part of another option",
        "common beginning and end",
        "word that only one option lacks",
    )
    values = np.zeros((layout.n_rows, len(names)))
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        values[start : start + size] = _resemblances(
            layout.option_words[start : start + size], layout.texts[start : start + size]
        )
    return dict(zip(names, values.T, strict=True))


def _resemblances(word_lists: Sequence[Sequence[str]], texts: Sequence[str]) -> Floats:
    sets = [set(row) for row in word_lists]
    counts: dict[str, int] = {}
    for row in sets:
        for word in row:
            counts[word] = counts.get(word, 0) + 1
    size = len(sets)
    at_place: dict[tuple[int, str], int] = {}
    for word_list in word_lists:
        for key in enumerate(word_list):
            at_place[key] = at_place.get(key, 0) + 1
    values = np.zeros((size, 12))
    plain = [text.casefold().strip() for text in texts]
    for index, row in enumerate(sets):
        similarities = []
        for other in range(size):
            if other == index:
                continue
            shared = len(row & sets[other])
            similarities.append(shared / max(1, len(row) + len(sets[other]) - shared))
            values[index, 4] += len(row ^ sets[other]) <= 2 and word_lists[index] != word_lists[other]
            values[index, 6] += word_lists[index][:1] == word_lists[other][:1]
            values[index, 7] += word_lists[index][-1:] == word_lists[other][-1:]
            values[index, 8] += plain[index] == plain[other]
            values[index, 9] += plain[index] != plain[other] and plain[index] in plain[other]
            values[index, 10] += _affix_length(plain[index], plain[other])
        values[index, 0] = sum(similarities) / len(similarities)
        values[index, 1] = max(similarities)
        values[index, 2] = sum(counts[word] == 1 for word in row)
        values[index, 3] = sum(2 * counts[word] > size for word in row)
        values[index, 5] = sum(at_place[key] for key in enumerate(word_lists[index])) / max(1, len(word_lists[index]))
        lacks = sum(count == size - 1 and word not in row for word, count in counts.items())
        values[index, 11] = lacks if size > 2 else 0
    return values


def _affix_length(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginning and their end."""
    least = min(len(first), len(second))
    head = next((at for at in range(least) if first[at] != second[at]), least)
    tail = next((at for at in range(least - head) if first[-1 - at] != second[-1 - at]), least - head)
    return head + tail


def beside_question(layout: Layout) -> Columns:
    """Return what each option shares with its question, and whether both agree in gender, number and tense."""
    names = (
        "words of the question",
        "share of its words that the question has",
        "rarest word that the question has",
        "pairs of words of the question",
        "word stems of the question",
        "place of the option in the question",
        "gender of the question",
        "other gender than the question",
        "number of the question",
        "tense of the question",
        "article at the end of the question",
        "first letter of the last word of the question",
        "last letters of the last word of the question",
        "numbers of the question",
    )
    frequency, n = layout.question_frequency, len(layout.questions)
    values = np.zeros((layout.n_rows, len(names)))
    for row, item in enumerate(layout.item):
        question = layout.questions[item]
        if question.is_label or not question.text:
            continue
        asked, option = layout.question_words[item], layout.option_words[row]
        shared = set(asked) & set(option) - ARTICLES
        stems = {word[:4] for word in asked if len(word) > 3}
        place = question.text.casefold().find(layout.texts[row].casefold().strip(" ."))
        values[row] = (
            len(shared),
            len(shared) / max(1, len(set(option))),
            max((float(np.log(n / frequency[word])) for word in shared), default=0.0),
            len(set(pairwise(asked)) & set(pairwise(option))),
            len(stems & {word[:4] for word in option if len(word) > 3}),
            0.0 if place < 0 else 1.0 - place / (1 + len(question.text)),
            *_agreement(asked, option),
            *_same_letters(asked, option),
            len(set(_NUMBER.findall(question.text)) & set(_NUMBER.findall(layout.texts[row]))),
        )
    return dict(zip(names, values.T, strict=True))


def _agreement(asked: Sequence[str], option: Sequence[str]) -> tuple[float, float, float, float, float]:
    genders = {GENDERS[word] for word in asked if word in GENDERS}
    own = {GENDERS[word] for word in option if word in GENDERS}
    is_plural = bool({"are", "were", "these", "those", "they"} & set(asked))
    is_past = bool({"did", "was", "were"} & set(asked))
    ends_in_s = any(word.endswith("s") and not word.endswith("ss") for word in option)
    has_past = any(word.endswith("ed") or word in {"was", "were", "had"} for word in option)
    article = asked[-1] if asked and asked[-1] in {"a", "an"} else ""
    is_vowel = bool(option and _VOWEL.match(option[0]))
    return (
        float(bool(own & genders)),
        float(bool(own) and bool(genders) and not own & genders),
        float(ends_in_s == is_plural),
        float(has_past == is_past),
        float(bool(article) and is_vowel == (article == "an")),
    )


def _same_letters(asked: Sequence[str], option: Sequence[str]) -> tuple[float, float]:
    if not asked or not option or asked[-1] == option[-1]:
        return 0.0, 0.0
    return float(asked[-1][0] == option[-1][0]), float(asked[-1][-2:] == option[-1][-2:])


def numbers(layout: Layout) -> Columns:
    """Return the first number of each option: its value, its distance to the others, how round it is."""
    by_text = {text: number_in(text) for text in dict.fromkeys(layout.texts)}
    value = np.array([by_text[text] for text in layout.texts])
    is_number = np.isfinite(value)
    filled = np.where(is_number, value, 0.0)
    names = ("value", "distance to the median", "distance to the mean", "near other numbers", "reached by equal steps")
    columns = {name: np.zeros(layout.n_rows) for name in names}
    for start, size in zip(layout.starts, layout.sizes, strict=True):
        rows = slice(start, start + size)
        if not is_number[rows].all():
            continue
        series = value[rows]
        gaps = np.abs(series[:, None] - series)
        columns["value"][rows] = np.sign(series) * np.log1p(np.abs(series))
        columns["distance to the median"][rows] = np.abs(series - np.median(series))
        columns["distance to the mean"][rows] = np.abs(series - series.mean())
        columns["near other numbers"][rows] = -np.sort(gaps, axis=1)[:, 1]
        columns["reached by equal steps"][rows] = np.array([len(row) - len(np.unique(row.round(6))) for row in gaps])
    whole = is_number & (filled == np.round(filled))
    asked = np.array([number_in(question.text) for question in layout.questions])[layout.item]
    is_near = is_number & np.isfinite(asked)
    return columns | {
        "distance to the number of the question": np.where(is_near, np.log1p(np.abs(filled - asked)), 0.0),
        "is a number": is_number.astype(float),
        "multiple of 5": (whole & (filled % 5 == 0)).astype(float),
        "multiple of 10": (whole & (filled % 10 == 0)).astype(float),
        "even": (whole & (filled % 2 == 0)).astype(float),
        "last digit": np.where(whole, filled % 10, 0.0),
    }


def number_in(text: str) -> float:
    """Return the first number of a text, digits, a time in seconds or a word; NaN if it has none."""
    match = _NUMBER.search(text)
    if match:
        if match[1]:
            clock = [int(group) for group in match.groups() if group]
            return float(sum(group * 60**power for power, group in enumerate(reversed(clock))))
        return float(match[0].replace(",", "."))
    return float(next((NUMBER_WORDS[word] for word in text.casefold().split() if word in NUMBER_WORDS), np.nan))


def position(layout: Layout) -> Columns:
    """Return the index of each option if the file orders them, and whether it is yes or true."""
    is_ordered = np.array([question.is_ordered for question in layout.questions])[layout.item]
    is_label = layout.is_label[layout.item]
    index = np.where(is_ordered & ~is_label, layout.position, 0)
    word_counts = _array(map(len, layout.option_words))
    values = _array(map(number_in, layout.texts))
    orders = {"alphabet": _alphabetical(layout), "words": word_counts, "number": np.nan_to_num(values)}
    return {f"out of order by {name}": _inversions(layout, order) * is_ordered for name, order in orders.items()} | {
        "index": index.astype(float),
        "last": (is_ordered & ~is_label & (index == layout.sizes[layout.item] - 1)).astype(float),
        "label": np.where(is_label, layout.position, 0).astype(float),
    }


def _inversions(layout: Layout, values: Floats) -> Floats:
    """Return (R,) the share of the other options that are higher but before, or lower but after."""
    counts = np.zeros(layout.n_rows)
    for size in np.unique(layout.sizes):
        rows = layout.starts[layout.sizes == size][:, None] + np.arange(size)
        difference = np.sign(values[rows][:, :, None] - values[rows][:, None, :])
        is_before = np.sign(np.arange(size)[:, None] - np.arange(size))
        counts[rows] = (difference * is_before < 0).sum(axis=2) / (size - 1)
    return counts


def _alphabetical(layout: Layout) -> Floats:
    folded = [text.casefold() for text in layout.texts]
    rank = {text: float(index) for index, text in enumerate(sorted(set(folded)))}
    return np.where(layout.is_label[layout.item], 0.0, [rank[text] for text in folded])


def _by_text(layout: Layout, test: Callable[[str], float]) -> Floats:
    by_text = {text: float(test(text)) for text in dict.fromkeys(layout.texts)}
    return np.array([by_text[text] for text in layout.texts])


def _array(values: Iterable[float]) -> Floats:
    return np.fromiter(values, dtype=np.float64)
