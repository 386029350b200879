"""Text-to-text models as fillers of spans: what a span costs is what the search says, alone or beside others."""

import math

import pytest
import torch
from transformers import T5ForConditionalGeneration

from foilworks.core.hub.catalogue.registry import SPAN_FILLER
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Scorer, SpanFiller
from foilworks.core.hub.opening import open_helper
from tests.hub import folders

TEXTS = ("a man <extra_id_0> a red shirt", "<extra_id_0> opens the door", "a dog jumps on <extra_id_0>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folders.text_to_text(tmp_path_factory.mktemp("t5") / "model")


@pytest.fixture(scope="module")
def model(folder) -> SpanFiller:
    return open_helper(str(folder), SPAN_FILLER, device="cpu")


def test_it_fills_spans_and_scores_texts(model):
    assert isinstance(model, SpanFiller)
    assert isinstance(model, Scorer)
    assert model.info.needs_video is False


def test_spans_are_distinct_and_ranked_by_their_own_log_probability(model):
    for text, row in zip(TEXTS, model.fill_spans(TEXTS, 8, beams=8, longest=3), strict=True):
        assert row
        assert [fill.log_probability for fill in row] == sorted((fill.log_probability for fill in row), reverse=True)
        assert len({fill.text for fill in row}) == len(row) <= 8
        assert all(len(fill.text.split()) <= 3 for fill in row)
        alone = model.span_scores([(text, fill.text) for fill in row])
        assert [fill.log_probability for fill in row] == pytest.approx(alone, abs=1e-4)


def test_a_span_is_filled_and_scored_the_same_in_a_batch_as_alone(model):
    together = model.fill_spans([*TEXTS, TEXTS[0]], 3, beams=6)
    assert together[3] == together[0]
    for text, row in zip(TEXTS, together, strict=False):
        (alone,) = model.fill_spans([text], 3, beams=6)
        assert [fill.text for fill in alone] == [fill.text for fill in row]
    pairs = [(TEXTS[0], "opens"), (TEXTS[1], "two boys"), (TEXTS[0], "opens")]
    scores = model.span_scores(pairs)
    assert scores[2] == scores[0]
    assert scores == pytest.approx([model.span_scores([pair])[0] for pair in pairs], abs=1e-4)


def test_a_text_scores_like_the_loss_of_transformers(model, folder):
    text = "a woman opens the door"
    own = T5ForConditionalGeneration.from_pretrained(folder).eval()
    ids = torch.tensor([model.tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        loss = float(own(input_ids=ids, labels=ids).loss)
    (score,) = model.score(None, [text])
    assert score.value == pytest.approx(-loss, abs=1e-5)
    assert score.parts["tokens"] == 6
    assert score.parts["sum"] == pytest.approx(-6 * loss, abs=1e-4)


def test_long_texts_are_cut_around_their_blank(model):
    long = " ".join(["a dog"] * 100)
    (row,) = model.fill_spans([f"{long} <extra_id_0> {long}"], 2, beams=4)
    assert all(math.isfinite(fill.log_probability) for fill in row)


@pytest.mark.parametrize("text", ["a man", "a <extra_id_0> b <extra_id_0>"])
def test_a_text_needs_exactly_one_blank(model, text):
    with pytest.raises(HubError, match="write <extra_id_0> exactly once"):
        model.fill_spans([text], 1, beams=1)


def test_spans_need_as_many_beams(model):
    with pytest.raises(HubError, match="5 spans need at least as many beams, not 4"):
        model.fill_spans(TEXTS, 5, beams=4)


def test_a_model_without_sentinels_is_refused(tmp_path):
    torch.manual_seed(0)
    tokenizer = folders.word_tokenizer()
    config = folders.T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    folders.saved(tmp_path / "m", T5ForConditionalGeneration(config), tokenizer)
    with pytest.raises(HubError, match="has no <extra_id_0>"):
        open_helper(str(tmp_path / "m"), SPAN_FILLER, device="cpu")
