"""Propose made clips in twos, so that how a clip is played says nothing about which text is true.

If every clip of "closes" were a reversed one of "opens", a model that sees the direction would know the answer. So a
proposal that changes "opens" into "closes" needs one that changes "closes" into "opens".
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest

from generation.pairs.proposals import PairCaption, Proposal
from generation.pairs.signatures import number_of

Twins = tuple[Proposal, Proposal]


def in_twos(proposals: Iterable[Proposal], *, limit: int | None, seed: int) -> Iterator[Proposal]:
    """Yield proposals with their counterparts, one after the other; the rest is left out.

    With a limit, at most so many, without a warning first, drawn by the seed. Without one, only proposals that wait for
    a counterpart are in memory.
    """
    twins: Iterable[Twins] = _matched(proposals)
    if limit is not None:
        twins = nsmallest(limit // 2, twins, key=lambda both: _rank(both, seed))
    for both in twins:
        yield from both


def once_per_clip(
    captions: Iterable[PairCaption], propose: Callable[[PairCaption], Proposal | None]
) -> Iterator[Proposal]:
    """Yield the first proposal of each clip. The captions of a clip come one after the other."""
    last = None
    for caption in captions:
        if caption.clip != last and (proposal := propose(caption)) is not None:
            last = caption.clip
            yield proposal


def _matched(proposals: Iterable[Proposal]) -> Iterator[Twins]:
    waiting: dict[tuple[str, str], deque[Proposal]] = defaultdict(deque)
    for proposal in proposals:
        changed, replacement = (word.lower() for word in proposal.words)
        if counterparts := waiting[replacement, changed]:
            yield counterparts.popleft(), proposal
        else:
            waiting[changed, replacement].append(proposal)


def _rank(both: Twins, seed: int) -> tuple[bool, int]:
    is_doubtful = any(proposal.warning for proposal in both)
    return is_doubtful, number_of(str(seed), *(proposal.name for proposal in both))
