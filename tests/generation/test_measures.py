"""What a filter's model measured of a pair of texts is measured once, for all runs, projects and thresholds."""

import numpy as np
import pytest
from django.db import connection

from foilworks.core.hub.adapters.fake import FakeClassifier
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.actions.runs import start_run
from generation.errors import GenerationError
from generation.models import FilterScore, Measure, Scorer
from generation.run_request import FoilRequest
from generation.thresholds.histograms import score_histograms
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.hub import folders

pytestmark = pytest.mark.django_db
TEXTS = [f"a man lifts {n} red circles" for n in range(12)]


@pytest.fixture
def asked(monkeypatch):
    """Every pair that a model was asked about."""
    pairs = []
    real = FakeClassifier.logits

    def noted(self, given):
        pairs.extend(given)
        return real(self, given)

    monkeypatch.setattr(FakeClassifier, "logits", noted)
    return pairs


def judged(texts=TEXTS, *, project=None, **params):
    project = project or make_project()
    for text in texts:
        make_caption(make_video(project), text)
    run = start_run(
        make_member(project, Role.RESEARCHER),
        project,
        FoilRequest(
            subtest=make_subtest(project),
            method="fake",
            params={"lexicon": "red:blue|green"} | {"foils": 2},
            filters={"identical": {}, "nli": {"model": "fake-classifier:", **params}},
        ),
    )
    run_now(run.job)
    return run


def verdicts(run, slug="nli"):
    rows = FilterScore.objects.filter(run=run, filter=slug).order_by("candidate__text")
    return list(rows.values_list("candidate__text", "score", "passed", "detail"))


def test_a_rerun_with_the_same_scorer_runs_no_model(asked):
    first = judged()
    assert len(asked) == 24
    again = judged()
    assert len(asked) == 24
    assert verdicts(again) == verdicts(first)
    assert (Scorer.objects.count(), Measure.objects.count()) == (1, 24)
    assert {score.measure_id for score in FilterScore.objects.filter(run=again, filter="nli")} == {
        score.measure_id for score in FilterScore.objects.filter(run=first, filter="nli")
    }
    assert not FilterScore.objects.filter(filter="identical", measure__isnull=False).exists()


def test_only_new_pairs_are_measured_and_another_threshold_measures_nothing(asked):
    judged()
    judged([*TEXTS, "a woman lifts a red ball"])
    assert len(asked) == 26
    strict, lax = judged(max_entailment=0.01), judged(max_entailment=0.99)
    assert len(asked) == 26
    assert [row[1] for row in verdicts(strict)] == [row[1] for row in verdicts(lax)]
    assert (sum(row[2] for row in verdicts(strict)), sum(row[2] for row in verdicts(lax))) != (24, 24)
    assert all(row[2] == (row[1] < 0.99) for row in verdicts(lax))


def test_another_model_is_another_scorer(asked, tmp_path):
    judged(TEXTS[:2])
    judged(TEXTS[:2], entailment=1)
    assert Scorer.objects.count() == 2
    # The operator may name a folder; its bytes are its name.
    project = make_project()
    make_caption(make_video(project), TEXTS[0])
    run = start_run(
        None,
        project,
        FoilRequest(
            subtest=make_subtest(project),
            method="fake",
            params={"lexicon": "red:blue"},
            filters={"nli": {"model": str(folders.classifier(tmp_path / "nli")), "device": "cpu"}},
        ),
    )
    run_now(run.job)
    newest = Scorer.objects.latest("pk")
    assert newest.params["model"].startswith("classifier:@")
    assert str(tmp_path) not in str(newest.params)


def test_a_repeated_pair_in_a_batch_is_measured_once(asked):
    judged([TEXTS[0]] * 3)
    assert len(asked) == 2
    assert FilterScore.objects.filter(filter="nli").count() == 6


def test_measures_survive_a_run_that_fails_before_storing_candidates(asked, monkeypatch):
    import generation.jobs as jobs

    real = jobs.store_batch

    def broken(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs, "store_batch", broken)
    with pytest.raises(KeyboardInterrupt):
        judged()
    monkeypatch.setattr(jobs, "store_batch", real)
    assert len(asked) == 24
    judged()
    assert len(asked) == 24


def test_the_histogram_of_a_runs_scores_uses_one_index(asked):
    run = judged()
    assert [one.slug for one in score_histograms(run)] == ["identical", "nli"]
    if connection.vendor != "sqlite":
        return
    rows = FilterScore.objects.filter(run=run, filter="nli").values_list("score", "passed")
    assert "USING COVERING INDEX scores_of_a_run" in rows.explain()


def test_a_model_without_a_number_fails_the_run_with_the_remedy(monkeypatch):
    monkeypatch.setattr(FakeClassifier, "probs", lambda self, pairs: np.full((len(pairs), 3), np.nan, np.float32))
    with pytest.raises(GenerationError, match="filter nli: the model returned no number for 'a man lifts 0 "):
        judged(TEXTS[:1])
    assert not Measure.objects.exists()
