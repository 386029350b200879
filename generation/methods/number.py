"""Number replacement (ViLMA, Secs. 3.2 and C.2): "exactly three times" -> "exactly nine times".

`paper`: the wrong count is drawn from the other side of the easy/difficult split: captions with 1, 2, 3 get 4..max
(easy), captions with 4..max get 1, 2, 3 (difficult). Counts are as frequent as in the released files, which draw each
count in proportion to the clips that have it. Text alone solves each subtest: the smaller (larger) is true.
`corrected`: the wrong count is drawn from all others, and the balanced draw of the run chooses among them, so that in
each pair {a, b} both are true about equally often. With split=easy or difficult it has nothing to choose from.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from foilworks.core.text.diff import Edit
from foilworks.core.text.language.numbers import value_of
from generation.errors import GenerationError
from generation.grammar.consistency import why_unsound
from generation.grammar.numbers import Count, find_count, realise
from generation.methods._number_quotas import Counted, drawn_by_quota
from generation.methods._random import generator_for
from generation.methods._rules import check_counts
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

VERSION = "5"
# Mode paper divides counts among all captions: a resumed run divides them among those that it began with.
NEEDS_ALL_CAPTIONS = True
# With which the balanced draw can choose among all counts, in both spellings.
BEFORE_DRAW = {"foils": 40}
SMALL = frozenset({1, 2, 3})
MAX_NUMBER = 20
UNFIT = "no other count keeps the sentence grammatical"
# Foils with each count in ViLMA's released counting files (easy: 4..10, difficult: 1..3); 11 and above as rare as 10.
RELEASED = {1: 319, 2: 285, 3: 291, 4: 195, 5: 175, 6: 141, 7: 120, 8: 119, 9: 103, 10: 106}

State = dict[str, tuple[int, ...]] | None


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> State:
    """Return caption id -> counts of its foils, in mode paper; None for a single caption, and in mode corrected."""
    check(params)
    if mode != "paper":
        return None
    items = []
    for caption in captions:
        count = _stated(caption, params)
        if isinstance(count, Count) and _is_in_split(count.value, params["split"]):
            allowed = _realisable(count, _other_counts(count.value, params, mode), mode)
            items.append(Counted(caption.id, count.value, frozenset(allowed)))
    return None if len(items) == 1 else _as_released(items, params["foils"], seed)


def _as_released(items: Sequence[Counted], rounds: int, seed: int) -> dict[str, tuple[int, ...]]:
    """Return counts in the proportions of the released files, for each side of the split."""
    sides = [[item for item in items if (item.value in SMALL) == small] for small in (True, False)]
    counts_by_id: dict[str, tuple[int, ...]] = {}
    for side in sides:
        counts_by_id |= drawn_by_quota(side, _weight, rounds, generator_for(seed, "number", "quota"))
    return counts_by_id


def _weight(count: int) -> int:
    return RELEASED.get(count, RELEASED[10])


def _is_in_split(value: int, split: str) -> bool:
    return split == "any" or (split == "easy") == (value in SMALL)


def make(
    captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int, state: State = None
) -> Iterator[FoilDraft | Skip]:
    """Make up to params["foils"] foils per caption; `state` is from `prepare` over the whole run."""
    for caption in captions:
        count = _stated(caption, params)
        if isinstance(count, str):
            yield Skip(caption.id, count)
            continue
        foil_counts = _foil_counts(caption, count, params, mode, seed, state)
        if isinstance(foil_counts, str):
            yield Skip(caption.id, foil_counts)
            continue
        yield from _drafts(caption, count, foil_counts, params["foils"], mode)


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    check_counts(params, "foils")
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


def _other_counts(value: int, params: dict[str, Any], mode: str) -> tuple[int, ...]:
    """Return the counts a foil may state: any other, or those across the split (always in mode paper)."""
    every = tuple(number for number in range(1, params["max"] + 1) if number != value)
    if params["split"] == "any" and mode != "paper":
        return every
    return tuple(number for number in every if (number in SMALL) != (value in SMALL))


@lru_cache(maxsize=20_000)
def _realisable(count: Count, numbers: tuple[int, ...], mode: str) -> list[int]:
    """Return the numbers that keep the sentence correct, and outside mode paper true of nothing it says besides."""
    edits_by_number = {number: realise(count, number) for number in numbers}
    return [
        number
        for number, edits in edits_by_number.items()
        if edits is not None and (mode == "paper" or not why_unsound(count.text, edits))
    ]


def _why_unfit(count: Count, params: dict[str, Any], mode: str) -> str:
    all_edits = (realise(count, number) for number in _other_counts(count.value, params, mode))
    return next((why for edits in all_edits if edits and (why := why_unsound(count.text, edits))), UNFIT)


def _foil_counts(
    caption: CaptionInput, count: Count, params: dict[str, Any], mode: str, seed: int, state: State
) -> tuple[int, ...] | str:
    if not _is_in_split(count.value, params["split"]):
        return f"the count {count.value} is not in the {params['split']} subtest (parameter split)"
    if state is not None and caption.id in state:
        return state[caption.id]
    allowed = _realisable(count, _other_counts(count.value, params, mode), mode)
    if not allowed:
        return _why_unfit(count, params, mode)
    rng = generator_for(seed, "number", caption.id)
    if mode == "paper":
        return drawn_by_quota([Counted(caption.id, count.value, frozenset(allowed))], _weight, params["foils"], rng)[
            caption.id
        ]
    return tuple(rng.sample(allowed, min(params["foils"], len(allowed))))


def _drafts(
    caption: CaptionInput, count: Count, foil_counts: tuple[int, ...], n_foils: int, mode: str
) -> Iterator[FoilDraft]:
    """Yield a foil per count; if more are allowed than there are counts, also in the other spelling ("two times")."""
    edits_and_counts: dict[tuple[Edit, ...], int] = {}
    for adverb in (None, not count.adverb) if n_foils > MAX_NUMBER else (None,):
        for foil_count in foil_counts:
            edits = realise(count, foil_count, adverb=adverb)
            if edits:
                edits_and_counts.setdefault(tuple(edits), foil_count)
    for rank, (written, foil_count) in enumerate(islice(edits_and_counts.items(), n_foils)):
        yield draft_from_edits(
            caption,
            written,
            method="number",
            mode=mode,
            rank=rank,
            facts={
                "count": count.value,
                "foil_count": foil_count,
                "split": _split_of(count.value, foil_count),
            },
        )


def _split_of(value: int, foil_value: int) -> str:
    """Return ViLMA's subtest: easy has the small number in the caption, difficult in the foil, else neither."""
    if (value in SMALL) == (foil_value in SMALL):
        return "neither"
    return "easy" if value in SMALL else "difficult"
