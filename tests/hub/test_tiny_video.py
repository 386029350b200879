"""The tiny models: what each can see in principle, and that a folder that does not fit is refused by name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, load_adapter, save_model
from foilworks.core.hub.device import choose_device, choose_dtype
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import VideoMeta

TEXTS = ["a red ring moves from left to right", "a red ring moves from right to left"]


def saved(folder: Path, architecture: str = "temporal", seed: int = 0) -> Path:
    torch.manual_seed(seed)
    vocabulary = Words.of(TEXTS)
    config = TinyConfig(architecture, f"tiny/{architecture}", frames=4, size=16, width=16, dimensions=8)
    return save_model(folder, TinyVideoText(config, len(vocabulary.entries)), vocabulary, {"category": "video"})


def clip(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (4, 16, 16, 3), np.uint8)


def test_only_the_temporal_model_distinguishes_a_clip_from_its_reversal(tmp_path: Path) -> None:
    frames = [clip(), clip()[::-1].copy()]
    meta = [VideoMeta("forward"), VideoMeta("reverse")]
    average = load_adapter(str(saved(tmp_path / "average", "average")), device="cpu").encode_video(frames, meta)
    temporal = load_adapter(str(saved(tmp_path / "temporal", "temporal")), device="cpu").encode_video(frames, meta)
    np.testing.assert_allclose(average[0], average[1], atol=1e-6)
    assert np.abs(temporal[0] - temporal[1]).max() > 1e-3


def test_word_order_matters_to_the_text_encoder(tmp_path: Path) -> None:
    rows = load_adapter(str(saved(tmp_path)), device="cpu").encode_text(TEXTS)
    assert np.abs(rows[0] - rows[1]).max() > 1e-3


def test_a_saved_model_scores_the_same_and_its_revision_is_its_content(tmp_path: Path) -> None:
    first, again = (load_adapter(str(saved(tmp_path / name)), device="cpu") for name in ("one", "two"))
    other = load_adapter(str(saved(tmp_path / "three", seed=1)), device="cpu")
    assert first.info == again.info
    assert first.info.revision != other.info.revision
    assert first.info.model_id == "tiny/temporal"
    assert str(tmp_path) not in first.info.model_id
    np.testing.assert_array_equal(first.encode_text(TEXTS), again.encode_text(TEXTS))


def test_rows_have_length_one_so_that_the_score_is_the_cosine(tmp_path: Path) -> None:
    adapter = load_adapter(str(saved(tmp_path)), device="cpu")
    videos, texts = adapter.encode_video([clip()], [VideoMeta()]), adapter.encode_text(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(np.concatenate([videos, texts]), axis=1), 1, atol=1e-6)
    assert (np.abs(adapter.score(videos, texts)) <= 1 + 1e-6).all()


def test_similarity_is_float32_in_every_number_format(tmp_path: Path) -> None:
    adapter = load_adapter(str(saved(tmp_path)), device="cpu", dtype="bfloat16")
    videos = adapter.encode_video([clip()], [VideoMeta()])
    assert videos.dtype == np.float32
    assert adapter.score(videos, adapter.encode_text(TEXTS)).dtype == np.float32


@pytest.mark.parametrize("frames", [np.zeros((3, 16, 16, 3), np.uint8), np.zeros((4, 16, 16, 3), np.float32)])
def test_frames_of_another_shape_are_refused_with_the_clip_named(tmp_path: Path, frames: np.ndarray) -> None:
    adapter = load_adapter(str(saved(tmp_path)), device="cpu")
    with pytest.raises(HubError, match=r"clip 'odd': tiny/temporal takes uint8 \(4, 16, 16, 3\)"):
        adapter.encode_video([frames], [VideoMeta("odd")])


def change_weights(folder: Path, change: str) -> None:
    tensors = load_file(folder / "model.safetensors")
    if change == "missing":
        del tensors["video_out.bias"]
    elif change == "unexpected":
        tensors["head.weight"] = torch.zeros(2)
    elif change == "renamed":
        tensors["text.exit.bias"] = tensors.pop("text.out.bias")
    else:
        tensors["video_out.bias"] = torch.zeros(3)
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("missing", "missing video_out.bias"),
        ("unexpected", "unexpected head.weight"),
        ("renamed", "missing text.out.bias; unexpected text.exit.bias"),
        ("reshaped", r"video_out.bias is \(3,\), not \(8,\)"),
    ],
)
def test_the_error_names_tensors_that_do_not_fit(tmp_path: Path, change: str, named: str) -> None:
    change_weights(saved(tmp_path), change)
    with pytest.raises(HubError, match=f"model.safetensors: {named}; these weights"):
        load_adapter(str(tmp_path), device="cpu")


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "model.safetensors"])
def test_a_folder_without_one_of_its_files_is_refused(tmp_path: Path, name: str) -> None:
    (saved(tmp_path) / name).unlink()
    with pytest.raises(HubError, match=rf"{name}: .*missing;"):
        load_adapter(str(tmp_path), device="cpu")


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "model.safetensors"])
def test_a_file_of_garbage_is_refused(tmp_path: Path, name: str) -> None:
    (saved(tmp_path) / name).write_bytes(b"\x00\xffgarbage")
    with pytest.raises(HubError, match=rf"{name}: not readable as"):
        load_adapter(str(tmp_path), device="cpu")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("architecture", "transformer", "architecture: 'transformer' is unknown; it is one of: average, temporal"),
        ("width", "16", "width: '16' is not a whole number from 1 to 4096"),
        ("frames", 0, "frames: 0 is not a whole number from 1 to 4096"),
        ("dimensions", True, "dimensions: True is not a whole number"),
        ("size", None, "size: None is not a whole number"),
        ("name", "", "name: not a text"),
        ("layers", 3, "layers: unknown"),
    ],
)
def test_a_wrong_configuration_is_named_by_field(tmp_path: Path, field: str, value: object, said: str) -> None:
    config = json.loads((saved(tmp_path) / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, field: value}))
    with pytest.raises(HubError, match=f"config.json: {said}"):
        load_adapter(str(tmp_path), device="cpu")


def test_a_configuration_without_a_field_names_it(tmp_path: Path) -> None:
    config = json.loads((saved(tmp_path) / "config.json").read_text())
    del config["width"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(HubError, match=r"config.json: width: missing"):
        load_adapter(str(tmp_path), device="cpu")


@pytest.mark.parametrize("content", ["{}", '["red"]', '["<pad>", "<unk>", 3]'])
def test_a_wrong_vocabulary_is_refused(tmp_path: Path, content: str) -> None:
    (saved(tmp_path) / "vocab.json").write_text(content)
    with pytest.raises(HubError, match=r"vocab.json: (not a list of words|the words do not begin with)"):
        load_adapter(str(tmp_path), device="cpu")


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HubError, match="there is no such model folder"):
        load_adapter(str(tmp_path / "nowhere"))
    with pytest.raises(HubError, match="write tiny:FOLDER"):
        load_adapter("")


def test_words_are_padded_and_unknown_ones_share_an_id() -> None:
    vocabulary = Words.of(["a ring", "a red ring"])
    assert vocabulary.entries == ("<pad>", "<unk>", "a", "red", "ring")
    # A red blob. -> a, red, unknown; nothing known at all -> one unknown
    assert vocabulary.encode(["A red blob.", "ring", ""]).tolist() == [[2, 3, 1], [4, 0, 0], [1, 0, 0]]


@pytest.fixture
def roundings() -> Iterator[list[Any]]:
    """Where torch keeps whether a GPU may round float32; as on a fresh GPU, and as before in the end."""
    parts = [torch.backends.cudnn, torch.backends.cuda.matmul]
    before = [part.allow_tf32 for part in parts]
    for part in parts:
        part.allow_tf32 = True
    yield parts
    for part, value in zip(parts, before, strict=True):
        part.allow_tf32 = value


@pytest.mark.parametrize("name", ["auto", "cuda", "cuda:0"])
def test_float32_is_float32_on_a_gpu(name: str, roundings: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert choose_device(name).type == "cuda"
    assert [part.allow_tf32 for part in roundings] == [False, False]


def test_devices_and_number_formats_by_name() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in {"cpu", "cuda"}
    assert choose_dtype("bfloat16") is torch.bfloat16
    for name in ("gpu", "cuda:x", "tpu:0"):
        with pytest.raises(HubError, match="is unknown; choose auto, cpu, cuda or cuda:N"):
            choose_device(name)
    with pytest.raises(HubError, match="'cuda:99' is not available"):
        choose_device("cuda:99")
    with pytest.raises(HubError, match="one of: float32"):
        choose_dtype("int3")
