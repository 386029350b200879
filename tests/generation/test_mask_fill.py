"""Masked filling with real models: one trained here on templated captions, and random ones for the mechanics."""

from pathlib import Path

import pytest
import torch

from foilworks.core.hub.interfaces import Fill
from generation import pipeline
from generation.errors import GenerationError
from generation.methods._fillers import Choice, vote
from generation.records import CaptionInput
from tests.generation.making import drafts, outcomes, skipped, step
from tests.generation.masked_world import captions, right_verbs, train

HELD_OUT = 300
TRAINED_ON = 2000


# One test process trains the model once for all of them.
pytestmark = pytest.mark.xdist_group("mask-fill")


@pytest.fixture(scope="module")
def world() -> list[tuple[str, str, str]]:
    return captions()


@pytest.fixture(scope="module")
def model(world, tmp_path_factory) -> str:
    # One thread: workers of a test run share the cores, and waiting threads cost more than they give.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield str(train(tmp_path_factory.mktemp("masked"), world[:TRAINED_ON]))
    torch.set_num_threads(threads)


def valid(verb: str, thing: str) -> set[str]:
    """The other verbs of the thing in the same form."""
    forms = right_verbs(thing)
    return set(forms if verb in forms else forms.values()) - {verb}


@pytest.mark.full
@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_the_best_word_for_a_verb_is_another_valid_verb_in_19_of_20_unseen_captions(world, model, mode):
    held_out = world[TRAINED_ON : TRAINED_ON + HELD_OUT]
    assert not {text for text, _, _ in held_out} & {text for text, _, _ in world[:TRAINED_ON]}
    given = [CaptionInput(str(at), text) for at, (text, _, _) in enumerate(held_out)]
    made = outcomes("mask_fill", given, mode=mode, model=model, device="cpu", foils=1, tagger="offline")
    best = [one.foils[0].draft if one.foils else None for one in made]
    right = [
        draft is not None and draft.target in valid(verb, thing) and draft.source == verb
        for draft, (_, verb, thing) in zip(best, held_out, strict=True)
    ]
    assert sum(right) >= 0.95 * HELD_OUT


def test_a_foil_records_its_model_words_and_probability(model):
    found = drafts("mask_fill", "a man folds a red shirt", model=model, device="cpu", foils=3, tagger="offline")
    assert [draft.rank for draft in found] == [0, 1, 2]
    assert found[0].foil == f"a man {found[0].target} a red shirt"
    assert found[0].model_id == Path(model).name
    assert len(found[0].model_revision) == 16
    assert (found[0].facts["from"], found[0].facts["form"], found[0].facts["votes"]) == ("folds", "VBZ", 1)
    probabilities = [draft.facts["probability"] for draft in found]
    assert probabilities == sorted(probabilities, reverse=True)


def test_mode_corrected_offers_only_other_words_of_the_same_form(model):
    made = drafts("mask_fill", "a man folds a red shirt", model=model, device="cpu", foils=99, top=99)
    assert {draft.facts["form"] for draft in made} == {"VBZ"}
    assert {draft.target for draft in made} <= {
        verb for thing in ("shirt", "apple", "car", "ball", "door") for verb in right_verbs(thing)
    } - {"folds"}
    paper = drafts("mask_fill", "a man folds a red shirt", model=model, device="cpu", foils=99, top=99, mode="paper")
    assert {"folding", "shirt"} <= {draft.target for draft in paper}
    assert "folds" not in {draft.target for draft in paper}


def test_words_can_be_limited_to_those_of_the_runs_captions(model):
    given = [CaptionInput("1", "a man folds a shirt"), CaptionInput("2", "a woman irons a dress")]
    made = outcomes("mask_fill", given, model=model, device="cpu", min_corpus=2, tagger="offline")
    assert [{judged.draft.target for judged in one.foils} for one in made] == [{"irons"}, {"folds"}]


def test_nouns_keep_their_number_and_articles_agree(model):
    made = drafts("mask_fill", "a man eats a carrot", model=model, device="cpu", target="object", foils=99, top=99)
    by_word = {draft.facts["to"]: draft.foil for draft in made}
    assert by_word["apple"] == "a man eats an apple"
    assert "men" not in by_word
    subjects = drafts("mask_fill", "two men are folding a dress", model=model, device="cpu", target="subject", foils=99)
    assert subjects
    assert {draft.source for draft in subjects} == {"men"}


