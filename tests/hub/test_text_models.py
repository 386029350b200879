"""Text-only models: perplexity of encoder-decoders, and sentence encoders as sentence-transformers has them."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from foilworks.core.hub.adapters.sentence_encoder import instructed
from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter, open_helper
from tests.hub import folders

TEXTS = ["a man folds a red shirt", "a ring", "two boys are lifting a box on the table"]


def t5(folder: Path) -> Path:
    torch.manual_seed(21)
    tokenizer = folders.byte_tokenizer()
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        initializer_factor=0.5,
    )
    return folders.saved(folder, T5ForConditionalGeneration(config), tokenizer)


def bart(folder: Path) -> Path:
    torch.manual_seed(22)
    tokenizer = folders.byte_tokenizer()
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        init_std=0.3,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
    )
    return folders.saved(folder, BartForConditionalGeneration(config), tokenizer)


@pytest.mark.parametrize("make", [t5, bart])
def test_the_value_is_the_models_loss_of_reproducing_its_input(make, tmp_path: Path) -> None:
    adapter = open_adapter(f"seq2seq:{make(tmp_path / 'm')}", device="cpu")
    scores = adapter.score(None, TEXTS)
    for text, score in zip(TEXTS, scores, strict=True):
        ids = adapter.tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            loss = float(adapter.model(input_ids=ids, labels=ids).loss)
        assert score.value == pytest.approx(-loss, abs=1e-4)
        assert score.parts["sum"] == pytest.approx(-loss * ids.shape[1], abs=1e-3)
        assert score.parts["tokens"] == ids.shape[1]


def _saved_by_sentence_transformers(folder: Path, pooling: str, dense: bool) -> tuple[Path, np.ndarray]:
    """A folder as the package writes it, and the rows that the package gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

        body = Transformer(str(folders.sentence_encoder(folder / "body")))
        parts = [body, Pooling(16, pooling_mode=pooling), *([Dense(16, 8)] if dense else []), Normalize()]
        model = SentenceTransformer(modules=parts, device="cpu").eval()
        model.save(str(folder / "whole"))
        return folder / "whole", model.encode(TEXTS)


@pytest.mark.parametrize(("pooling", "dense"), [("mean", False), ("cls", False), ("lasttoken", True), ("max", False)])
def test_rows_equal_those_of_sentence_transformers(pooling: str, dense: bool, tmp_path: Path) -> None:
    folder, wanted = _saved_by_sentence_transformers(tmp_path, pooling, dense)
    encoder = open_helper(str(folder), ENCODER, device="cpu")
    np.testing.assert_allclose(encoder.encode_text(TEXTS), wanted, atol=1e-5)
    np.testing.assert_allclose(encoder.encode_text(TEXTS[2:])[0], wanted[2], atol=1e-5)


def test_the_error_names_parts_that_do_not_fit(tmp_path: Path) -> None:
    folder, _ = _saved_by_sentence_transformers(tmp_path, "mean", dense=True)
    save_file({"linear.weight": torch.zeros(8, 16)}, folder / "2_Dense/model.safetensors")
    with pytest.raises(HubError, match=r'for Dense: Missing key\(s\) in state_dict: "linear.bias"\); copy its files'):
        open_helper(str(folder), ENCODER, device="cpu")
    (folder / "2_Dense/model.safetensors").rename(folder / "2_Dense/pytorch_model.bin")
    with pytest.raises(HubError, match=r"2_Dense/pytorch_model.bin is not a safetensors file and is not loaded"):
        open_helper(str(folder), ENCODER, device="cpu")


def test_code_of_a_folder_is_not_run(tmp_path: Path) -> None:
    folder = folders.sentence_encoder(tmp_path / "m")
    (folder / "own.py").write_text("raise SystemExit('ran')\n")
    write_type(folder, 1, "own.Pooling")
    with pytest.raises(HubError, match="it needs code of its authors, which is not run"):
        open_helper(str(folder), ENCODER, device="cpu")


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    folder = folders.sentence_encoder(tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.0.output.other.bias"] = weights.pop("encoder.layer.0.output.dense.bias")
    weights["embeddings.word_embeddings.weight"] = torch.zeros(3, 16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    problems = (
        "missing encoder.layer.0.output.dense.bias; unexpected encoder.layer.0.output.other.bias; embeddings.word"
    )
    with pytest.raises(HubError, match=problems):
        open_helper(str(folder), ENCODER, device="cpu")


def test_a_folder_without_modules_has_mean_pooling_and_an_incomplete_copy_is_refused(tmp_path: Path) -> None:
    folder = folders.sentence_encoder(tmp_path / "m")
    rows = open_helper(str(folder), ENCODER, device="cpu").encode_text(TEXTS)
    (folder / "modules.json").unlink()
    with pytest.raises(HubError, match=r"modules.json: missing, but there is 1_Pooling; copy the whole folder again"):
        open_helper(str(folder), ENCODER, device="cpu")
    shutil.rmtree(folder / "1_Pooling")
    np.testing.assert_allclose(open_helper(str(folder), ENCODER, device="cpu").encode_text(TEXTS), rows, atol=1e-6)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(HubError, match=r"its tokenizer is missing; copy tokenizer.json into the folder"):
        open_helper(str(folder), ENCODER, device="cpu")


def test_an_encoder_without_a_transformer_is_refused(tmp_path: Path) -> None:
    folder = folders.sentence_encoder(tmp_path / "m")
    write_type(folder, 0, "sentence_transformers.models.Pooling")
    (folder / "config.json").write_text((folder / "1_Pooling/config.json").read_text())
    with pytest.raises(HubError, match="its first part Pooling is not supported; choose another model"):
        open_helper(str(folder), ENCODER, device="cpu")


def test_a_default_prompt_of_the_files_is_not_added(tmp_path: Path) -> None:
    folder = folders.sentence_encoder(tmp_path / "m")
    rows = open_helper(str(folder), ENCODER, device="cpu").encode_text(TEXTS)
    settings = {"prompts": {"query": "a man folds"}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    np.testing.assert_allclose(open_helper(str(folder), ENCODER, device="cpu").encode_text(TEXTS), rows, atol=1e-6)


def write_type(folder: Path, index: int, name: str) -> None:
    parts = json.loads((folder / "modules.json").read_text())
    parts[index]["type"] = name
    (folder / "modules.json").write_text(json.dumps(parts))


def test_an_instruction_precedes_the_text() -> None:
    """The template of (UTD, Sec. B.2)."""
    assert instructed("Given an activity, retrieve a video.", ["run"]) == [
        "Instruct: Given an activity, retrieve a video.\nQuery: run"
    ]
    assert instructed("", ["run"]) == ["run"]
