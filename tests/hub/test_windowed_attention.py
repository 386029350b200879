"""Vision towers whose windows are attended to in one call on a GPU. torch's kernel needs one: here a loop over the
windows stands in its place, and everything around it is the product's."""

import inspect
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from foilworks.core.hub.adapters.generative import GenerativeModel
from foilworks.core.hub.batching import windowed_attention
from foilworks.core.hub.batching.video_families import FAMILIES as KNOWN
from foilworks.core.hub.batching.windowed_attention import NAME, attend_in_one_call
from foilworks.core.hub.opening import open_adapter
from tests.hub.test_generative import FAMILIES, TEXTS, values

GPU = torch.device("cuda")
WINDOWED = {name for name, family in KNOWN.items() if family.windowed}
FIRST, BEFORE = (8, 0), (7, 5)


@pytest.fixture(autouse=True)
def capability(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: FIRST)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of windows of each call."""
    found: list[int] = []

    def window_by_window(
        query: Any, key: Any, value: Any, ends: Any, ends_k: Any, most: int, most_k: int, *, scale: Any
    ):
        places = ends.tolist()
        assert ends.dtype == torch.int32
        assert (places[0], places[-1], most) == (0, len(query), max(b - a for a, b in pairwise(places)))
        assert torch.equal(ends, ends_k)
        assert most == most_k
        found.append(len(places) - 1)
        rows = [
            scaled_dot_product_attention(*(each[a:b].transpose(0, 1) for each in (query, key, value)), scale=scale)
            for a, b in pairwise(places)
        ]
        return torch.cat([row.transpose(0, 1) for row in rows])

    monkeypatch.setattr(windowed_attention, "varlen_attn", window_by_window)
    return found


@pytest.mark.parametrize("family", sorted(WINDOWED))
def test_one_call_scores_like_a_call_per_window(family: str, tmp_path: Path, calls: list[int]) -> None:
    model = open_adapter(f"vlm:{FAMILIES[family](tmp_path / family)}?frames=4&dtype=bfloat16", device="cpu")
    before = values(model, TEXTS[:2])
    assert not calls
    attend_in_one_call(model.model, GPU)
    after = values(model, TEXTS[:2])
    assert len(calls) == len(_towers_attention(model))
    assert max(calls) > 1
    # bfloat16 has 8 bits: the same sums in another order.
    assert after == pytest.approx(before, abs=0.05)


@pytest.mark.full
def test_exactly_the_families_with_windows_are_named(tmp_path: Path) -> None:
    having = {
        name
        for name, make in FAMILIES.items()
        if _towers_attention(open_adapter(f"vlm:{make(tmp_path / name)}?frames=4", device="cpu"))
    }
    assert having == WINDOWED


def test_a_cpu_and_float32_keep_their_own_way(tmp_path: Path) -> None:
    folder = FAMILIES["qwen2_5_vl"](tmp_path / "m")
    for dtype, device in (("float32", GPU), ("bfloat16", torch.device("cpu"))):
        model = open_adapter(f"vlm:{folder}?frames=4&dtype={dtype}", device="cpu").model
        attend_in_one_call(model, device)
        assert model.config.vision_config._attn_implementation != NAME


def test_an_older_gpu_keeps_its_own_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: BEFORE)
    folder = FAMILIES["qwen2_5_vl"](tmp_path / "m")
    model = open_adapter(f"vlm:{folder}?frames=4&dtype=float16", device="cpu").model
    attend_in_one_call(model, GPU)
    assert model.config.vision_config._attn_implementation != NAME


def _towers_attention(adapter: GenerativeModel) -> list[torch.nn.Module]:
    """The layers of the vision tower that are told where windows end and attend themselves."""
    return [
        module
        for name, module in adapter.model.named_modules()
        if "cu_seqlens" in inspect.signature(module.forward).parameters
        and name.endswith("attn")
        and "audio" not in name
    ]
