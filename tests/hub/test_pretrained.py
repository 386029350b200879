"""Folders that do not fit are refused in one line that names what is wrong."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import CONFIG_MAPPING

from foilworks.core.hub.catalogue.registry import FILLER
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.loading.pretrained import token_batches
from foilworks.core.hub.opening import open_adapter, open_helper
from tests.hub import folders, generative_folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folders.masked_lm(tmp_path / "model")


def change(folder: Path, how: str) -> None:
    tensors = load_file(folder / "model.safetensors")
    name = "bert.encoder.layer.1.output.dense.bias"
    if how == "missing":
        del tensors[name]
    elif how == "renamed":
        tensors["bert.encoder.layer.1.output.thick.bias"] = tensors.pop(name)
    elif how == "reshaped":
        tensors[name] = torch.zeros(3)
    else:
        tensors["bert.encoder.layer.9.bias"] = torch.zeros(2)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("missing", "missing bert.encoder.layer.1.output.dense.bias"),
        (
            "renamed",
            "missing bert.encoder.layer.1.output.dense.bias; unexpected bert.encoder.layer.1.output.thick.bias",
        ),
        ("reshaped", r"bert.encoder.layer.1.output.dense.bias is \(3,\), not \(16,\)"),
        ("unexpected", "unexpected bert.encoder.layer.9.bias"),
    ],
)
def test_the_error_names_tensors_that_do_not_fit(folder: Path, how: str, said: str) -> None:
    change(folder, how)
    with pytest.raises(HubError, match=f"model: {said}; these weights are not of the model"):
        open_helper(str(folder), FILLER)


def test_pretraining_heads_are_ignored(folder: Path) -> None:
    """bert-base-uncased and roberta-base carry them."""
    tensors = load_file(folder / "model.safetensors")
    tensors["bert.pooler.dense.weight"] = torch.zeros(16, 16)
    tensors["cls.seq_relationship.bias"] = torch.zeros(2)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert open_helper(str(folder), FILLER).words


def test_a_model_with_another_head_is_not_a_classifier(folder: Path) -> None:
    with pytest.raises(HubError, match=r"missing classifier.bias"):
        open_helper(f"classifier:{folder}", FILLER)


def test_a_folder_without_weights_gives_one_message(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    wanted = f"{folder}: the weights are missing; copy model.safetensors into the folder"
    with pytest.raises(HubError) as caught:
        open_helper(str(folder), FILLER)
    assert str(caught.value) == wanted
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(HubError, match=r"missing \(pytorch_model.bin is not a safetensors file and is not loaded; the"):
        open_helper(str(folder), FILLER)


@pytest.mark.parametrize("content", [b"", b"\x00\xffgarbage", b'{"model_type": "bert"'])
def test_files_of_garbage_are_refused(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(HubError, match=r"model: the model cannot be loaded \(.*copy its files again"):
        open_helper(str(folder), FILLER)


def test_a_configuration_that_is_missing_or_unknown(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "zyzzyva"}))
    with pytest.raises(HubError, match="the model cannot be loaded"):
        open_helper(str(folder), FILLER)
    (folder / "config.json").unlink()
    with pytest.raises(HubError, match=r"config.json: missing; give the folder that save_pretrained wrote"):
        open_helper(str(folder), FILLER)


def test_a_configuration_with_impossible_values_is_named_before_the_weights(tmp_path: Path) -> None:
    config = CONFIG_MAPPING["dots3_note"]()
    config.text_config.num_key_value_heads = 3
    config.save_pretrained(tmp_path)
    with pytest.raises(HubError, match=r"validate_architecture.*copy its files again"):
        open_adapter(f"vlm:{tmp_path}", device="cpu")


def test_a_missing_tokenizer_is_named(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(HubError, match=r"its tokenizer is missing; copy tokenizer.json into the folder"):
        open_helper(str(folder), FILLER)


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HubError, match="nowhere: there is no such model folder"):
        open_helper(str(tmp_path / "nowhere"), FILLER)
    with pytest.raises(HubError, match=r"no-such/model: the model cannot be loaded .* check its name"):
        open_helper("no-such/model", FILLER)
    with pytest.raises(HubError, match="'mask:' names no model; write mask:HUB_ID or mask:FOLDER"):
        open_helper("mask:", FILLER)


def test_a_model_that_is_not_a_dual_encoder_is_refused(folder: Path) -> None:
    with pytest.raises(HubError, match="is not an image-text dual encoder"):
        open_adapter(f"clip:{folders.sentence_encoder(folder.parent / 'sentence')}")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("?pooling=max", "pooling is 'max'; choose one of: features, logits"),
        ("?frames=0", "frames is '0'; give a whole number from 1 to 1024"),
        ("?crops=2", "option 'crops' is unknown; it takes: frames, pooling"),
    ],
)
def test_options_of_clip_are_checked(tmp_path: Path, options: str, said: str) -> None:
    with pytest.raises(HubError, match=said.replace("?", r"\?")):
        open_adapter(f"clip:anything{options}")


def test_batches_contain_every_text_once_within_the_budget() -> None:
    lengths = [3, 9, 1, 7, 7, 40, 2]
    batches = list(token_batches(lengths, torch.device("cpu"), budget=20))
    assert sorted(at for batch in batches for at in batch) == list(range(7))
    # 40 alone is over the budget and goes by itself; 2 x 9 fits, 3 x 9 does not.
    assert batches == [[5], [1, 3], [4, 0], [6, 2]]


def test_the_voice_of_an_omni_model_is_left_out(tmp_path: Path) -> None:
    for family in ("qwen2_5_omni_thinker", "qwen3_omni_moe_thinker"):
        folder = generative_folders.FAMILIES[family](tmp_path / family)
        assert json.loads((folder / "config.json").read_text())["model_type"] == family.removesuffix("_thinker")
        adapter = open_adapter(f"vlm:{folder}?frames=4", device="cpu")
        assert adapter.model.config.model_type == family
        assert not [name for name, _ in adapter.model.named_parameters() if "talker" in name]
