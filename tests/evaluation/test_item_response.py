"""Item response theory: planted parameters are recovered with their intervals, and the report says what it cannot."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.models import Stage
from evaluation.analyses import item_response as report
from evaluation.analyses.analysis_inputs import Votes
from evaluation.errors import EvaluationError
from evaluation.metrics.item_response import Estimates, fit, respondents_needed
from evaluation.reports.reports import project_report
from tests.annotation.world import make_world, new_key, shown_as

FEW = {"draws": 200, "burn": 80}


def planted(respondents: int, items: int, seed: int, answers: int = 1):
    """Slope, easiness and ability from the priors, with simulated answers."""
    rng = np.random.default_rng(seed)
    slope, easiness, ability = rng.normal(1, 1, items), rng.normal(0, 2, items), rng.normal(0, 1, respondents)
    chance = 1 / (1 + np.exp(-(ability[:, None] * slope + easiness)))
    seen = np.full((respondents, items), float(answers))
    return slope, easiness, ability, rng.binomial(answers, chance).astype(float), seen


def covered(found: Estimates, truth: np.ndarray) -> float:
    return float(((found.low < truth) & (truth < found.high)).mean())


@pytest.mark.parametrize(("respondents", "items", "answers"), [(10, 60, 1), (30, 6, 40)])
def test_intervals_cover_planted_parameters(respondents, items, answers):
    """With few models and many items, and with people whose items are subtests."""
    shares = []
    for seed in range(3):
        slope, easiness, ability, right, seen = planted(respondents, items, seed, answers)
        found = fit(right, seen, **FEW)
        shares.append((covered(found.slope, slope), covered(found.easiness, easiness), covered(found.ability, ability)))
    means = np.mean(shares, axis=0)
    assert (means > 0.85).all(), means
    assert means[:2].mean() == pytest.approx(0.95, abs=0.06)


def test_estimates_follow_the_planted_values():
    slope, easiness, ability, right, seen = planted(100, 20, seed=3)
    found = fit(right, seen, **FEW)
    for estimates, truth in ((found.slope, slope), (found.easiness, easiness), (found.ability, ability)):
        assert np.corrcoef(estimates.value, truth)[0, 1] > 0.8
    assert 0.7 < found.reliability < 1.0


def test_missing_answers_are_left_out():
    slope, _easiness, _ability, right, seen = planted(60, 20, seed=1)
    seen[:30, :10] = 0.0
    found = fit(np.where(seen > 0, right, 0.0), seen, **FEW)
    wide = found.slope.high - found.slope.low
    assert wide[:10].mean() > wide[10:].mean()
    assert covered(found.slope, slope) > 0.8


def test_needed_respondents_grow_as_slopes_get_closer():
    assert respondents_needed(1.0, 0.0) == 27
    assert respondents_needed(1.0, 0.5) == pytest.approx(4 * 27, abs=4)


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(0.4, 2.0, "separates"), (-2.0, -0.1, "reversed"), (-0.5, 0.2, "noise"), (-0.2, 1.5, "unclear")],
)
def test_the_interval_of_a_slope_says_what_an_item_shows(low, high, kind):
    assert report.kind_of(low, high) == kind


def credits(n_models: int, n_items: int) -> report.ResponseFacts:
    """The first item is reversed: only weak models are right. The second is noise. The others separate."""
    models = np.arange(n_models) / n_models
    table = np.stack([models < 0.5, np.arange(n_models) % 2 == 0, *([models > 0.5] * (n_items - 2))], axis=1)
    return report.ResponseFacts(
        [f"model {k}" for k in range(n_models)], [f"item {k}" for k in range(n_items)], table.astype(float)
    )


def test_a_reversed_item_comes_first_and_good_items_separate():
    found = report.compute(credits(60, 8), draws=200)
    kinds = {row["item"]: row["kind"] for row in found["items"]}
    assert (kinds["item 0"], kinds["item 5"]) == ("reversed", "separates")
    assert found["items"][0]["item"] == "item 0"
    assert kinds["item 1"] in {"noise", "unclear"}
    assert found["kinds"]["separates"] == 6
    assert found["models"][0]["ability"] > 0 > found["models"][-1]["ability"]
    assert found["too_few"] is False


def test_few_models_are_said_to_be_few():
    found = report.compute(credits(6, 8), draws=100)
    assert (found["too_few"], found["n_respondents"], found["needed"]) == (True, 6, 27)


def test_two_models_are_not_enough():
    with pytest.raises(EvaluationError, match="3 or more models with answers, and there are 2; score more models"):
        report.compute(credits(2, 8))


def test_people_are_compared_with_the_majority_of_the_others_by_subtest():
    """Four people on 30 pairs of two subtests; the last one always says foil."""
    unit = np.repeat(np.arange(30), 4)
    person = np.tile(np.arange(4), 30)
    choice = np.where(person == 3, 1, 0)
    votes = Votes(
        unit, person, choice, np.ones_like(unit), [f"{'ab'[k % 2]}:{k}" for k in range(30)], list("wxyz"), np.arange(30)
    )
    facts = report.ResponseFacts(votes=votes, subtests=["ab"[k % 2] for k in range(30)])
    found = report.compute(facts, respondents="people", draws=100)
    assert [row["item"] for row in found["items"]] != []
    assert {row["item"] for row in found["items"]} == {"a", "b"}
    right = {row["annotator"]: row["share_right"] for row in found["annotators"]}
    assert right == {"w": 1.0, "x": 1.0, "y": 1.0, "z": 0.0}
    assert found["annotators"][-1]["annotator"] == "z"


def test_the_page_shows_what_the_job_computed(db):
    world = make_world()
    for _ in range(4):
        world.item()
    for person in (world.vera, world.vic, world.val):
        while (work := claim(person, world.project, Stage.VALIDATION)) is not None:
            submit_vote(person, work.token, new_key(), shown_as("caption", work))
    client, address = Client(), reverse("reports:report", args=[world.project.slug, "irt"])
    client.force_login(world.owner)
    assert "Compute" in client.get(f"{address}?respondents=people").content.decode()
    client.post(reverse("reports:report_ask", args=[world.project.slug, "irt"]) + "?respondents=people")
    project_report(world.project, "irt", params={"respondents": "people"})
    page = client.get(f"{address}?respondents=people").content.decode()
    assert "Reliability of abilities" in page
    assert world.subtest.name in page
    assert world.vera.username not in page.partition("<main")[2]
    found = client.get(reverse("reports:report_file", args=[world.project.slug, "irt", "csv"]) + "?respondents=people")
    assert found.content.decode().splitlines()[0] == "item,n,share_right,difficulty,low,high,slope,low,high,kind"
    # Too few models: the page says so before anybody has it computed.
    page = client.get(f"{address}?respondents=models").content.decode()
    assert "needs 3 models with answers, and there are 0. Score more models." in page
    assert "Compute</button>" not in "".join(page.split())
