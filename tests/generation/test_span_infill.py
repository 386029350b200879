"""Span infilling and its tuning with real models: a text-to-text model taught here on templated captions."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from foilworks.core.hub.catalogue.registry import SPAN_FILLER
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.training.text_to_text import SpanTraining, Text, corrupted, random_spans, tune
from foilworks.core.text.language.tools import tagger
from generation.errors import GenerationError
from generation.grammar.spans import fitted, inflected, stopped_by, verb_spans
from generation.records import CaptionInput
from tests.generation.making import drafts, outcomes, skipped
from tests.generation.masked_world import captions, right_verbs
from tests.hub import folders

pytestmark = pytest.mark.xdist_group("span-infill")
HELD_OUT = 60


@pytest.fixture(scope="module")
def world():
    return [(text, verb, thing) for text, verb, thing in captions() if len(text.split()) < 8]


def untuned(folder: Path, world) -> Path:
    """A small T5 that knows the world's words and what a blank is, and nothing else."""
    torch.manual_seed(0)
    tokenizer = folders.span_tokenizer([text for text, _, _ in world], longest=32)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        dropout_rate=0.0,
    )
    return folders.saved(folder, T5ForConditionalGeneration(config), tokenizer)


def texts_of(world) -> list[Text]:
    tags = tagger("offline")
    return [
        Text(text, tuple((one.start, one.end) for one in verb_spans(tags.tag(text), "verb", "first")))
        for text, _, _ in world
    ]


@pytest.fixture(scope="module")
def models(world, tmp_path_factory):
    """(before tuning, after tuning)"""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("tuned")
    base = untuned(root / "base", world)
    plan = SpanTraining(epochs=3, batch=32, learning_rate=5e-3, verb_share=0.8)
    for _ in tune(str(base), texts_of(world[:1500]), plan, root / "work", device="cpu"):
        pass
    yield str(base), str(root / "work/model")
    torch.set_num_threads(threads)


def valid_share(model: str, held_out) -> float:
    """Of the first fillings of each held-out caption's verb: how many are another verb of its object in its form."""
    scorer = open_helper(model, SPAN_FILLER, device="cpu")
    blanks = [text.replace(f" {verb} ", " <extra_id_0> ", 1) for text, verb, _ in held_out]
    rows = scorer.fill_spans(blanks, 4, beams=8, longest=3)
    good = 0
    for row, (_, verb, thing) in zip(rows, held_out, strict=True):
        forms = right_verbs(thing)
        valid = set(forms if verb in forms else forms.values())
        good += sum(fill.text in valid for fill in row[:2])
    return good / (2 * len(held_out))


@pytest.mark.full
def test_tuning_raises_the_share_of_valid_verb_phrases_on_held_out_captions(world, models, record_property):
    held_out = world[1500 : 1500 + HELD_OUT]
    before, after = (valid_share(model, held_out) for model in models)
    record_property("valid_before_and_after", (before, after))
    assert before < 0.2
    assert after > 0.8


def test_foils_are_verb_phrases_in_the_original_form(world, models):
    given = [CaptionInput(f"c{at}", text) for at, (text, _, _) in enumerate(world[1500:1520])]
    asked = {"model": models[1], "device": "cpu", "beams": 8, "top": 8, "pattern": "verb"}
    made = outcomes("span_infill", given, **asked)
    assert sum(bool(one.foils) for one in made) >= 18
    assert [[judged.draft for judged in one.foils] for one in outcomes("span_infill", given, **asked)] == [
        [judged.draft for judged in one.foils] for one in made
    ]
    assert [[judged.draft.foil for judged in one.foils] for one in made] == [
        [judged.draft.foil for judged in one.foils] for one in outcomes("span_infill", given, batch_size=3, **asked)
    ]
    for one, (_, verb, _) in zip(made, world[1500:1520], strict=True):
        for rank, judged in enumerate(one.foils):
            draft = judged.draft
            assert (draft.source, draft.rank) == (verb, rank)
            assert draft.target.endswith("ing") == verb.endswith("ing")
            assert draft.model_id == "model"
            assert draft.model_revision


def run_to(base, texts, plan, folder, stop=None):
    losses = []
    for step, loss in tune(str(base), texts, plan, folder, device="cpu"):
        losses.append((step, loss))
        if step == stop:
            break
    return losses


def test_a_killed_and_resumed_training_ends_with_the_same_weights(world, tmp_path):
    base = untuned(tmp_path / "base", world[:200])
    texts = texts_of(world[:40])
    plan = SpanTraining(epochs=2, batch=8, learning_rate=1e-3, checkpoint_every=3, seed=4)
    whole = run_to(base, texts, plan, tmp_path / "whole")
    # Killed behind step 5: step 3's checkpoint is what is left.
    first = run_to(base, texts, plan, tmp_path / "killed", stop=5)
    rest = run_to(base, texts, plan, tmp_path / "killed")
    assert [step for step, _ in rest] == list(range(4, 11))
    assert first[:3] + rest == whole
    weights = [(tmp_path / name / "model/model.safetensors").read_bytes() for name in ("whole", "killed")]
    assert weights[0] == weights[1]


