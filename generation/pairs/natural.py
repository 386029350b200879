"""Propose natural pairs: captions of two videos that differ in one word, or in who does what to whom.

Both captions exist already, and both clips: no model is asked, and nothing is written (decision 88).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import combinations

from foilworks.core.text.language.tools import tagger
from foilworks.core.text.tokens import words
from generation.pairs.contrast import RANKS, ROLES, contrast_of, refused_in
from generation.pairs.records import NATURAL, PairCaption, Proposal
from generation.pairs.signatures import Entry, Found, SignatureIndex
from generation.pairs.word_order import exchanged

# Of a bucket, partners that a caption is compared with further.
MAX_PARTNERS = 3
# Proposals that one pair of words may fill, so that "man / woman" does not fill the list.
MAX_PER_CHANGE = 25
# Clips whose lengths differ by less than this factor are near.
NEAR_LENGTH = 1.25
# More for a sure contrast than for what the clips share.
WEIGHT = 10


def natural_pairs(
    captions: Iterable[PairCaption], *, limit: int | None = None, per_caption: int = 1, seed: int = 0
) -> Iterator[Proposal]:
    """Yield natural pairs, the surest first: at most `limit`, and each caption and clip in at most `per_caption`.

    The order of the captions does not matter. Memory is bounded; time grows with the number of captions.
    """
    with SignatureIndex(seed) as index:
        index.add(captions)
        for bucket in index.buckets():
            index.note(_pairs_of(bucket, index))
        yield from _chosen(index, limit, per_caption)


def _pairs_of(bucket: list[Entry], index: SignatureIndex) -> Iterator[Found]:
    scored: dict[int, list[tuple[int, int, Entry, Entry, str]]] = {}
    for one, other in combinations(bucket, 2):
        kind = _kind(one, other)
        if kind:
            draw = index.draw(one.source, one.word, other.source, other.word)
            scored.setdefault(one.caption, []).append((RANKS[kind] * WEIGHT, draw, one, other, kind))
    for some in scored.values():
        for _, draw, one, other, kind in nlargest(MAX_PARTNERS, some, key=lambda row: row[:2]):
            near = len(near_of(index.caption(one.caption), index.caption(other.caption)))
            first, second = sorted((one, other), key=lambda entry: entry.caption)
            yield Found(RANKS[kind] * WEIGHT + near, draw, first.caption, second.caption, kind, first.word, second.word)


def _kind(one: Entry, other: Entry) -> str:
    if one.source == other.source or one.caption == other.caption:
        return ""
    if not one.word:
        return ROLES
    return contrast_of(one.word, other.word)


def near_of(one: PairCaption, other: PairCaption) -> tuple[str, ...]:
    """Return what two clips share: label, category, movie, dataset, length."""
    names = ("label", "category", "movie", "dataset")
    shared = [name for name in names if getattr(one, name) and getattr(one, name) == getattr(other, name)]
    lengths = sorted((one.duration or 0.0, other.duration or 0.0))
    return (*shared, "length") if lengths[0] > 0 and lengths[1] <= lengths[0] * NEAR_LENGTH else tuple(shared)


def _chosen(index: SignatureIndex, limit: int | None, per_caption: int) -> Iterator[Proposal]:
    used: Counter[str] = Counter()
    changes: Counter[tuple[str, str]] = Counter()
    n = 0
    for found in index.best():
        if limit is not None and n >= limit:
            return
        one, other = index.caption(found.a), index.caption(found.b)
        names = [f"text {one.text}", f"text {other.text}", f"clip {one.clip}", f"clip {other.clip}"]
        change = (min(found.word, found.other), max(found.word, found.other))
        if any(used[name] >= per_caption for name in names) or (found.word and changes[change] >= MAX_PER_CHANGE):
            continue
        proposal = _proposal(one, other, found, index)
        if proposal is not None:
            used.update(names)
            changes[change] += 1
            n += 1
            yield proposal


def _proposal(one: PairCaption, other: PairCaption, found: Found, index: SignatureIndex) -> Proposal | None:
    if found.change == ROLES:
        parts = exchanged(words(one.text), words(other.text))
        if parts is None:
            return None
        why = f"the same words, but “{parts[0]}” and “{parts[1]}” change places"
    else:
        tags, parts = tagger(), (found.word, found.other)
        if refused_in(tags.tag(one.text), tags.tag(other.text), found.change):
            return None
        why = f"one word differs: “{found.word}” and “{found.other}”"
    if _also_true(one, other, parts[1], index) or _also_true(other, one, parts[0], index):
        return None
    near = near_of(one, other)
    return Proposal(NATURAL, (one.text, other.text), (one, other), found.change, parts, why, near)


def _also_true(mine: PairCaption, theirs: PairCaption, word: str, index: SignatureIndex) -> bool:
    """Return whether another caption of my clip says what theirs says, or uses their word."""
    own = set(words(word))
    for text in index.texts_of(mine.clip):
        said = words(text)
        if said == words(theirs.text) or (text != mine.text and own <= set(said)):
            return True
    return False
