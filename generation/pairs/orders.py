"""Propose two trims of one video in both orders: the earlier event and then the later one, and the other way round.

Both clips are joined from the same two trims, so they have the same frames, and the same cut between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import groupby

from foilworks.core.text.tokens import words
from generation.pairs.proposals import EXCHANGED, IN_ORDER, ORDER, PairCaption, Proposal
from generation.pairs.signatures import number_of
from generation.pairs.word_groups import FUNCTION_WORDS

# Seconds of one trim: shorter ones are hard to see, longer ones show more than one event.
MIN_SECONDS, MAX_SECONDS = 0.5, 30.0
# Content words that two events may share, as a part of those of the shorter caption.
MAX_SHARED = 0.7
MAX_WORDS = 25
# They state an order themselves.
ORDERED = frozenset({"then", "before", "after", "while", "first", "next", "finally", "again", "later"})
# Words at the start of a caption that are lower-case inside a sentence.
OPENERS = frozenset(
    {"a", "an", "the", "he", "she", "they", "it", "someone", "somebody", "people", "two", "three", "one"}
)
TEMPLATE = "{first}, then {second}."


def orders(captions: Iterable[PairCaption], *, limit: int | None = None, seed: int = 0) -> Iterator[Proposal]:
    """Yield pairs of trims in both orders; each clip is in at most one. `captions` come sorted by source.

    With `limit`, a sample drawn by the seed.
    """
    proposals = (
        pair for _, same in groupby(captions, key=lambda caption: caption.source) for pair in _of_source(list(same))
    )
    if limit is None:
        yield from proposals
    else:
        yield from nsmallest(limit, proposals, key=lambda pair: number_of(str(seed), pair.name))


def _of_source(captions: Sequence[PairCaption]) -> Iterator[Proposal]:
    """Pair each trim with the next one that begins after its end."""
    orderable = [caption for caption in captions if _fits(caption)]
    previous: PairCaption | None = None
    for caption in sorted(orderable, key=lambda caption: (caption.start, caption.end, caption.id)):
        if previous is not None and _follows(previous, caption):
            yield _proposal(previous, caption)
            previous = None
        elif previous is None or previous.clip != caption.clip:
            previous = caption


def _fits(caption: PairCaption) -> bool:
    text_words = words(caption.text)
    if (
        caption.start is None
        or caption.end is None
        or not text_words
        or len(text_words) > MAX_WORDS
        or ORDERED & set(text_words)
    ):
        return False
    one_sentence = not any(mark in caption.text.strip().rstrip(".!") for mark in ".!?;")
    return one_sentence and MIN_SECONDS <= caption.end - caption.start <= MAX_SECONDS


def _follows(first: PairCaption, second: PairCaption) -> bool:
    if first.clip == second.clip or (second.start or 0.0) < (first.end or 0.0):
        return False
    first_words, second_words = set(words(first.text)) - FUNCTION_WORDS, set(words(second.text)) - FUNCTION_WORDS
    fewer = min(len(first_words), len(second_words))
    return fewer > 0 and len(first_words & second_words) / fewer <= MAX_SHARED


def _proposal(first: PairCaption, second: PairCaption) -> Proposal:
    texts = joined(first.text, second.text), joined(second.text, first.text)
    gap = (second.start or 0.0) - (first.end or 0.0)
    why = f"two events of one video, {gap:.1f} s apart, in both orders"
    words = first.text, second.text
    return Proposal(ORDER, texts, (first, second), "order of events", words, why, played=(IN_ORDER, EXCHANGED))


def joined(first: str, second: str) -> str:
    """Return one caption of two events: "A man sits down, then a dog barks."."""
    before, behind = (text.strip().rstrip(".! ") for text in (first, second))
    opener, _, remaining_text = behind.partition(" ")
    if opener.lower() in OPENERS:
        behind = f"{opener.lower()} {remaining_text}"
    return TEMPLATE.format(first=before, second=behind)
