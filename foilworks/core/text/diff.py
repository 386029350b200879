"""Compare two texts: word-level edits, counts of changed words, segments for a page.

Words are compared whole, in any script; a letter is never split from its combining marks, nor a joined emoji. In
scripts without spaces between words, each character is compared: a browser does not have our dictionary.
Alignments are minimal in changed words (Levenshtein over words). If the part between the common start and end of
two texts exceeds MAX_CELLS (500 words by 500), it counts as replaced as a whole. Rebuilding stays exact.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from foilworks.core.text.tokens import UNSPACED, is_unspaced, word_spans

MAX_CELLS = 250_000
# static/annotation/writing.js has the same pattern: a word, a character of a script without spaces, a flag, or a
# cluster of any other character with its marks. Skin tones and tags belong to the emoji before; a zero-width joiner
# glues two.
_LETTERS = rf"[[\p{{L}}\p{{N}}_]--[{UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}_]--[{UNSPACED}]]*"
_MARKS = r"[\p{M}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_TOKEN = regex.compile(
    rf"(?V1){_LETTERS}(?:['’]{_LETTERS})*|[{UNSPACED}]\p{{M}}*|[\U0001f1e6-\U0001f1ff]{{2}}"
    rf"|\S{_MARKS}(?:\u200d\S{_MARKS})*"
)

Match = tuple[int, int]


@dataclass(frozen=True, order=True)
class Edit:
    """An edit: characters `start:end` of the text become `target`. An insertion has `start == end`."""

    start: int
    end: int
    target: str


def diff_edits(a: str, b: str, *, whole_words: bool = False) -> tuple[Edit, ...]:
    """List the word-level edits, left to right and disjoint, that turn `a` into `b`; offsets are into `a`.

    `apply_edits(a, diff_edits(a, b)) == b` for all texts. `whole_words`: compares the words of scripts without spaces
    (`foilworks.core.text.tokens`) instead of their characters.
    """
    spans_a, spans_b = (_spans_of_words(text) if whole_words else _spans(text) for text in (a, b))
    matches = _align([a[start:end] for start, end in spans_a], [b[start:end] for start, end in spans_b])
    edits: list[Edit] = []
    at_a = at_b = 0
    # The end of the text counts as a final matching word.
    spans_a.append((len(a), len(a)))
    spans_b.append((len(b), len(b)))
    matches.append((len(spans_a) - 1, len(spans_b) - 1))
    for i, j in matches:
        (start_a, end_a), (start_b, end_b) = spans_a[i], spans_b[j]
        target = b[at_b:start_b]
        if a[at_a:start_a] != target:
            edits.append(_edit(a, at_a, start_a, target))
        at_a, at_b = end_a, end_b
    return tuple(edits)


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Apply the edits to `text`. ValueError: they are not in order, overlap or are out of range."""
    pieces, at = [], 0
    for edit in edits:
        if not at <= edit.start <= edit.end <= len(text):
            raise ValueError(
                f"edit {edit.start}:{edit.end} overlaps another or exceeds the text of {len(text)} characters"
            )
        pieces += [text[at : edit.start], edit.target]
        at = edit.end
    return "".join([*pieces, text[at:]])


def changed_words(a: str, b: str) -> int:
    """Count the words replaced, removed or added, ignoring case, punctuation and white space."""
    words_a, words_b = compared_words(a), compared_words(b)
    changed = at_i = at_j = 0
    for i, j in [*_align(words_a, words_b), (len(words_a), len(words_b))]:
        changed += max(i - at_i, j - at_j)
        at_i, at_j = i + 1, j + 1
    return changed


def diff_segments(a: str, b: str) -> list[tuple[str, str]]:
    """Return `(kind, text)` segments in reading order, kind in same, removed, added; none is empty.

    same + removed spell `a`; same + added spell `b`.
    """
    pieces, at = [], 0
    for edit in diff_edits(a, b):
        pieces += [("same", a[at : edit.start]), ("removed", a[edit.start : edit.end]), ("added", edit.target)]
        at = edit.end
    return [(kind, text) for kind, text in [*pieces, ("same", a[at:])] if text]


def _edit(a: str, start: int, end: int, target: str) -> Edit:
    """Return the edit of one changed region, without the blanks that both sides share at its ends."""
    shared = min(end - start, len(target))
    head = 0
    while head < shared and a[start + head] == target[head] and target[head].isspace():
        head += 1
    tail = 0
    while tail < shared - head and a[end - 1 - tail] == target[-1 - tail] and target[-1 - tail].isspace():
        tail += 1
    return Edit(start + head, end - tail, target[head : len(target) - tail])


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word or character."""
    return [match.span() for match in _TOKEN.finditer(text)]


def _spans_of_words(text: str) -> list[tuple[int, int]]:
    if text.isascii():
        return _spans(text)
    joined = [(start, end) for start, end, word in word_spans(text) if is_unspaced(word)]
    inside = {at for start, end in joined for at in range(start, end)}
    return sorted([*joined, *(span for span in _spans(text) if span[0] not in inside)])


def compared_words(text: str) -> list[str]:
    """Return the case-folded tokens except punctuation and control characters."""
    tokens = _TOKEN.findall(text)
    return [token.casefold() for token in tokens if unicodedata.category(token[0])[0] not in "PC"]


def _align(words_a: Sequence[str], words_b: Sequence[str]) -> list[Match]:
    """Return index pairs of equal elements, increasing in both; minimal in changed elements within MAX_CELLS."""
    limit = min(len(words_a), len(words_b))
    head = _shared(words_a, words_b, limit)
    tail = _shared(reversed(words_a), reversed(words_b), limit - head)
    middle = _align_small(words_a[head : len(words_a) - tail], words_b[head : len(words_b) - tail])
    start_i, start_j = len(words_a) - tail, len(words_b) - tail
    return [
        *((i, i) for i in range(head)),
        *((i + head, j + head) for i, j in middle),
        *((start_i + k, start_j + k) for k in range(tail)),
    ]


def _shared(words_a: Iterable[str], words_b: Iterable[str], limit: int) -> int:
    """Count the common first elements, up to `limit`."""
    pairs = enumerate(zip(words_a, words_b, strict=False))
    return next((at for at, (word_a, word_b) in pairs if word_a != word_b or at == limit), limit)


def _align_small(words_a: Sequence[str], words_b: Sequence[str]) -> list[Match]:
    """Align by a Levenshtein table up to MAX_CELLS. Ties: the alignment with most kept words, then the leftmost."""
    if not words_a or not words_b or len(words_a) * len(words_b) > MAX_CELLS:
        return []
    width = len(words_b) + 1
    # Cost in the high part, kept words (negated) in the low part: one integer compares both.
    unit = len(words_a) + len(words_b) + 1
    table = [[j * unit for j in range(width)]]
    for i, word_a in enumerate(words_a, start=1):
        above, row = table[-1], [i * unit]
        for j, word_b in enumerate(words_b, start=1):
            best = above[j - 1] + (-1 if word_a == word_b else unit)
            row.append(min(best, above[j] + unit, row[j - 1] + unit))
        table.append(row)
    return _trace(table, words_a, words_b, unit)


def _trace(table: list[list[int]], words_a: Sequence[str], words_b: Sequence[str], unit: int) -> list[Match]:
    matches = []
    i, j = len(words_a), len(words_b)
    while i and j:
        cost = table[i][j]
        if cost == table[i - 1][j] + unit:
            i -= 1
        elif cost == table[i][j - 1] + unit:
            j -= 1
        else:
            i, j = i - 1, j - 1
            if words_a[i] == words_b[j]:
                matches.append((i, j))
    return matches[::-1]
