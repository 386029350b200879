"""Compute what the other items of a set, and the file itself, show of an option: features of the set and file tiers.

They read the texts of other items, never their answers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from foilworks.core.solver.layout import Layout
from foilworks.core.solver.option_features import ARTICLES, Columns, Floats, number_in
from foilworks.core.text.tokens import words

# Items of one video that are compared with each other.
MAX_NEIGHBOURS = 60
PERIODS = (2, 3, 4, 5)
# Numbers of one name whose differences are read.
MAX_NUMBERS = 5
METADATA = (
    "words in the id",
    "words in the metadata",
    "number in the metadata",
    "number in the names",
    "difference of two numbers of a name",
    "distance to such a difference",
)


def neighbours(layout: Layout) -> Columns:
    """Return what other items about the same video contain of each option."""
    names = (
        "option of other items of the video",
        "words in other questions of the video",
        "words in other options of the video",
        "text in other questions of the video",
        "words in the next question of the video",
        "words in the previous question of the video",
        "similarity of the statement to others of the video",
        "highest similarity of the statement to another of the video",
        "rarest word that another statement of the video has",
        "things named after a, and after the in another statement",
    )
    values = np.zeros((layout.n_rows, len(names)))
    by_video = defaultdict(list)
    for index, question in enumerate(layout.questions):
        if question.video:
            by_video[question.video].append(index)
    for items in by_video.values():
        if len(items) > 1:
            _compare(layout, sorted(items, key=lambda index: layout.questions[index].order)[:MAX_NEIGHBOURS], values)
    return dict(zip(names, values.T, strict=True))


def _compare(layout: Layout, items: list[int], values: Floats) -> None:
    options = Counter(text for index in items for text in _plain_options(layout, index))
    asked = [set(layout.question_words[index]) - ARTICLES for index in items]
    in_questions = Counter(word for row in asked for word in row)
    offered = [_offered(layout, index) for index in items]
    in_options = Counter(word for row in offered for word in row)
    presupposed = Counter(word for index in items for word in _after(layout.question_words[index], ("the",)))
    for at, index in enumerate(items):
        if layout.questions[index].is_label:
            similarities = [
                len(asked[at] & row) / max(1, len(asked[at] | row)) for other, row in enumerate(asked) if other != at
            ]
            rarest = min(
                (layout.question_frequency[word] for word in asked[at] if in_questions[word] > 1),
                default=len(layout.questions),
            )
            values[layout.starts[index] + 1, 6:] = (
                sum(similarities) / len(similarities),
                max(similarities),
                np.log(len(layout.questions) / rarest),
                sum(presupposed[word] > 0 for word in _after(layout.question_words[index], ("a", "an"))),
            )
            continue
        before = asked[at - 1] if at else set()
        after = asked[at + 1] if at + 1 < len(items) else set()
        others = " ".join(f" {' '.join(layout.question_words[other])} " for other in items if other != index)
        own_options = Counter(_plain_options(layout, index))
        for offset in range(layout.sizes[index]):
            row = layout.starts[index] + offset
            text = layout.option_words[row]
            own = set(text) - ARTICLES
            plain = " ".join(text)
            values[row, :6] = (
                options[plain] - own_options[plain],
                sum((in_questions[word] - (word in asked[at])) > 0 for word in own) / max(1, len(own)),
                sum((in_options[word] - (word in offered[at])) > 0 for word in own) / max(1, len(own)),
                bool(plain) and f" {plain} " in others,
                len(own & after) / max(1, len(own)),
                len(own & before) / max(1, len(own)),
            )


def _after(row: Sequence[str], articles: tuple[str, ...]) -> set[str]:
    return {second for first, second in pairwise(row) if first in articles}


def _plain_options(layout: Layout, index: int) -> list[str]:
    start = layout.starts[index]
    return [" ".join(layout.option_words[row]) for row in range(start, start + layout.sizes[index])]


def _offered(layout: Layout, index: int) -> set[str]:
    start = layout.starts[index]
    return set().union(*layout.option_words[start : start + layout.sizes[index]])


def repeats(layout: Layout) -> Columns:
    """Return how often the whole set has each option, its words, and its item's list of options."""
    plain = [" ".join(row) for row in layout.option_words]
    count = Counter(plain)
    lists = [
        tuple(sorted(plain[start : start + size])) for start, size in zip(layout.starts, layout.sizes, strict=True)
    ]
    n_lists = Counter(lists)
    frequency = layout.option_frequency
    of_words = [[np.log(frequency[word]) for word in row] or [0.0] for row in layout.option_words]
    is_label = layout.is_label[layout.item]
    columns = {
        "option of other items": np.log([count[text] for text in plain]),
        "option outside equal lists": np.log1p(
            [count[text] - n_lists[lists[item]] for text, item in zip(plain, layout.item, strict=True)]
        ),
        "frequency of its rarest pair of words": _frequency_of_pairs(layout),
        "frequency of its rarest word": np.array([min(row) for row in of_words]),
        "frequency of its words": np.array([sum(row) / len(row) for row in of_words]),
        "words of questions of the set": np.array(
            [sum(layout.question_frequency[word] > 0 for word in row) / max(1, len(row)) for row in layout.option_words]
        ),
    }
    return {name: np.where(is_label, 0.0, values) for name, values in columns.items()}


