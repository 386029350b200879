"""Fillers, classifiers, sentence encoders: one interface test for each kind, fakes and real architectures alike."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from foilworks.core.hub.catalogue.registry import CLASSIFIER, ENCODER, FILLER, HELPERS
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Filler, PairClassifier, TextEncoder
from foilworks.core.hub.opening import open_helper
from tests.hub import folders

FILLERS = {
    "fake-mask": lambda folder: "fake-mask:",
    "mask bert": lambda folder: str(folders.masked_lm(folder / "bert")),
    "mask roberta": lambda folder: str(folders.masked_lm(folder / "roberta", roberta=True)),
}
CLASSIFIERS = {
    "fake-classifier": lambda folder: "fake-classifier:",
    "classifier": lambda folder: str(folders.classifier(folder / "nli")),
}
ENCODERS = {
    "sentence": lambda folder: str(folders.sentence_encoder(folder / "mean")),
    "sentence first": lambda folder: str(folders.sentence_encoder(folder / "first", "pooling_mode_cls_token")),
    "fake-words": lambda _: "fake-words:",
}
# Proved in tests/hub/test_text_to_text.py and test_detection.py.
SPANS = ("t5", "fake-t5", "detector", "fake-detector")
LINES = ("a man {} a red shirt", "{} opens the door", "a dog jumps on the {}", "a man {} a red shirt", "{}")
PAIRS = [("a man folds a shirt", "a man moves"), ("a ring", "a dog jumps on the table from left to right"), ("", "é")]


@pytest.fixture(params=FILLERS)
def filler(request: pytest.FixtureRequest, tmp_path: Path) -> Filler:
    return open_helper(FILLERS[request.param](tmp_path), FILLER, device="cpu")


@pytest.fixture(params=CLASSIFIERS)
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> PairClassifier:
    return open_helper(CLASSIFIERS[request.param](tmp_path), CLASSIFIER, device="cpu")


@pytest.fixture(params=ENCODERS)
def encoder(request: pytest.FixtureRequest, tmp_path: Path) -> TextEncoder:
    return open_helper(ENCODERS[request.param](tmp_path), ENCODER, device="cpu")


def blanks(filler: Filler) -> list[str]:
    return [line.format(filler.blank) for line in LINES]


def close(found, wanted):
    """The same words with the same log-probabilities, up to rounding."""
    assert [[fill.text for fill in row] for row in found] == [[fill.text for fill in row] for row in wanted]
    for row, other in zip(found, wanted, strict=True):
        assert [one.log_probability for one in row] == pytest.approx([one.log_probability for one in other], abs=1e-5)


def test_every_helper_of_the_table_is_tested_here() -> None:
    assert set(HELPERS) == {name.partition(" ")[0] for name in (*FILLERS, *CLASSIFIERS, *ENCODERS, *SPANS)}


def test_a_filler_gives_its_k_best_words_in_order(filler: Filler) -> None:
    for row in filler.fill(blanks(filler), 4):
        values = [fill.log_probability for fill in row]
        assert len(row) == 4
        assert values == sorted(values, reverse=True)
        assert sum(map(math.exp, values)) <= 1 + 1e-5
        assert {fill.text for fill in row} <= set(filler.words)


def test_a_filler_gives_the_same_in_a_batch_as_alone(filler: Filler) -> None:
    texts = blanks(filler)
    close(filler.fill(texts, 5), [filler.fill([text], 5)[0] for text in texts])


def test_a_filler_ranks_only_the_allowed_words(filler: Filler) -> None:
    allowed = sorted(filler.words)[:3]
    rows = filler.fill(blanks(filler), 3, allowed)
    assert all(sorted(fill.text for fill in row) == allowed for row in rows)
    assert filler.fill(blanks(filler), 3, []) == [[]] * len(LINES)
    assert filler.fill([], 3) == []


@pytest.mark.parametrize("count", [0, 2])
def test_a_text_without_exactly_one_blank_is_refused(filler: Filler, count: int) -> None:
    with pytest.raises(HubError, match=f"contains {count} blanks; write "):
        filler.fill(["a man" + f" {filler.blank}" * count], 3)


def test_every_text_has_one_loss(filler: Filler) -> None:
    texts = ["a man folds a shirt", "a ring", "a man folds a shirt"]
    losses = filler.self_losses(texts)
    assert losses == pytest.approx([filler.self_losses([text])[0] for text in texts], abs=1e-5)
    assert losses[0] == losses[2]
    assert min(losses) >= 0


def test_the_head_at_the_blank_equals_a_whole_forward_pass(tmp_path: Path) -> None:
    """Against the plain forward of the model, one text at a time, softmax over the whole vocabulary."""
    filler = open_helper(FILLERS["mask roberta"](tmp_path), FILLER, device="cpu")
    for text in blanks(filler):
        ids = filler.tokenizer(f" {text}", return_tensors="pt")["input_ids"]
        at = int((ids[0] == filler.tokenizer.mask_token_id).nonzero()[0, 0])
        with torch.inference_mode():
            wanted = torch.log_softmax(filler.model(input_ids=ids).logits[0, at].float(), dim=0)
        for fill in filler.fill([text], 3)[0]:
            (one,) = filler.tokenizer(f" {fill.text}", add_special_tokens=False)["input_ids"]
            assert fill.log_probability == pytest.approx(float(wanted[one]), abs=1e-5)


def test_equal_texts_run_once(tmp_path: Path) -> None:
    filler = open_helper(FILLERS["mask bert"](tmp_path), FILLER, device="cpu")
    seen: list[int] = []
    hook = filler.model.register_forward_pre_hook(
        lambda _, args, given: seen.append(len(given["input_ids"])), with_kwargs=True
    )
    filler.fill([text for text in blanks(filler) for _ in range(50)], 3)
    hook.remove()
    assert sum(seen) == len(set(LINES))


def test_candidates_are_whole_words_of_one_token(tmp_path: Path) -> None:
    bert = open_helper(FILLERS["mask bert"](tmp_path), FILLER, device="cpu")
    roberta = open_helper(FILLERS["mask roberta"](tmp_path), FILLER, device="cpu")
    assert {"man", "folds", "shirt", "lifting"} <= set(bert.words) & set(roberta.words)
    assert not any("#" in word or "[" in word for word in bert.words)
    # Byte pairs inside words ("ir" of "shirt") carry no mark of a beginning.
    assert "ir" not in roberta.words


def test_a_long_text_is_read_in_a_window_around_its_blank(tmp_path: Path) -> None:
    filler = open_helper(FILLERS["mask bert"](tmp_path), FILLER, device="cpu")
    long = "a ring " * 200 + filler.blank + " a shirt" * 200
    assert len(filler.fill([long], 2)[0]) == 2


def test_a_classifier_gives_one_row_of_probabilities_per_pair(judge: PairClassifier) -> None:
    rows = judge.probs(PAIRS)
    assert rows.shape == (3, len(judge.labels))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows.sum(1), 1, atol=1e-6)
    powers = np.exp(judge.logits(PAIRS))
    np.testing.assert_allclose(rows, powers / powers.sum(1)[:, None], atol=1e-6)
    assert len(judge.probs([])) == 0


def test_a_pair_gets_the_same_logits_in_a_batch_and_its_order_matters(judge: PairClassifier) -> None:
    together = judge.logits([*PAIRS, PAIRS[0]])
    for row, pair in zip(together, [*PAIRS, PAIRS[0]], strict=True):
        np.testing.assert_allclose(row, judge.logits([pair])[0], atol=1e-5)
    first, second = PAIRS[1]
    assert np.abs(judge.logits([(first, second)]) - judge.logits([(second, first)])).max() > 1e-4
    assert judge.logits([("a ring", None)]).shape == (1, len(judge.labels))


def test_labels_come_from_the_configuration(tmp_path: Path) -> None:
    folder = folders.classifier(tmp_path / "cola", ("unacceptable", "Acceptable"))
    assert open_helper(str(folder), CLASSIFIER, device="cpu").labels == ("unacceptable", "acceptable")


def test_an_encoder_gives_rows_of_length_one_that_do_not_depend_on_the_batch(encoder: TextEncoder) -> None:
    texts = [first for first, _ in PAIRS]
    rows = encoder.encode_text([*texts, texts[0]])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(rows[0], rows[-1])
    for row, text in zip(rows, texts, strict=False):
        np.testing.assert_allclose(row, encoder.encode_text([text])[0], atol=1e-5)
    assert len(encoder.encode_text([])) == 0


def test_the_folder_determines_the_pooling(tmp_path: Path) -> None:
    names = ("mean_tokens", "cls_token", "weightedmean_tokens")
    paths = [folders.sentence_encoder(tmp_path / name, f"pooling_mode_{name}") for name in names]
    rows = [open_helper(str(path), ENCODER, device="cpu").encode_text(["a man folds"]) for path in paths]
    assert min(np.abs(rows[at] - rows[at - 1]).max() for at in range(3)) > 1e-3


def test_a_helper_is_cached_until_its_folder_changes(tmp_path: Path) -> None:
    folder = folders.masked_lm(tmp_path / "bert")
    first = open_helper(str(folder), FILLER, device="cpu")
    assert open_helper(f"mask:{folder}", FILLER, device="cpu") is first
    torch.manual_seed(9)
    first.model.bert.embeddings.word_embeddings.weight.data.normal_()
    folders.saved(folder, first.model, first.tokenizer)
    again = open_helper(str(folder), FILLER, device="cpu")
    assert again is not first
    assert again.info.revision != first.info.revision