def test_prompts_are_filled_instead_of_the_caption(model):
    made = drafts(
        "mask_fill",
        "two men are folding a red dress",
        model=model,
        device="cpu",
        target="object",
        foils=1,
        prompts="a man folds a {mask}; a man {verb} a {mask} outside",
        tagger="offline",
    )
    assert made[0].source == "dress"
    assert made[0].foil.startswith("two men are folding a red ")
    assert made[0].prompt_template
    with pytest.raises(GenerationError, match=r"has no {mask}; put it where the word belongs"):
        drafts("mask_fill", "a man folds a dress", model=model, device="cpu", prompts="a man folds")


def test_captions_without_the_wanted_word_are_skipped_with_the_reason(model):
    options = {"model": model, "device": "cpu", "tagger": "offline"}
    assert skipped("mask_fill", "a red shirt", **options) == "it has no verb that can be replaced"
    assert skipped("mask_fill", "a man folds a [MASK]", **options) == "it contains the model's mask token"
    # With nothing in use but the word itself, nothing can replace it.
    only = "the model offers no other word for 'folds'"
    assert skipped("mask_fill", "a man folds a shirt", **options, min_corpus=1) == only


def test_equal_blanks_of_a_batch_are_filled_once(model):
    method = step("mask_fill", model=model, device="cpu", tagger="offline")
    given = [CaptionInput(str(at), f"a man {verb} a shirt") for at, verb in enumerate(["folds", "irons"] * 20)]
    state = pipeline.prepare(method, given, mode="corrected", seed=0)
    rows: list[int] = []
    hook = state.fillers[0].model.register_forward_pre_hook(
        lambda _, args, inputs: rows.append(len(inputs["input_ids"])), with_kwargs=True
    )
    made = list(pipeline.run(method, given, mode="corrected", seed=0, state=state))
    hook.remove()
    assert sum(rows) == 1
    assert len({one.foils[0].draft.foil for one in made}) <= 2


def test_an_ensemble_counts_votes_above_a_probability_then_multiplies_them():
    """ln .5 = -.693, ln .2 = -1.609, ln .1 = -2.303, ln .005 = -5.298 (below .01: no vote)."""
    rows = [
        [Fill("cut", -0.693), Fill("eat", -1.609), Fill("peel", -5.298)],
        [Fill("eat", -0.693), Fill("cut", -2.303), Fill("peel", -0.693)],
        [Fill("wash", -0.693), Fill("eat", -2.303)],
    ]
    params = {"min_probability": 0.01, "min_votes": 2}
    # eat: three votes; cut: two; peel: one above .01; wash: one.
    assert [(choice.word, choice.votes) for choice in vote(rows, params)] == [("eat", 3), ("cut", 2)]
    assert vote(rows, params)[1].log_probability == pytest.approx((-0.693 - 2.303) / 2)
    three = vote(rows, {**params, "min_votes": 1})
    # Of one vote each, the more probable first; equal ones by the alphabet.
    assert [choice.word for choice in three] == ["eat", "cut", "peel", "wash"]
    assert vote(rows[:1], params)[2] == Choice("peel", -5.298, 1)


def test_several_models_vote(model):
    found = drafts("mask_fill", "a man folds a red shirt", model=f"{model}, {model}", device="cpu", foils=2)
    assert {draft.facts["votes"] for draft in found} == {2}
    assert found[0].model_id.count(Path(model).name) == 2


def test_wrong_parameters_are_named():
    with pytest.raises(GenerationError, match="parameter 'model' is empty"):
        drafts("mask_fill", "a man folds", model=" , ")
    with pytest.raises(GenerationError, match="'top' and 'foils' must be at least 1"):
        drafts("mask_fill", "a man folds", model="fake-mask:", top=0)


def test_verbs_and_objects_are_replaced_in_one_run_as_many_of_each():
    """Feint6K's 5 + 5; where there is no object the verbs are made all the same, and it is said."""
    options = {"model": "fake-mask:", "tagger": "offline", "target": "verb+object", "foils": 5, "top": 10}
    given = [CaptionInput("both", "a man throws a ball"), CaptionInput("one", "a man runs")]
    both, one = outcomes("mask_fill", given, **options)
    forms = [judged.draft.facts["form"] for judged in both.foils]
    verbs, things = forms.count("VBZ"), len(forms) - forms.count("VBZ")
    assert forms[:verbs] == ["VBZ"] * verbs
    assert 1 < verbs <= 5
    assert 1 < things <= 5
    assert [judged.draft.rank for judged in both.foils] == list(range(len(forms)))
    assert one.foils
    assert one.missing == ("it has no object that can be replaced",)
