"""Texts that begin alike, packed: the tree holds them all, and the numbers are those of a forward pass a text."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
)

from foilworks.core.hub.batching.packed_texts import PackedLM, Row, packed
from foilworks.core.hub.catalogue.registry import CLASSIFIER, FILLER, TEXT_SCORER
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.revisions import fingerprint
from tests.hub import folders

WIDE = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
TEXTS = [[0, 1, 2, 3], [0, 1, 2, 4, 5], [0, 1], [0, 7, 8, 9, 10, 11], [0, 1, 2], [3], [0, 7, 8, 9, 10, 11, 12], []]


def gpt2():
    config = GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=64, initializer_range=0.3)
    return GPT2LMHeadModel(config)


def llama():
    return LlamaForCausalLM(LlamaConfig(**WIDE, intermediate_size=32, initializer_range=0.3))


def opt():
    return OPTForCausalLM(OPTConfig(**WIDE, ffn_dim=32, word_embed_proj_dim=16, init_std=0.3))


def bloom():
    # Its positions are in the attention itself, by distance within the row: packing would move them.
    return BloomForCausalLM(BloomConfig(vocab_size=50, hidden_size=16, n_layer=2, n_head=2, initializer_range=0.3))


def made(build):
    torch.manual_seed(4)
    return build().eval()


def plain(model, ids):
    if len(ids) < 2:
        return 0.0
    with torch.inference_mode():
        rows = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0].double(), 1)
    return sum(float(rows[at, token]) for at, token in enumerate(ids[1:]))


@pytest.mark.parametrize("build", [gpt2, llama, opt])
def test_packed_sums_equal_one_forward_pass_per_text(build):
    model = made(build)
    lm = PackedLM.where_equal(model, range(5))
    assert lm is not None
    assert lm.sums(TEXTS) == pytest.approx([plain(model, ids) for ids in TEXTS], abs=1e-4)


def test_a_model_without_explicit_positions_is_not_packed():
    assert PackedLM.where_equal(made(bloom), range(5)) is None


@given(st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=20), st.integers(1, 12))
def test_the_tree_contains_every_text(texts, nodes):
    read = {}
    for row in packed(texts, nodes):
        assert len(row.tokens) <= max(nodes, *(len(texts[place]) for place, _ in row.texts))
        for place, guesses in row.texts:
            read[place] = [[*_beginning(row, row.guessers[at]), row.guessed[at]] for at in guesses]
    assert read == {at: [ids[:end] for end in range(2, len(ids) + 1)] for at, ids in enumerate(texts) if len(ids) > 1}


def _beginning(row: Row, node: int) -> list[int]:
    before = _beginning(row, row.parents[node]) if row.parents[node] >= 0 else []
    assert row.depths[node] == len(before)
    return [*before, row.tokens[node]]


def test_shared_beginnings_run_once():
    (row,) = packed([[0, *range(10), one] for one in range(10, 20)])
    assert len(row.tokens) == 11
    assert len(row.guessers) == 10 + 10


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {
        TEXT_SCORER: folders.causal_lm(root / "lm"),
        FILLER: folders.masked_lm(root / "mask"),
        CLASSIFIER: folders.classifier(root / "nli"),
    }


@pytest.mark.parametrize("role", [TEXT_SCORER, FILLER, CLASSIFIER])
def test_a_body_in_bfloat16_scores_nearly_the_same_under_another_revision(models, role):
    asked = {
        TEXT_SCORER: lambda helper: [one.value for one in helper.score(None, ["a man folds a shirt", "a dog"])],
        FILLER: lambda helper: [one.log_probability for one in helper.fill([f"a man {helper.blank} a shirt"], 5)[0]],
        CLASSIFIER: lambda helper: helper.probs([("a man folds", "a man tears")]).ravel().tolist(),
    }[role]
    exact, short = (open_helper(f"{models[role]}{tail}", role, device="cpu") for tail in ("", "?dtype=bfloat16"))
    found = asked(short)
    assert found != asked(exact)
    assert found == pytest.approx(asked(exact), abs=0.05)
    assert short.info.revision == f"{exact.info.revision} bfloat16"
    named = fingerprint(str(models[role]), role)
    assert fingerprint(f"{models[role]}?dtype=bfloat16", role) == f"{named}?dtype=bfloat16"


def test_the_error_names_an_unknown_format(models):
    with pytest.raises(HubError, match="dtype 'int3' is unknown; choose one of: float32, bfloat16, float16"):
        open_helper(f"{models[FILLER]}?dtype=int3", FILLER, device="cpu")