def _frequency_of_pairs(layout: Layout) -> Floats:
    """Return (R,) the log of the number of options that have the rarest pair of successive words of each option."""
    count = Counter(pair for row in layout.option_words for pair in set(pairwise(row)))
    return np.log([min((count[pair] for pair in pairwise(row)), default=1) for row in layout.option_words])


def file_order(layout: Layout) -> Columns:
    """Return how the index of an option fits the row of its item in the file."""
    order = np.array([question.order for question in layout.questions])[layout.item]
    index = index_of(layout)
    columns = {
        f"row modulo {period}": ((order - index) % period == 0).astype(float) * (index >= 0) for period in PERIODS
    }
    share = order / max(1, int(order.max()))
    return columns | {"row and index": share * index, "row and label": share * np.where(index > 0, 1.0, -1.0)}


def metadata(layout: Layout) -> Columns:
    """Return what ids, names of videos and other columns of the file contain of each option."""
    columns = {name: np.zeros(layout.n_rows) for name in METADATA}
    of_items = []
    for question in layout.questions:
        values = [question.video, *(value for _, value in question.extra)]
        numbers = {round(number_in(value), 3) for value in values if re.search(r"\d", value)}
        names = [_numbers_of(name) for name in {question.id, question.video, question.clip}]
        differences = {round(abs(b - a), 3) for row in names for a, b in combinations(row, 2)}
        of_items.append(
            (
                set(_parts(question.id)),
                {part for value in values for part in _parts(value)},
                numbers,
                {number for row in names for number in row},
                differences,
            )
        )
    for row, item in enumerate(layout.item):
        own = set(layout.option_words[row]) - ARTICLES
        in_id, in_metadata, numbers, in_names, differences = of_items[item]
        columns["words in the id"][row] = len(own & in_id) / max(1, len(own))
        columns["words in the metadata"][row] = len(own & in_metadata) / max(1, len(own))
        number = number_in(layout.texts[row])
        columns["number in the metadata"][row] = number in numbers
        columns["number in the names"][row] = number in in_names
        columns["difference of two numbers of a name"][row] = number in differences
        columns["distance to such a difference"][row] = min((abs(number - x) for x in differences), default=0.0)
    columns["distance to such a difference"] = -np.log1p(np.nan_to_num(columns["distance to such a difference"]))
    return columns


def _numbers_of(name: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d{1,9}(?:\.\d{1,3})?", name)[-MAX_NUMBERS:]]


def _parts(text: str) -> list[str]:
    return words(re.sub(r"[_\W]+|(?<=[a-z])(?=[A-Z])", " ", text))


def index_of(layout: Layout) -> Floats:
    """Return (R,) the index of each option if the file orders them or they are labels, else -1."""
    has_order = np.array([question.is_ordered or question.is_label for question in layout.questions])
    return np.where(has_order[layout.item], layout.position, -1)
