"""What methods by rule share: the check of counts, and the loop over the foils of one caption."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from foilworks.core.text.diff import Edit
from generation.errors import GenerationError
from generation.grammar.consistency import why_unsound
from generation.records import CaptionInput, FoilDraft, Skip, draft_from_edits

# Keeps the time linear for captions of 10^6 characters: each option is compared with the whole caption.
MAX_TRIED = 40


def check_counts(params: Mapping[str, Any], *names: str) -> None:
    """Raise GenerationError for a count below 1."""
    for name in names:
        if params[name] < 1:
            raise GenerationError(f"parameter '{name}' is {params[name]}; give a whole number from 1")


def sound_foils(
    caption: CaptionInput,
    options: Iterable[tuple[Sequence[Edit], Mapping[str, Any]]],
    *,
    method: str,
    mode: str,
    most: int,
    none: str,
) -> Iterator[FoilDraft | Skip]:
    """Yield foils of the first `most` options (edits, facts) that leave the caption sound; without any, why. At most
    `MAX_TRIED` are tried.

    `none`: the reason if there is no option.
    """
    why, rank = none, 0
    for edits, facts in islice(options, MAX_TRIED):
        why = why_unsound(caption.text, edits)
        if why:
            continue
        yield draft_from_edits(caption, edits, method=method, mode=mode, rank=rank, facts=facts)
        rank += 1
        if rank == most:
            return
    if not rank:
        yield Skip(caption.id, why)
