"""Prepositions ranked by a real text-to-text model, and foils kept to the captions' own frequencies."""

from collections import Counter

import pytest

from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.hub.catalogue.registry import SPAN_FILLER
from foilworks.core.hub.opening import open_helper
from foilworks.core.jobs.queue import retry
from foilworks.core.jobs.runner import run_now
from generation import batch_storage, pipeline
from generation.actions.runs import start_run
from generation.filters import frequency_clipping
from generation.methods import _preposition_ranking
from generation.models import Candidate, CandidateGroup, FilterScore
from generation.records import CaptionInput
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_project, make_subtest, make_video
from tests.generation.making import drafts, outcomes, step
from tests.hub import folders

CORPUS = (*folders.CORPUS, "someone is under behind above below inside outside in front of over across into out off")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return str(folders.text_to_text(tmp_path_factory.mktemp("t5") / "model", CORPUS, steps=0))


def test_the_most_likely_prepositions_come_first(model):
    caption = "a dog jumps on the table"
    made = drafts("preposition", caption, model=model, device="cpu", top=3)
    scorer = open_helper(model, SPAN_FILLER, device="cpu")
    every = [draft.target for draft in drafts("preposition", caption, top=100, model=model, device="cpu")]
    values = dict(
        zip(every, scorer.span_scores([("a dog jumps <extra_id_0> the table", one) for one in every]), strict=True)
    )
    assert [draft.target for draft in made] == sorted(every, key=lambda one: -values[one])[:3]
    assert [draft.facts["log_likelihood"] for draft in made] == [
        pytest.approx(values[draft.target], abs=1e-4) for draft in made
    ]
    assert made[0].facts["ranking"].startswith("by a language model")
    assert (made[0].model_id, made[0].model_revision) == (scorer.info.model_id, scorer.info.revision)


def test_mode_paper_ranks_by_the_perplexity_of_the_sentence_with_a_subject(model):
    made = drafts("preposition", "Lifting a box on the table", model=model, device="cpu", top=2, mode="paper")
    scorer = open_helper(model, SPAN_FILLER, device="cpu")
    every = [draft.foil for draft in drafts("preposition", "Lifting a box on the table", top=100, mode="paper")]
    values = {foil: scorer.score(None, [f"someone lifting{foil.removeprefix('Lifting')}"])[0].value for foil in every}
    assert [draft.foil for draft in made] == sorted(every, key=lambda one: -values[one])[:2]
    assert not any("someone" in draft.foil for draft in made)


@pytest.mark.parametrize(
    ("text", "always", "asked"),
    [
        ("rolling a can", False, "someone rolling a can"),
        ("Rolling a can", False, "someone rolling a can"),
        ("a man rolls a can", False, "a man rolls a can"),
        ("A man rolls a can", True, "someone a man rolls a can"),
    ],
)
def test_a_subject_is_inserted_before_a_text_that_begins_with_its_verb(text, always, asked):
    assert _preposition_ranking._with_subject(text, always=always) == asked


def test_a_whole_phrase_keeps_its_opposite_and_pairs_need_no_model(model):
    (made,) = drafts("preposition", "a red circle moves from left to right", model=model, device="cpu")
    assert made.foil == "a red circle moves from right to left"
    (made,) = drafts("preposition", "it moves up", pairs="up:down", model="no/such/model")
    assert made.facts["ranking"] == "the exact opposite; nothing to rank"


def test_batches_do_not_change_the_ranking(model):
    captions = [CaptionInput(f"c{n}", text) for n, text in enumerate(["a dog on a box", "a ring", "a man in a box"])]
    one = outcomes("preposition", captions, model=model, device="cpu", batch_size=1)
    assert [[judged.draft.foil for judged in outcome.foils] for outcome in one] == [
        [judged.draft.foil for judged in outcome.foils]
        for outcome in outcomes("preposition", captions, model=model, device="cpu")
    ]


def clipping(captions, relations="corrected"):
    params = {"relations": relations}
    return pipeline.Step("clip", frequency_clipping, params, frequency_clipping.prepare(captions, params=params))


def clipped(captions, mode="corrected", **params):
    method, clip = step("preposition", **params), clipping(captions, mode)
    state = pipeline.prepare(method, captions, mode=mode, seed=0)
    return list(pipeline.run(method, captions, filters=[clip], mode=mode, seed=0, state=state, batch_size=7))