def test_masked_spans_are_in_the_target():
    source, target = corrupted([5, 6, 7, 8, 9], [(1, 2), (3, 5)], [90, 91, 92], 1)
    assert source == [5, 90, 7, 91, 1]
    assert target == [90, 6, 91, 8, 9, 92, 1]


def test_random_spans_are_disjoint_and_cover_about_their_share():
    counts = []
    for seed in range(300):
        spans = random_spans(40, 0.15, 3.0, np.random.default_rng(seed))
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(one[1] < other[0] for one, other in pairwise(spans))
        assert 0 <= edges[0] < edges[-1] <= 40
        counts.append(sum(last - first for first, last in spans))
    assert set(counts) == {6}
    # Every place is taken out sometimes, the first and the last too.
    rng = np.random.default_rng(0)
    taken = {at for _ in range(400) for first, last in random_spans(6, 0.15, 3.0, rng) for at in range(first, last)}
    assert taken == set(range(6))
    assert random_spans(1, 0.15, 3.0, rng) == [(0, 1)]
    assert random_spans(0, 0.15, 3.0, rng) == []


def spans(text, patterns="both", which="first"):
    return [(one.text, one.form, one.pattern) for one in verb_spans(tagger("offline").tag(text), patterns, which)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a man jumps over a fence", [("jumps over", "VBZ", "verb_preposition"), ("jumps", "VBZ", "verb")]),
        ("a man folds a shirt", [("folds", "VBZ", "verb")]),
        ("looking at a cup", [("looking at", "VBG", "verb_preposition"), ("looking", "VBG", "verb")]),
        ("a red cup", []),
    ],
)
def test_verb_phrases_match_the_papers_patterns(text, found):
    assert spans(text) == found


def test_a_filling_fits_if_its_form_fits():
    (span,) = verb_spans(tagger("offline").tag("a man folds a shirt"), "verb", "first")
    assert fitted(span, "irons") == "irons"
    assert fitted(span, "Looks At") == "looks at"
    assert fitted(span, "climbs up on") == "climbs up on"
    for wrong in ("ironing", "iron", "folds", "red", "irons a", "irons the red", "", "irons, then", "runs and"):
        assert fitted(span, wrong) == ""
    (going,) = verb_spans(tagger("offline").tag("cutting a keyboard"), "verb", "first")
    assert inflected(going, "type on") == "typing on"
    assert inflected(going, "typing") == ""


def test_stop_lists_stop_every_form():
    assert stopped_by("uses", frozenset({"generic"})) == "uses"
    assert stopped_by("holding on", frozenset({"touching"})) == "holding"
    assert stopped_by("types on", frozenset({"generic", "touching"})) == ""
    assert stopped_by("jumps and", frozenset({"conjunctions"})) == "and"
    assert stopped_by("sees him", frozenset({"pronouns"})) == "him"
    assert stopped_by("sees him", frozenset({"conjunctions"})) == ""


class TestFake:
    def test_a_prompt_replaces_all_text_before_the_blank(self):
        made = drafts("span_infill", "cutting a keyboard", model="fake-t5:", prompt="a person can {span}", foils=9)
        assert [draft.foil for draft in made] == ["sleeping a keyboard"]
        assert made[0].prompt_template == "a person can {span}"

    def test_mode_paper_takes_all_spans_of_the_model_except_stop_lists(self):
        paper = {
            draft.target
            for draft in drafts("span_infill", "a man folds a shirt", model="fake-t5:", mode="paper", foils=20)
        }
        assert paper == {"climbs", "climbing", "jumps over", "jumping over", "walks", "uses", "sleep"}
        found = {
            draft.target
            for draft in drafts("span_infill", "a man folds a shirt", model="fake-t5:", foils=20, stop="generic")
        }
        assert found == {"climbs", "jumps over", "walks"}

    def test_capitals_and_articles_are_corrected(self):
        (first, *_) = drafts("span_infill", "Folding a shirt.", model="fake-t5:", foils=1)
        assert first.target[0].isupper()
        assert first.foil.endswith(" a shirt.")

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"top": 60}, "as many beams"),
            ({"foils": 0}, "'foils'"),
            ({"prompt": "a person can"}, "has no {span}"),
            ({"stop": "nouns"}, "nouns is not a list"),
        ],
    )
    def test_a_wrong_parameter_is_named(self, params, message):
        with pytest.raises(GenerationError, match=message):
            drafts("span_infill", "a man folds a shirt", model="fake-t5:", **params)

    def test_a_caption_without_a_verb_is_skipped(self):
        assert skipped("span_infill", "a red cup", model="fake-t5:") == "it has no verb phrase with the pattern"
        assert "mask token" in skipped("span_infill", "a man <extra_id_0> a cup", model="fake-t5:")
