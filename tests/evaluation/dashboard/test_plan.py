"""The plan of a study: numbers by hand, values of a project's own votes, the page and the command."""

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.actions.ledger import book
from annotation.models import PayPolicy, PayRate, Stage, Vote
from annotation.rules.voting import VoteRule
from evaluation.errors import EvaluationError
from evaluation.scoring.run_results import Axes
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.dashboard import pilot as pilots
from foilworks.site.dashboard.actions.target import set_target
from foilworks.site.dashboard.models import StudyTarget
from foilworks.site.dashboard.planning import PLAN, expected_votes, plan
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_task, make_video

DEFAULTS = {param.name: param.default for param in PLAN.params}


@pytest.mark.parametrize(
    ("rule", "agreement", "votes", "disputed"),
    [
        # Two people agree with .85, so a third vote is needed in .15 of the pairs.
        (VoteRule(3, 2, stop_early=True), 0.85, 2.15, 0.0),
        (VoteRule(3, 2), 0.85, 3.0, 0.0),
        (VoteRule(1, 1), 0.85, 1.0, 0.0),
        (VoteRule(2, 2), 0.7, 2.0, 0.3),
        (VoteRule(3, 3, stop_early=True), 1.0, 3.0, 0.0),
    ],
)
def test_expected_votes_by_hand(rule, agreement, votes, disputed) -> None:
    assert expected_votes(rule, agreement) == pytest.approx((votes, disputed))


def test_expected_votes_equal_simulated_pairs() -> None:
    rule, agreement = VoteRule(5, 3, stop_early=True), 0.8
    often = (1 + np.sqrt(2 * agreement - 1)) / 2
    drawn = np.random.default_rng(0).random((20_000, 5)) < often
    right = drawn.cumsum(axis=1)
    wrong = np.arange(1, 6) - right
    left = np.arange(4, -1, -1)
    over = ((right >= 3) & (wrong + left < right)) | ((wrong >= 3) & (right + left < wrong))
    assert expected_votes(rule, agreement)[0] == pytest.approx((over.argmax(axis=1) + 1).mean(), abs=0.02)


