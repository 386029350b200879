"""A classifier in batches through oneDNN agrees with a plain model that is asked one pair at a time."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, DebertaV2Config, DebertaV2ForSequenceClassification

from foilworks.core.hub.catalogue.registry import CLASSIFIER
from foilworks.core.hub.loading.onednn import OneDnnLinear, has_onednn, use_onednn
from foilworks.core.hub.opening import open_helper
from generation.filters import nli
from generation.records import CaptionInput, Case
from tests.hub import folders

WORDS = ("a", "man", "woman", "opens", "closes", "the", "door", "slowly")
PAIRS = [
    ("a man opens the door", " ".join(np.random.default_rng(seed).choice(WORDS, 8 + seed % 5))) for seed in range(40)
]


@torch.inference_mode()
def one_at_a_time(folder: str, tokenizer) -> np.ndarray:
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    rows = [model(**tokenizer(*pair, return_tensors="pt")).logits[0].softmax(0) for pair in PAIRS]
    return torch.stack(rows).numpy()


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(folders.classifier(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def deberta(tmp_path_factory, bert):
    """Return a classifier whose attention is not the one of BERT."""
    torch.manual_seed(1)
    tokenizer = open_helper(bert, CLASSIFIER, device="cpu").tokenizer
    config = DebertaV2Config(
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        num_labels=3,
        id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
        **folders.SIZES,
    )
    model = DebertaV2ForSequenceClassification(config)
    return str(folders.saved(tmp_path_factory.mktemp("deberta"), model, tokenizer))


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_batches_through_onednn_agree_with_one_pair_at_a_time(kind, request):
    folder = request.getfixturevalue(kind)
    judge = open_helper(folder, CLASSIFIER, device="cpu")
    plain = one_at_a_time(folder, judge.tokenizer)
    assert any(isinstance(layer, OneDnnLinear) for layer in judge.model.modules()) == has_onednn()
    np.testing.assert_allclose(judge.probs(PAIRS), plain, rtol=1e-4, atol=1e-6)


def test_the_filter_decides_as_one_pair_at_a_time(bert):
    tokenizer = open_helper(bert, CLASSIFIER, device="cpu").tokenizer
    plain = one_at_a_time(bert, tokenizer)
    params = {"model": bert, "device": "cpu", "entailment": 0, "max_entailment": float(np.median(plain[:, 0])) + 1e-4}
    found = nli.measure_many([Case(CaptionInput("a", caption), foil) for caption, foil in PAIRS], params=params)
    kept = [nli.verdict(measure, params=params).passed for measure in found]
    assert kept == [bool(row[0] < params["max_entailment"]) for row in plain]
    assert len(set(kept)) == 2, "the bar separates the pairs"
    assert [measure["likeliest"] for measure in found] == [float(row.argmax() == 0) for row in plain]


def test_layers_in_other_formats_stay_as_they_are():
    body = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, dtype=torch.bfloat16))
    assert use_onednn(body) == int(has_onednn())
    assert type(body[1]) is torch.nn.Linear
