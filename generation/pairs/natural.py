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
from generation.pairs.proposals import NATURAL, PairCaption, Proposal
from generation.pairs.signatures import Entry, PairCandidate, SignatureIndex
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
        yield from _selected_proposals(index, limit, per_caption)


def _pairs_of(bucket: list[Entry], index: SignatureIndex) -> Iterator[PairCandidate]:
    scored: dict[int, list[tuple[int, int, Entry, Entry, str]]] = {}
    for entry, other_entry in combinations(bucket, 2):
        kind = _kind(entry, other_entry)
        if kind:
            draw = index.draw(entry.source, entry.word, other_entry.source, other_entry.word)
            scored.setdefault(entry.caption, []).append((RANKS[kind] * WEIGHT, draw, entry, other_entry, kind))
    for scored_pairs in scored.values():
        for _, draw, entry, other_entry, kind in nlargest(MAX_PARTNERS, scored_pairs, key=lambda row: row[:2]):
            near = len(near_of(index.caption(entry.caption), index.caption(other_entry.caption)))
            first, second = sorted((entry, other_entry), key=lambda member: member.caption)
            yield PairCandidate(
                RANKS[kind] * WEIGHT + near, draw, first.caption, second.caption, kind, first.word, second.word
            )


def _kind(entry: Entry, other_entry: Entry) -> str:
    if entry.source == other_entry.source or entry.caption == other_entry.caption:
        return ""
    if not entry.word:
        return ROLES
    return contrast_of(entry.word, other_entry.word)


def near_of(caption: PairCaption, other_caption: PairCaption) -> tuple[str, ...]:
    """Return what two clips share: label, category, movie, dataset, length."""
    names = ("label", "category", "movie", "dataset")
    shared = [
        name for name in names if getattr(caption, name) and getattr(caption, name) == getattr(other_caption, name)
    ]
    lengths = sorted((caption.duration or 0.0, other_caption.duration or 0.0))
    return (*shared, "length") if lengths[0] > 0 and lengths[1] <= lengths[0] * NEAR_LENGTH else tuple(shared)


def _selected_proposals(index: SignatureIndex, limit: int | None, per_caption: int) -> Iterator[Proposal]:
    used: Counter[str] = Counter()
    changes: Counter[tuple[str, str]] = Counter()
    n = 0
    for candidate in index.best():
        if limit is not None and n >= limit:
            return
        caption, other_caption = index.caption(candidate.a), index.caption(candidate.b)
        names = [
            f"text {caption.text}",
            f"text {other_caption.text}",
            f"clip {caption.clip}",
            f"clip {other_caption.clip}",
        ]
        change = (min(candidate.word, candidate.other_word), max(candidate.word, candidate.other_word))
        if any(used[name] >= per_caption for name in names) or (candidate.word and changes[change] >= MAX_PER_CHANGE):
            continue
        proposal = _proposal(caption, other_caption, candidate, index)
        if proposal is not None:
            used.update(names)
            changes[change] += 1
            n += 1
            yield proposal


def _proposal(
    caption: PairCaption, other_caption: PairCaption, candidate: PairCandidate, index: SignatureIndex
) -> Proposal | None:
    if candidate.change == ROLES:
        exchanged_phrases = exchanged(words(caption.text), words(other_caption.text))
        if exchanged_phrases is None:
            return None
        why = f"the same words, but “{exchanged_phrases[0]}” and “{exchanged_phrases[1]}” change places"
    else:
        tags, exchanged_phrases = tagger(), (candidate.word, candidate.other_word)
        if refused_in(tags.tag(caption.text), tags.tag(other_caption.text), candidate.change):
            return None
        why = f"one word differs: “{candidate.word}” and “{candidate.other_word}”"
    if _also_true(caption, other_caption, exchanged_phrases[1], index) or _also_true(
        other_caption, caption, exchanged_phrases[0], index
    ):
        return None
    near = near_of(caption, other_caption)
    return Proposal(
        NATURAL,
        (caption.text, other_caption.text),
        (caption, other_caption),
        candidate.change,
        exchanged_phrases,
        why,
        near,
    )


def _also_true(own_caption: PairCaption, other_caption: PairCaption, word: str, index: SignatureIndex) -> bool:
    """Return whether another caption of my clip says what theirs says, or uses their word."""
    own = set(words(word))
    for text in index.texts_of(own_caption.clip):
        text_words = words(text)
        if text_words == words(other_caption.text) or (text != own_caption.text and own <= set(text_words)):
            return True
    return False