def test_a_plan_multiplies_what_it_is_given() -> None:
    found = plan({**DEFAULTS, "validity": 0.5, "pairs_per_item": 2, "seconds_per_vote": 36.0, "hourly_pay": 10.0})
    assert found["judged"] == 2 * found["items"]
    assert found["votes"] == 2 * 3 * found["judged"]
    assert found["hours"] == pytest.approx(found["votes"] / 100)
    assert found["cost"] == pytest.approx(found["votes"] / 10)
    assert found["people"] == -(-found["votes"] // 1000)
    assert [row["difference"] for row in found["differences"]] == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert plan({**DEFAULTS, "difference": 0.15})["differences"][-1]["difference"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("name", "value"), [("validity", 0.0), ("vote_agreement", 0.4), ("votes_needed", 4), ("models", 1), ("power", 1.0)]
)
def test_a_value_out_of_range_is_named(name, value) -> None:
    with pytest.raises(EvaluationError, match=f"^{name}: "):
        plan({**DEFAULTS, name: value})


def test_the_last_days_start_with_the_first_vote() -> None:
    votes = {"2026-03-01": 9, "2026-03-18": 4, "2026-03-20": 6, "2026-03-21": 7}
    assert pilots.last_days(votes, date(2026, 3, 21)) == [4, 0, 6]


def test_two_models_give_their_agreement_and_the_similarity_of_shared_videos() -> None:
    # 12 videos of two items; the models differ on both items of half of the videos.
    gap = np.repeat([1.0, -1.0, 0.0, 0.0] * 3, 2)
    axes = Axes([f"i{k}" for k in range(24)], [], [], [f"v{k // 2}" for k in range(24)], [], [])
    found = pilots.Pilot()
    pilots._add_pair((gap + 1) / 2, np.full(24, 0.5), axes, found)
    assert found.values["items_per_video"] == 2
    assert found.values["similarity"] == 1.0
    assert found.values["model_agreement"] == pytest.approx(1 - (gap**2).mean() / 4)


@pytest.fixture
def project(db):
    """20 items with three votes each: 15 valid; on every fifth item, one of three differs."""
    project = make_project(slug="shapes")
    subtest = make_subtest(project, name="Left")
    PayPolicy.objects.create(project=project, currency="EUR")
    PayRate.objects.create(project=project, stage=Stage.VALIDATION, unit="piece", amount=Decimal("0.05"))
    people = [make_member(project, Role.VALIDATOR, name=f"val-{n}") for n in range(3)]
    for k in range(20):
        state = ItemState.VALID if k < 15 else ItemState.INVALID
        caption = make_caption(make_video(project), f"a dog runs past number {k}.")
        item = make_item(subtest, caption, (f"a dog walks past number {k}.",), state=state)
        said = ["caption" if k < 15 else "both"] * 3
        said[2] = "foil" if k % 5 == 0 else said[2]
        Vote.objects.bulk_create(
            Vote(
                item=item,
                foil=item.foils.get(),
                person=person,
                choice=choice,
                stage=Stage.VALIDATION,
                idempotency_key=f"{k} {person.pk}",
                caption_first=True,
                seconds_spent=12.0,
            )
            for person, choice in zip(people, said, strict=True)
        )
    for vote in Vote.objects.all():
        book(vote, project, vote.stage)
    return project


def test_a_pilot_takes_validity_agreement_time_and_pay_from_the_project(project) -> None:
    found = pilots.pilot_of(project)
    assert found.values["validity"] == 0.75
    # 16 items with three agreeing pairs of votes, and 4 with one.
    assert found.values["vote_agreement"] == pytest.approx((16 + 4 / 3) / 20)
    assert found.values["seconds_per_vote"] == 12.0
    assert found.values["hourly_pay"] == pytest.approx(15.0)
    assert (found.judged, found.currency, found.spent) == (20, "EUR", pytest.approx(3.0))
    left = pilots.progress(found, {"judged": 100, "votes": 300, "cost": 15.0}, 10.0)
    assert (left["left"], left["of"], left["budget_left"], left["cost_left"]) == (80, 100, pytest.approx(7.0), 12.0)


def test_the_page_plans_with_the_projects_own_values(project, client) -> None:
    client.force_login(make_member(project, Role.RESEARCHER, name="owner"))
    address = reverse("dashboard:plan", args=["shapes"])
    page = client.get(address)
    assert page.context["values"]["validity"] == 0.75
    text = page.content.decode()
    assert "items still need judging" in text
    given = client.get(address, {"difference": "0.1", "budget": "1", "stop_early": "on"})
    assert given.context["values"]["stop_early"] is True
    assert given.context["planned"]["items"] < page.context["planned"]["items"]
    assert "more than the budget" in given.content.decode()
    assert given.context["over_budget"] == pytest.approx(given.context["progress"]["cost_left"] + 3.0 - 1.0)
    assert "a study of this size detects a difference of 5 points of accuracy 80 % of" in " ".join(text.split())
    wrong = client.get(address, {"votes_max": "99"})
    assert wrong.context["form"].errors["votes_max"] == ["99 is out of range; give 0 to 25."]
    assert wrong.context["form"].is_stopping_open()
    wrong = client.get(address, {"difference": "0.9"})
    assert wrong.context["form"].errors["model_agreement"]
    assert "planned" not in wrong.context


def test_the_command_plans_with_and_without_a_project(project, capsys) -> None:
    call_command("plan", difference="0.1", as_json=True)
    alone = json.loads(capsys.readouterr().out)
    assert (alone["values"]["difference"], alone["values"]["validity"]) == (0.1, 0.8)
    call_command("plan", project="shapes", validity="0.9", as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["values"]["validity"], found["values"]["seconds_per_vote"]) == (0.9, 12.0)
    call_command("plan", "--set", "votes_per_pair=5", "--set", "stop_early=yes", as_json=True)
    assert json.loads(capsys.readouterr().out)["values"]["stop_early"] is True
    call_command("plan", project="shapes")
    assert "budget_left" in capsys.readouterr().out


@pytest.mark.django_db
def test_the_overview_compares_the_progress_with_the_target(client) -> None:
    project = make_project(slug="shapes")
    owner = make_member(project, Role.RESEARCHER)
    subtest = make_subtest(project)
    item = make_item(subtest, state=ItemState.VALID)
    make_task(project, Stage.VALIDATION, item.video, 3, item=item, foil=item.foils.get())
    client.force_login(owner)
    overview, plan_page = (reverse(f"dashboard:{name}", args=["shapes"]) for name in ("dashboard", "plan"))
    assert "still need a person" not in client.get(overview).content.decode()
    planned = client.get(plan_page).context["planned"]
    assert client.get(plan_page).context["target_form"]["votes"].value() == planned["votes"]
    address = reverse("dashboard:target", args=["shapes"])
    assert client.post(address, {"target-items": "-1", "target-votes": "5"}).status_code == 422
    assert client.post(address, {"target-items": "2000", "target-votes": "190"}).url == plan_page
    shown = " ".join(client.get(overview).content.decode().split())
    assert "1,999 of 2,000 items still need a person; 190 votes left of the budget." in shown
    assert client.get(plan_page).context["target_form"]["items"].value() == 2000
    event = AuditEvent.objects.get(action="evaluation.set_target")
    assert (event.details["items"], event.details["before"]) == (2000, None)
    client.post(address, {"target-items": "0", "target-votes": "0"})
    assert not StudyTarget.objects.exists()
    with pytest.raises(EvaluationError, match="Enter numbers from 0 to"):
        set_target(owner, project, 10**9)
    with pytest.raises(AccessDenied):
        set_target(make_member(project, Role.VALIDATOR), project, 5)


def test_divided_pairs_and_items_judged_in_full_add_votes() -> None:
    stopped = {**DEFAULTS, "stop_early": True, "vote_agreement": 0.85}
    assert plan(stopped)["votes_per_pair"] == pytest.approx(2.15)
    # A tenth of the pairs gets 3 votes instead of 2.15.
    assert plan({**stopped, "full_share": 0.1})["votes_per_pair"] == pytest.approx(2.15 + 0.1 * 0.85)
    found = plan({**stopped, "votes_max": 5, "divided": 0.06})
    assert (found["votes_per_pair"], found["divided"]) == (pytest.approx(2.15 + 0.06 * 2), 0.06)
    # Without more votes, these pairs are disputed.
    assert plan({**stopped, "divided": 0.06})["extra_votes_per_pair"] == 0


@pytest.mark.parametrize(
    ("counts", "early", "divided"),
    [
        ({"caption": 1, "foil": 1, "both": 1}, False, True),
        ({"caption": 2, "foil": 1}, False, False),
        ({"caption": 2}, True, False),
        ({"caption": 1, "foil": 1}, True, None),
        ({"caption": 2}, False, None),
        # Only a divided pair gets a fourth vote.
        ({"caption": 2, "foil": 1, "both": 1}, True, True),
    ],
)
def test_a_pair_is_divided_if_its_usual_votes_decide_nothing(counts, early, divided) -> None:
    assert pilots.was_divided(counts, VoteRule(3, 2, stop_early=early)) is divided


def test_the_pilot_counts_divided_pairs(project) -> None:
    found = pilots.pilot_of(project)
    assert (found.values["divided"], found.values["votes_max"]) == (0.0, 0)
    Vote.objects.filter(choice="caption", person__username="val-0").update(choice="neither")
    Vote.objects.filter(choice="caption", person__username="val-1").update(choice="cannot_tell")
    assert pilots.pilot_of(project).values["divided"] == 0.75
