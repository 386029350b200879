"""An adapter that breaks its interface is answered with one message, where it is opened or with its first batch."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import score_pairs
from foilworks.core.hub.adapters.fake import FakeEmbedder, FakeScorer
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Score, ScoreKind
from foilworks.core.hub.opening import open_adapter
from foilworks.core.text.registry import Entry
from tests.evaluation.test_scoring import still

CLIPS = [(Clip("a" * n), ["one", "two"]) for n in range(1, 4)]


def asked(adapter: Any, **methods: Callable[..., Any]) -> list[Any]:
    """What the scoring loop makes of an adapter, some of whose methods are others."""
    for name, method in methods.items():
        setattr(adapter, name, method)
    return list(score_pairs(adapter, CLIPS, read=still))


def rows(*shape: int) -> Callable[..., np.ndarray]:
    return lambda *_: np.zeros(shape, np.float32)


@pytest.mark.parametrize(
    ("method", "made", "says"),
    [
        ("encode_video", rows(9), "encode_video gave (9,) for 3 clips; give one row per clip, (3, n)"),
        ("encode_video", rows(3), "encode_video gave (3,) for 3 clips; give one row per clip, (3, n)"),
        ("encode_video", rows(1, 9), "encode_video gave (1, 9) for 3 clips; give one row per clip, (3, n)"),
        ("encode_video", lambda *_: [[1.0]] * 3, "encode_video gave a list for 3 clips; give one row per clip, (3, n)"),
        ("encode_text", rows(1, 9), "encode_text gave (1, 9) for 2 texts; give one row per text, (2, n)"),
        ("encode_text", rows(2, 7), "rows of (32,), encode_text of (7,), and score cannot compare them (matmul"),
        ("score", rows(2), "score gave (2,) for 1 clip and 2 texts; give (1, 2)"),
    ],
)
def test_the_wrong_number_of_rows_is_refused(method: str, made: Callable[..., Any], says: str) -> None:
    with pytest.raises(HubError) as caught:
        asked(FakeEmbedder(), **{method: made})
    assert str(caught.value).startswith("fake")
    assert says in str(caught.value)


@pytest.mark.parametrize("needs_video", [True, False])
@pytest.mark.parametrize(
    ("made", "says"),
    [
        ([Score(1.0, ScoreKind.LOGIT)], "score gave 1 of Score for 2 texts; give one Score per text"),
        ([0.5, 0.5], "score gave 2 of float for 2 texts; give one Score per text"),
    ],
)
def test_the_wrong_number_of_scores_is_refused(needs_video: bool, made: list[Any], says: str) -> None:
    adapter = FakeScorer()
    adapter.info = replace(adapter.info, needs_video=needs_video, frames=int(needs_video))
    with pytest.raises(HubError, match=says):
        asked(adapter, score=lambda *_: made)


class OfClipsAlone(FakeEmbedder):
    def encode_video(self, clips: Any) -> Any:  # type: ignore[override]
        return clips


class OfTextsAlone(FakeScorer):
    def score(self, clip: Any, texts: Any) -> Any:  # type: ignore[override]
        return texts


def stating(**changes: Any) -> Any:
    adapter = FakeEmbedder()
    adapter.info = replace(adapter.info, **changes)
    return adapter


@pytest.mark.parametrize(
    ("load_adapter", "says"),
    [
        (lambda argument, *, device: FakeEmbedder(), r"own: load_adapter is called with \(argument, device=, dtype=\)"),
        (lambda argument, **_: object(), "own: it has no info; give it a ModelInfo"),
        (
            lambda argument, **_: OfClipsAlone(),
            r"own: encode_video is called with \(clips, meta\): too many positional",
        ),
        (lambda argument, **_: OfTextsAlone(), r"own: score is called with \(clip, texts, mode, meta\): too many"),
        (lambda argument, **_: stating(card={}), "own: its card says category None; give one of: text, image-text, vi"),
        (lambda argument, **_: stating(card={"category": ["x"]}), r"own: its card says category \['x'\]; give one of"),
        (lambda argument, **_: stating(kind="likeness"), "own: its info says kind 'likeness'; give one of: cosine, lo"),
    ],
)
def test_an_invalid_adapter_is_refused_when_it_is_opened(
    monkeypatch: pytest.MonkeyPatch, load_adapter: Any, says: str
) -> None:
    module = ModuleType("own_adapter")
    module.load_adapter = load_adapter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_adapter", module)
    monkeypatch.setitem(ADAPTERS, "own", Entry("Own", "own_adapter:load_adapter"))
    with pytest.raises(HubError, match=says):
        open_adapter("own:")
