"""Agreement and position bias where votes stop early: measured on the items that are judged in full."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from django.urls import reverse

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Stage, Task
from annotation.rules.voting import VoteRule, pair_verdict
from evaluation.analyses.agreement_data import alpha
from evaluation.facts.stored_facts import vote_facts
from evaluation.reports.reports import project_report
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.projects.models import Role
from foilworks.site.publishing.public import _together
from tests import factories
from tests.annotation.world import World, make_world, new_key, shown_as


def judged(world: World, n_items: int, answers: Sequence[str], n_in_full: int = 0) -> None:
    """Items whose people answer in this order, as far as they are asked; the first ones are judged in full."""
    for k in range(n_items):
        item = world.item()
        make_tasks(world.project)
        Task.objects.filter(item=item).update(in_full=k < n_in_full)
        for choice in answers:
            person = factories.make_member(world.project, Role.VALIDATOR)
            work = claim(person, world.project, Stage.VALIDATION)
            if work is None:
                break
            submit_vote(person, work.token, new_key(), shown_as(choice, work))
        item.refresh_from_db()
        assert item.state != "in_validation"


@pytest.fixture
def world(db) -> World:
    """Two of three people choose the caption; the third one sees the foil, if anybody asks."""
    world = make_world(stop_early=True, full_share=0.5)
    judged(world, 8, ("caption", "caption", "foil"), n_in_full=3)
    return world


def test_agreement_is_measured_on_the_items_judged_in_full(world):
    full = 3
    report = project_report(world.project, "agreement")
    assert (report["basis"], report["n_votes"], report["n_items"]) == ("in_full", 3 * full, full)
    assert report["n_votes_left_out"] == 2 * 5
    # With all votes, the pairs that stopped would be unanimous.
    assert report["percent_agreement"] == pytest.approx(1 / 3)
    counts = np.array([[2, 1]] * full)
    assert report["alpha"] == pytest.approx(alpha(counts, interval=False).value)
    assert project_report(world.project, "position")["basis"] == "in_full"
    (row,) = project_report(world.project, "validation")["subtests"]
    assert (row["alpha_all"], row["n_judged_in_full"]) == (report["alpha"], full)
    assert row["votes"] == {"caption": 16, "foil": full, "neither": 0, "both": 0, "cannot_tell": 0}


def test_the_page_of_validation_says_which_items_alpha_is_of(world, client):
    client.force_login(factories.make_member(world.project, Role.RESEARCHER, name="owner"))
    page = client.get(reverse("reports:report", args=[world.project.slug, "validation"])).content.decode()
    assert "alpha is of the 3 of 8 items that were judged in full." in " ".join(page.split())


def test_subtests_of_a_release_add_up_the_items_judged_in_full():
    row = {"n_items": 5, "n_valid": 4, "n_unanimous": 3}
    assert _together([{**row, "n_judged_in_full": 1}, row])["n_judged_in_full"] == 6
    assert "n_judged_in_full" not in _together([row, row])


def test_without_a_share_the_report_says_that_it_is_biased(db):
    world = make_world(stop_early=True)
    judged(world, 3, ("caption", "caption"))
    report = project_report(world.project, "agreement")
    assert (report["basis"], report["n_votes"]) == ("stopped_early", 6)


def test_only_the_usual_votes_of_a_divided_pair_are_compared(db):
    world = make_world(votes_max=5)
    judged(world, 2, ("caption", "foil", "neither", "foil", "foil"))
    judged(world, 1, ("caption", "caption", "caption"))
    report = project_report(world.project, "agreement")
    assert (report["basis"], report["n_votes"], report["n_votes_left_out"]) == ("in_full", 9, 4)
    assert report["choices"] == {"caption": 5, "foil": 2, "neither": 2, "both": 0, "cannot_tell": 0}


def test_votes_that_never_stop_are_all_compared(db):
    world = make_world()
    judged(world, 2, ("caption", "caption", "foil"))
    assert vote_facts(world.project).compared is None
    assert "basis" not in project_report(world.project, "agreement")


def simulated(share: float, pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three votes per pair of a simulated crowd: all votes, those of stopping, those of the random share."""
    rng = np.random.default_rng(seed)
    valid = rng.random(pairs) < 0.85
    skill = rng.beta(8, 2, pairs)
    votes = (rng.random((pairs, 3)) < np.where(valid, skill, 1 - skill)[:, None]).astype(int)
    full = np.stack([votes.sum(axis=1), 3 - votes.sum(axis=1)], axis=1)
    first_two = votes[:, 0] + votes[:, 1]
    stopped = np.where((first_two == 1)[:, None], full, np.stack([first_two, 2 - first_two], axis=1))
    drawn = rng.random(pairs) < share
    return full, stopped, full[drawn]


def test_alpha_of_the_random_share_is_unbiased_and_alpha_of_stopped_votes_is_not():
    errors: dict[str, list[float]] = {"share": [], "stopped": []}
    for seed in range(200):
        full, stopped, drawn = simulated(0.1, 2_000, seed)
        truth = alpha(full, interval=False).value
        for name, counts in (("share", drawn), ("stopped", stopped)):
            errors[name].append(alpha(counts, interval=False).value - truth)
    mean, spread = np.mean(errors["share"]), np.std(errors["share"]) / np.sqrt(200)
    assert abs(mean) < 3 * spread
    assert abs(mean) < 0.01
    assert np.mean(errors["stopped"]) > 0.02


@pytest.mark.parametrize("most", [0, 5])
def test_stopping_never_changes_a_verdict_of_the_usual_votes(most):
    """Of votes in any order, the stopped verdict is the one of all votes."""
    rng = np.random.default_rng(3)
    late, early = VoteRule(3, 2, most=most), VoteRule(3, 2, stop_early=True, most=most)
    for _ in range(300):
        votes = rng.choice(["caption", "foil", "neither"], size=3, p=[0.6, 0.25, 0.15])
        verdicts = [pair_verdict(Counter(votes[:n]), early) for n in range(4)]
        assert next(verdict for verdict in verdicts if verdict != FoilVerdict.PENDING) == pair_verdict(
            Counter(votes), late
        )
