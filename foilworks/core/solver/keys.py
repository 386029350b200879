"""List keys of options: words, and words of the question crossed with them. A learner counts how often each is right.

A key is a string; all are functions of questions alone. Those of labelled texts cross the label with the words.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foilworks.core.solver.layout import Layout

Keys = list[str]
MAX_N = 3
# Words of a question that are crossed with those of an option, and of a statement whose pairs are listed.
MAX_CROSSED, MAX_PAIRED = 16, 14
# Share of the questions above which a word of theirs says nothing.
COMMON_SHARE = 0.8
# A key of one option teaches nothing about others.
MIN_ROWS = 2
PERIODS = range(2, 9)
# Characters and runs of letters or digits of one name that are read, and parts of one item that are crossed.
MAX_NAME, MAX_RUNS, MAX_PARTS = 120, 8, 12
# Videos that share a part of a name: fewest, and the largest share.
MIN_NAMES, MAX_NAME_SHARE = 3, 0.9


def key_matrix(rows: Iterable[Iterable[str]]) -> sparse.csr_matrix:
    """Return the (R, K) matrix of the keys that at least `MIN_ROWS` options have, in order of their first row.

    Only hashes of keys are kept: most keys are those of one option, and their texts would need most of the memory.
    """
    hashes, ends = array("q"), array("q", [0])
    for keys in rows:
        # In their order: that of a set differs per process, and with it the last digits of what is learned.
        hashes.extend(map(hash, dict.fromkeys(keys)))
        ends.append(len(hashes))
    every = np.frombuffer(hashes, dtype=np.int64) if len(hashes) else np.empty(0, dtype=np.int64)
    values, counts = np.unique(every, return_counts=True)
    is_used = np.isin(every, values[counts >= MIN_ROWS])
    _, first, codes = np.unique(every[is_used], return_index=True, return_inverse=True)
    columns = np.argsort(np.argsort(first)).astype(np.int32)[codes]
    ends_used = np.concatenate([[0], np.cumsum(is_used, dtype=np.int32)])[np.frombuffer(ends, dtype=np.int64)]
    return sparse.csr_matrix((np.ones(len(columns)), columns, ends_used), shape=(len(ends) - 1, len(first)))


class KeysOfOptions(NamedTuple):
    """`matrix`: (R, K) keys that in some item only a part of the options has; no other key can move a choice.

    `has_shared`: (R,) whether an option has one of those others. Their surplus is 0, in each fold.
    """

    matrix: sparse.csr_matrix
    has_shared: NDArray[np.bool_]


def differing_keys(layout: Layout, rows: Iterable[Iterable[str]]) -> KeysOfOptions:
    """Return the keys of R options that can move a choice."""
    matrix = key_matrix(rows)
    of_items = sparse.csr_matrix((np.ones(layout.n_rows), np.arange(layout.n_rows), [*layout.starts, layout.n_rows]))
    counts = (of_items @ matrix).tocsr()
    is_part = counts.data < np.repeat(layout.sizes, np.diff(counts.indptr))
    used = np.unique(counts.indices[is_part])
    differing = matrix[:, used].tocsr() if len(used) else sparse.csr_matrix((layout.n_rows, 1))
    return KeysOfOptions(differing, np.diff(differing.indptr) < np.diff(matrix.indptr))


def option_words(layout: Layout) -> Iterator[Keys]:
    """Yield sequences of 1 to `MAX_N` words of each option, endings and marks; of labels, those of the statement."""
    for row, item in enumerate(layout.item):
        question = layout.questions[item]
        if question.is_label:
            label = layout.texts[row]
            marks = re.findall(r"[^\w\s]", question.text)
            grams = [*_grams(layout.question_words[item]), *(f"mark {mark}" for mark in marks)]
            yield [label, *(f"{label}|{gram}" for gram in grams)]
            continue
        word_list = layout.option_words[row]
        text = layout.texts[row]
        marks = re.findall(r"[^\w\s]", text)
        endings = [f"-{word[-3:]}" for word in word_list if len(word) > 4]
        endings += [f"{word_list[0][:n]}-" for n in (1, 3) if word_list]
        place = [f"index {layout.position[row]} of {layout.sizes[item]}"] if question.is_ordered else []
        yield [*_grams(word_list), *endings, *(f"mark {mark}" for mark in marks), *place]


def crossed_words(layout: Layout) -> Iterator[Keys]:
    """Yield the words, opening, last word and kind of the question crossed with each word of the option and its index;
    of labels, pairs of words of the statement, and its kind with each word."""
    for row, item in enumerate(layout.item):
        question, asked = layout.questions[item], _telling_words(layout, item)
        if question.is_label:
            label, kind = layout.texts[row], question.kind
            by_kind = [f"{kind}#{label}", *(f"{kind}#{label}|{word}" for word in asked)] if kind else []
            yield [*by_kind, *(f"{label}|{pair}" for pair in _pairs(asked))]
            continue
        sides = [f"#{question.kind}", f"^{layout.openings[item]}", *asked]
        own = [*dict.fromkeys(layout.option_words[row][:MAX_CROSSED])]
        if question.is_ordered:
            own.append(f"index {layout.position[row]}")
        yield [f"{side}|{word}" for side in sides for word in own]


def whole_options(layout: Layout) -> Iterator[Keys]:
    """Yield the text, the first words and the last words of each option."""
    for words_of_option in _owns(layout):
        yield [
            f"={' '.join(words_of_option)}",
            f"^{' '.join(words_of_option[:2])}",
            f"${' '.join(words_of_option[-2:])}",
        ]


def types_and_options(layout: Layout) -> Iterator[Keys]:
    """Yield kind, template, opening and last word of the question, each with the option and with its index."""
    for row, (item, own) in enumerate(zip(layout.item, _owns(layout), strict=True)):
        question, asked = layout.questions[item], layout.question_words[item]
        types = [f"#{question.kind}", f"~{layout.templates[item]}", f"^{layout.openings[item]}", f"${asked[-1:]}"]
        types.append(f"{len(asked)} words")
        values = [" ".join(own)]
        if question.is_ordered:
            values.append(f"index {layout.position[row]} of {layout.sizes[item]}")
        yield [f"{name}|{value}" for name in types for value in values]


def question_words_and_options(layout: Layout) -> Iterator[Keys]:
    """Yield each word of the question with the whole option and with its index."""
    for row, (item, own) in enumerate(zip(layout.item, _owns(layout), strict=True)):
        values = [" ".join(own)]
        if layout.questions[item].is_ordered:
            values.append(f"index {layout.position[row]}")
        yield [f"{word}|{value}" for word in _telling_words(layout, item) for value in values]


def words_and_words(layout: Layout) -> Iterator[Keys]:
    """Yield each word of the question with each word of the option."""
    for item, own in zip(layout.item, _owns(layout), strict=True):
        yield [f"{word}|{other}" for word in _telling_words(layout, item) for other in own[:MAX_CROSSED]]


def word_pairs(layout: Layout) -> Iterator[Keys]:
    """Yield pairs of words: of a labelled statement with the label, of an option otherwise."""
    for row, (item, own) in enumerate(zip(layout.item, _owns(layout), strict=True)):
        if layout.questions[item].is_label:
            yield [f"{layout.texts[row]}|{pair}" for pair in _pairs(_telling_words(layout, item))]
        else:
            yield list(_pairs(list(dict.fromkeys(own))))


def whole_questions_and_options(layout: Layout) -> Iterator[Keys]:
    """Yield the whole question with the option and with its words: what equal questions of other videos teach."""
    for item, own in zip(layout.item, _owns(layout), strict=True):
        asked = " ".join(layout.question_words[item])
        entities = [word for word in layout.question_words[item] if word not in layout.templates[item].split()]
        yield [
            f"{asked}|={' '.join(own)}",
            *(f"{asked}|{word}" for word in own[:MAX_CROSSED]),
            f"{' '.join(entities)}~{' '.join(own)}",
        ]


def rows_of_file(layout: Layout) -> Iterator[Keys]:
    """Yield the index of the option with the row modulo small numbers, and with the metadata of the item."""
    places = _places_in_video(layout)
    for row, (item, own) in enumerate(zip(layout.item, _owns(layout), strict=True)):
        question = layout.questions[item]
        has_order = question.is_ordered or question.is_label
        values = [" ".join(own), *([f"index {layout.position[row]}"] if has_order else [])]
        names = [f"{period}:{question.order % period}" for period in PERIODS]
        names.append(f"item {places[item]} of the video")
        names += [f"{name}={value}" for name, value in question.extra]
        yield [f"{name}|{value}" for name in names for value in values]


def names_and_words(layout: Layout) -> Iterator[Keys]:
    """Yield each part of the names of the item, its video and its clip with the words and endings of the option; of
    labels, with those of the statement."""
    parts = _parts_of_names(layout, _parts_of_name)
    for row, item in enumerate(layout.item):
        is_label = layout.is_label[item]
        text = _telling_words(layout, item) if is_label else layout.option_words[row][:MAX_CROSSED]
        own = dict.fromkeys([*text, *(f"-{word[-3:]}" for word in text if len(word) > 4)])
        label = layout.texts[row] if is_label else ""
        yield [f"{part}|{label}|{word}" for part in parts[item] for word in own]


def names_and_options(layout: Layout) -> Iterator[Keys]:
    """Yield each part and remainder of the names, alone and with the kind, with the whole option and with its index."""
    parts, remainders = _parts_of_names(layout, _parts_of_name), _parts_of_names(layout, _remainders)
    for row, (item, own) in enumerate(zip(layout.item, _owns(layout), strict=True)):
        question = layout.questions[item]
        values = [" ".join(own), *([f"index {layout.position[row]}"] if question.is_ordered else [])]
        sides = [*parts[item], *remainders[item]]
        sides += [f"{side}#{question.kind}" for side in sides if question.kind]
        yield [f"{side}|{value}" for side in sides for value in values]


def _parts_of_names(layout: Layout, parts_of: Callable[[str], list[str]]) -> list[Keys]:
    """Return per item the first `MAX_PARTS` parts of the names of its id, video and clip that tell items apart.

    Parts that few videos have teach nothing about others.
    """
    rows = []
    for question in layout.questions:
        names = {"video": question.video, "id": question.id}
        if question.clip != question.video:
            names["clip"] = question.clip
        rows.append([f"{name} {part}" for name, text in names.items() for part in dict.fromkeys(parts_of(text))])
    videos = [question.video or str(item) for item, question in enumerate(layout.questions)]
    n_videos = Counter[str]()
    for _, items in groupby(sorted(range(len(rows)), key=videos.__getitem__), key=videos.__getitem__):
        n_videos.update({part for item in items for part in rows[item]})
    n_items = Counter(part for row in rows for part in row)
    most = MAX_NAME_SHARE * len(rows)
    is_used = {part for part, count in n_videos.items() if count >= MIN_NAMES and n_items[part] <= most}
    return [[part for part in row if part in is_used][:MAX_PARTS] for row in rows]


def _parts_of_name(name: str) -> list[str]:
    """Return the folder, the first and the last character and the runs of letters or digits of a name."""
    folder, _, file = name[-MAX_NAME:].rpartition("/")
    stem = file.partition(".")[0]
    return [f"/{folder}", f"{stem[:1]}-", f"-{stem[-1:]}", *re.findall(r"[^\W\d_]+|\d+", stem)[:MAX_RUNS]]


def _remainders(name: str) -> list[str]:
    """Return the last number of a name modulo small numbers."""
    numbers = re.findall(r"\d{1,9}", name[-MAX_NAME:].partition(".")[0])[-1:]
    return [f"{period}:{int(number) % period}" for number in numbers for period in (*PERIODS, 10)]


def _places_in_video(layout: Layout) -> list[int]:
    """Return the number of items of the same video before each item in the file."""
    places, count = [0] * len(layout.questions), Counter[str]()
    for item in sorted(range(len(layout.questions)), key=lambda item: layout.questions[item].order):
        places[item] = count[layout.questions[item].video]
        count[layout.questions[item].video] += 1
    return places


Family = Callable[[Layout], Iterator[Keys]]


def _owns(layout: Layout) -> Iterator[Keys]:
    yield from layout.option_words


def _grams(row: Keys) -> Iterator[str]:
    marked = ["<", *row, ">"]
    for n in range(1, MAX_N + 1):
        yield from (" ".join(marked[at : at + n]) for at in range(len(marked) - n + 1))


def _pairs(row: Keys) -> Iterator[str]:
    return (f"{first}&{second}" for first, second in combinations(sorted(row[:MAX_PAIRED]), 2))


def _telling_words(layout: Layout, item: int) -> Keys:
    """Return the words of a question that other questions have too, but not most of them."""
    most = COMMON_SHARE * len(layout.questions)
    frequency = layout.question_frequency
    row = [word for word in dict.fromkeys(layout.question_words[item]) if 2 <= frequency[word] <= most]
    return row[:MAX_CROSSED]
