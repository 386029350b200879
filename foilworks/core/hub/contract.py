"""Check adapters when they are opened, and every batch they return, so that a wrong shape is one clear message.

A check of a batch looks at shapes alone, so that it costs nothing beside the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import CATEGORIES, Embedder, ModelInfo, Score, ScoreKind, Scorer

# The words of results, those of older cards, and those of the fakes.
UNDERSTOOD = (*CATEGORIES, "image", "video-text", "fake")
# Method -> its arguments.
OF_EMBEDDERS = {"encode_video": ("clips", "meta"), "encode_text": ("texts",), "score": ("videos", "texts")}
OF_SCORERS = {"score": ("clip", "texts", "mode", "meta")}


def loader(slug: str, load_adapter: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that opens `slug:`. HubError: it takes other arguments."""
    _takes(f"{slug}: load_adapter", load_adapter, ("argument",), ("device", "dtype"))
    return load_adapter


def opened(slug: str, adapter: Any, origin: str = "") -> Any:
    """Return the adapter after checking it. HubError: a method, an argument or its `ModelInfo` is missing.

    `origin`: name and version of the plug-in that the adapter is from. They become part of its revision.
    """
    info = getattr(adapter, "info", None)
    if not isinstance(info, ModelInfo):
        raise HubError(f"{slug}: it has no info; give it a ModelInfo (foilworks/core/hub/interfaces.py)")
    if not isinstance(adapter, Scorer):
        raise HubError(
            f"{slug}: it has no score; write the methods of Embedder or Scorer (foilworks/core/hub/interfaces.py)"
        )
    for name, arguments in (OF_EMBEDDERS if isinstance(adapter, Embedder) else OF_SCORERS).items():
        _takes(f"{slug}: {name}", getattr(adapter, name), arguments)
    if info.kind not in tuple(ScoreKind):
        raise HubError(f"{slug}: its info says kind {info.kind!r}; give one of: {', '.join(ScoreKind)}")
    if info.card.get("category") not in UNDERSTOOD:
        category = info.card.get("category")
        raise HubError(f"{slug}: its card says category {category!r}; give one of: {', '.join(CATEGORIES)}")
    if origin:
        try:
            adapter.info = replace(info, revision=f"{info.revision} ({origin})")
        except AttributeError as error:
            raise HubError(f"{slug}: its info cannot be set ({error}); make it a plain attribute") from error
    return adapter


def _takes(name: str, method: Callable[..., Any], arguments: Sequence[str], keywords: Sequence[str] = ()) -> None:
    try:
        signature(method).bind(*arguments, **dict.fromkeys(keywords))
    except TypeError as error:
        call = ", ".join((*arguments, *(f"{keyword}=" for keyword in keywords)))
        raise HubError(f"{name} is called with ({call}): {error}") from error


def rows_of(info: ModelInfo, method: str, rows: Any, n: int, input_kind: str) -> NDArray[np.float32]:
    """Return the rows of n inputs. HubError: it is not an array of one row each."""
    shape = getattr(rows, "shape", None)
    if shape is None or len(shape) < 2 or shape[0] != n:
        gave = f"a {type(rows).__name__}" if shape is None else tuple(shape)
        raise HubError(
            f"{info.model_id}: {method} gave {gave} for {n} {input_kind}s; give one row per {input_kind}, ({n}, n)"
        )
    return rows


def similarities(adapter: Embedder, row: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the scores of a clip's row with each text's. HubError: rows of two widths that the model cannot compare,
    or not one value per text."""
    try:
        scores = adapter.score(row[None], texts)
    except ValueError as error:
        if row.shape == texts.shape[1:]:
            raise
        raise HubError(
            f"{adapter.info.model_id}: encode_video gave rows of {row.shape}, encode_text of {texts.shape[1:]}, and "
            f"score cannot compare them ({error}); give one length"
        ) from error
    expected_shape = (1, len(texts))
    if scores.shape != expected_shape:
        raise HubError(
            f"{adapter.info.model_id}: score gave {scores.shape} for 1 clip and {len(texts)} texts; "
            f"give {expected_shape}"
        )
    return scores[0]


def scores_of(info: ModelInfo, scores: Any, texts: Sequence[str]) -> list[Score]:
    """Return a Scorer's answer to the texts. HubError: it is not a list of one Score per text."""
    score_list = list(scores)
    if len(score_list) != len(texts) or (score_list and not isinstance(score_list[0], Score)):
        kinds = ", ".join(sorted({type(score).__name__ for score in score_list})) or "nothing"
        raise HubError(
            f"{info.model_id}: score gave {len(score_list)} of {kinds} for {len(texts)} texts; give one Score per text"
        )
    return score_list
