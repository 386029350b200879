"""Number replacement (ViLMA, Secs. 3.2 and C.2): "exactly three times" -> "exactly nine times".

`paper`: the wrong count is drawn from the other side of the easy/difficult split: captions with 1, 2, 3 get 4..max
(easy), captions with 4..max get 1, 2, 3 (difficult). Text alone solves each subtest: the smaller (larger) is true.
`corrected`: captions trade counts within the run, so that in each pair {a, b} both are true equally often. Captions
without a partner are skipped with this reason. With split=easy or difficult the trades cross the split and one half
is the result: only both halves of one run's captions and seed together are balanced.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from generation.errors import GenerationError
from generation.grammar.numbers import Count, find_count, realise
from generation.methods._number_balance import Counted, Given, balanced
from generation.methods._random import generator_for
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits
from text.language.numbers import value_of

VERSION = "2"
# Captions trade counts: a resumed run trades among the captions that it began with.
NEEDS_ALL_CAPTIONS = True
SMALL = frozenset({1, 2, 3})
MAX_NUMBER = 20

State = dict[str, tuple[Given, ...]] | None


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Return caption id -> counts of its foils, traded over all captions of the run; None in mode paper."""
    check(params)
    if mode == "paper":
        return None
    items = []
    for caption in captions:
        count = _stated(caption, params)
        if isinstance(count, Count):
            allowed = _realisable(count, _other_counts(count.value, params, mode))
            items.append(Counted(caption.id, count.value, frozenset(allowed), count.adverb))
    # A trial on one sentence: no caption to trade with.
    if len(items) == 1:
        return None
    return balanced(items, params["foils"], generator_for(seed, "number", "balance"))


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption; `state` is from `prepare` over the whole run."""
    for caption in captions:
        count = _stated(caption, params)
        if isinstance(count, str):
            yield Skip(caption.id, count)
            continue
        given = _given(caption, count, params, mode, seed, state)
        if isinstance(given, str):
            yield Skip(caption.id, given)
            continue
        yield from _drafts(caption, count, given, mode, balanced_run=state is not None)


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 1:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 1")
    if not 2 <= params["max"] <= MAX_NUMBER:
        raise GenerationError(f"parameter 'max' is {params['max']}; give a whole number from 2 to {MAX_NUMBER}")


def _stated(caption: CaptionInput, params: dict[str, Any]) -> Count | str:
    """Return the count that the caption states, or why it gets no foil."""
    count = find_count(caption.text, params["anchor"])
    if isinstance(count, str):
        return count
    if not 1 <= count.value <= params["max"]:
        return f"the count {count.value} is not within 1..{params['max']} (parameter max)"
    annotated = caption.facts.get("count")
    if annotated is not None and value_of(str(annotated)) != count.value:
        return f"the caption states {count.word}, but the video's annotated count is {annotated}; correct one of them"
    return count


def _other_counts(value: int, params: dict[str, Any], mode: str) -> list[int]:
    """Return the counts a foil may state: any other, or those across the split (always in mode paper)."""
    every = [number for number in range(1, params["max"] + 1) if number != value]
    if params["split"] == "any" and mode != "paper":
        return every
    return [number for number in every if (number in SMALL) != (value in SMALL)]


def _realisable(count: Count, numbers: list[int]) -> list[int]:
    return [number for number in numbers if realise(count, number) is not None]


def _given(
    caption: CaptionInput, count: Count, params: dict[str, Any], mode: str, seed: int, state: State
) -> tuple[Given, ...] | str:
    if params["split"] != "any" and (params["split"] == "easy") != (count.value in SMALL):
        return f"the count {count.value} is not in the {params['split']} subtest (parameter split)"
    if state is not None and caption.id in state:
        return state[caption.id]
    if state is not None and params["leftover"] == "skip":
        return (
            f"no caption is left to trade the count {count.value} with; add captions, "
            "or draw at random with leftover=draw or mode paper"
        )
    allowed = _realisable(count, _other_counts(count.value, params, mode))
    if not allowed:
        return "no other count keeps the sentence grammatical"
    rng = generator_for(seed, "number", caption.id)
    return tuple(Given(value, None) for value in rng.sample(allowed, min(params["foils"], len(allowed))))


def _drafts(
    caption: CaptionInput, count: Count, given: tuple[Given, ...], mode: str, *, balanced_run: bool
) -> Iterator[FoilDraft]:
    for rank, other in enumerate(given):
        edits = realise(count, other.value, adverb=other.adverb) or realise(count, other.value)
        assert edits is not None, "only counts that can be written are given"
        yield draft_from_edits(
            caption,
            edits,
            method="number",
            mode=mode,
            rank=rank,
            facts={
                "count": count.value,
                "foil_count": other.value,
                "split": _split_of(count.value, other.value),
                "balanced": balanced_run and other.adverb is not None,
            },
        )


def _split_of(value: int, other: int) -> str:
    """Return ViLMA's subtest: easy has the small number in the caption, difficult in the foil, else neither."""
    if (value in SMALL) == (other in SMALL):
        return "neither"
    return "easy" if value in SMALL else "difficult"