def test_a_run_of_an_older_version_uses_the_first_reading():
    captions = [CaptionInput("1", "a cat sleeps on a box")]
    assert frequency_clipping.prepare(captions, params={}).mode == "corrected"


def test_no_preposition_is_in_more_foils_than_captions():
    captions = [CaptionInput(f"on{n}", f"cat {n} sleeps on a table") for n in range(30)]
    captions += [CaptionInput(f"under{n}", f"cat {n} sleeps under a table") for n in range(12)]
    captions += [CaptionInput(f"next{n}", f"cat {n} sleeps next to a table") for n in range(3)]
    found = clipped(captions, top=4, min_corpus=1)
    kept = [judged.draft.target for one in found for judged in one.foils if not judged.rejected_by]
    assert kept
    counts = Counter(kept)
    # All 12 under a table may take "on". "under" has 12 of 45 captions: of the first 30, which could take it,
    # 12 * 30 / 45 = 8 may. "next to" is in 3 captions.
    assert counts == {"on": 12, "under": 8, "next to": 3}
    rejected = [judged for one in found for judged in one.foils if judged.rejected_by]
    assert "captions" in rejected[0].verdicts["clip"].detail


def test_mode_paper_counts_the_prepositions_of_its_foils():
    """The word “with” is drawn there, and is no relation of space to mode corrected."""
    captions = [CaptionInput("cup", "a cup on a table"), CaptionInput("pen", "a pen on a book")]
    captions.append(CaptionInput("man", "a man with a hat"))
    found = clipped(captions, mode="paper", top=100, min_corpus=1)
    foils = {judged.draft.foil: judged for one in found for judged in one.foils}
    # One of three captions has it.
    assert foils["a cup with a table"].rejected_by == ()
    assert foils["a pen with a book"].verdicts["clip"].detail == "'with' occurs in 1 foils and 1 captions"


def test_clipping_judges_only_foils_that_passed_every_other_filter():
    """A rejected foil takes no place of the preposition's share."""
    captions = [CaptionInput("a", "a cat on a box"), CaptionInput("b", "a cat under a box")]

    class NothingOfA:
        VERSION, COSTLY = "1", True

        @staticmethod
        def judge(caption, foil, *, others, params):
            return pipeline.Verdict(caption.id != "a", None, "because")

    clip = clipping(captions)
    strict = pipeline.Step("strict", NothingOfA, {})
    method = step("preposition", min_corpus=1)
    state = pipeline.prepare(method, captions, mode="corrected", seed=0)
    first, second = pipeline.run(
        method, captions, filters=[clip, strict], mode="corrected", seed=0, state=state, batch_size=9
    )
    assert first.foils[0].rejected_by == ("strict",)
    assert "clip" not in first.foils[0].verdicts
    assert second.foils[0].rejected_by == ()


@pytest.mark.django_db
def test_a_killed_run_clips_like_an_uninterrupted_one(monkeypatch):
    monkeypatch.setattr("generation.jobs.BATCH", 5)
    project = make_project()
    for n in range(12):
        make_caption(make_video(project), f"cat {n} sleeps {'on' if n % 3 else 'under'} a box")
    runs = []
    for name in ("whole", "killed"):
        subtest = make_subtest(project, name=name)
        options = {"params": {"min_corpus": 1, "top": 1}, "filters": {"frequency_clipping": {}}}
        runs.append(start_run(None, project, FoilRequest(subtest=subtest, method="preposition", **options)))
    run_now(runs[0].job)
    real, calls = batch_storage.store_batch, []

    def stops(*args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        real(*args)

    monkeypatch.setattr("generation.jobs.store_batch", stops)
    with pytest.raises(KeyboardInterrupt):
        run_now(runs[1].job)
    monkeypatch.setattr("generation.jobs.store_batch", real)
    retry(runs[1].job)
    run_now(runs[1].job)
    told = [
        list(Candidate.objects.filter(group__run=run).order_by("id").values_list("text", "state", "rejected_by"))
        for run in runs
    ]
    assert told[0] == told[1]
    assert {state for _, state, _ in told[0]} == {CandidateState.QUEUED, CandidateState.FILTERED_OUT}
    assert CandidateGroup.objects.filter(run=runs[1]).count() == 12
    assert FilterScore.objects.filter(candidate__group__run=runs[1]).count() == 12
