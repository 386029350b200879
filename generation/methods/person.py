"""People write the foils (Feint6K, Sec. 3.2; contrast sets, Sec. 3.3): each caption becomes a blank of k foils."""

from collections.abc import Iterable, Iterator
from typing import Any

from generation.errors import GenerationError
from generation.records import Blank, CaptionInput

VERSION = "1"
FEINT6K_FOILS = 5


def check(params: dict[str, Any]) -> None:
    """Raise GenerationError for an invalid parameter; loads nothing."""
    if params["foils"] < 0:
        raise GenerationError(f"parameter 'foils' is {params['foils']}; give a whole number from 0")


def make(captions: Iterable[CaptionInput], *, params: dict[str, Any], mode: str, seed: int) -> Iterator[Blank]:
    """Make one blank per caption, of params["foils"] foils (0 without a subtest: 5), without random draws."""
    del mode, seed
    check(params)
    for caption in captions:
        yield Blank(caption.id, params["foils"] or FEINT6K_FOILS)
