"""The board of a release: places, ties, scopes, the human line, and what is computed only once."""

import json
from functools import partial

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.models import Choice, Stage, Vote
from evaluation.board import leaderboard
from evaluation.board.latex import markdown
from evaluation.board.leaderboard import board
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.scoring import run_results as run_scores
from evaluation.scoring.actions.models import describe_model
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.model_cards import card_of, stated
from evaluation.scoring.models import ModelCard
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.run_results import axes_of, credits_of, results_of
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from tests import factories
from tests.addresses import named
from tests.evaluation.ranked import N, make_release, number_of, score

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return factories.make_project(slug="ranked")


@pytest.fixture
def release(project):
    return make_release(project)


@pytest.fixture
def scored(release, tmp_path):
    return partial(score, release, tmp_path)


def test_places_groups_and_power(release, scored):
    best = scored("best", lambda k: True)
    near = scored("near", lambda k: k != 0)
    none = scored("none", lambda k: False)
    found = board(release)
    assert [row.run for row in found.rows] == [best, near, none]
    assert [row.rank for row in found.rows] == [1, 1, 1]
    assert [row.tied for row in found.rows] == [1, 1, 1]
    assert (found.column, found.n_tests, found.n_items) == ("P+T", 3, N)
    # P+T stands over the 12 items with a pair, one foil each: chance 1/4.
    assert found.chance == 0.25
    # Six videos are tested exactly. One miss in one of them: every pattern of signs is as far from zero. All right
    # against none: 2 of 2^6 patterns, and Holm multiplies the smallest of the three p-values by 3.
    assert [row.p_best for row in found.rows] == [None, 1.0, pytest.approx(3 * 2 / 64)]
    assert found.items_to_separate > 12


def test_a_model_without_pairs_ranks_last_and_its_t_is_marked(release, tmp_path, client):
    """All right on 24 items beside half right on the 12 with a pair."""
    half = score(release, tmp_path, "half", lambda k: k % 2 == 0)
    assert not board(release).uneven
    path = tmp_path / "alone.jsonl"
    lines = [{"id": record["id"], "caption": 1, "foils": [0]} for record in records_of(release)]
    path.write_text("\n".join(map(json.dumps, lines)))
    alone = start_run(None, release, RunRequest(f"file:{path}"))
    run_now(alone.job)
    assert [standing.run for standing in leaderboard.leaderboard(release)] == [half, alone]
    found = board(release)
    assert found.uneven
    assert [(row.run, row.rank, row.group["n"]) for row in found.rows] == [(half, 1, 12), (alone, None, 24)]
    assert "its T is over all items that it scored." in markdown(found)
    client.force_login(factories.make_member(release.project, Role.RESEARCHER))
    for page in ("release", "leaderboard"):
        html = client.get(reverse(named(page), args=["ranked", release.pk])).content.decode()
        assert "Its T covers all items that it scored." in html


def test_a_scope_has_its_own_numbers(release, scored):
    scored("half", lambda k: k % 2 == 0)
    found = board(release, "T", "subtest:up")
    assert found.scopes == [
        ("overall", "overall"),
        ("test:motion", "motion"),
        *[(f"subtest:{s}", s) for s in ("down", "up")],
    ]
    names = [record["subtest"] for record in records_of(release)]
    assert found.n_items == names.count("up") == 12
    (row,) = found.rows
    assert row.group == results_of(row.run)["subtests"]["up"]


def test_an_unknown_scope_or_column_is_named(release):
    with pytest.raises(EvaluationError, match="no scope 'subtest:x'; choose one of: overall, test:motion"):
        board(release, scope="subtest:x")
    with pytest.raises(EvaluationError, match="unknown column 'Q'"):
        board(release, "Q")


def test_a_release_without_models_has_an_empty_board(release):
    found = board(release)
    assert (found.rows, found.column, found.chance, found.human) == ([], "T", None, None)


def test_an_unfinished_run_is_listed_without_results(release, scored):
    done = scored("done", lambda k: True)
    waiting = start_run(None, release, RunRequest("fake:text", label="waiting"))
    found = board(release)
    assert [(row.run, row.rank) for row in found.rows] == [(done, 1), (waiting, None)]


def test_of_two_runs_of_a_model_the_latest_counts(release, scored):
    scored("model", lambda k: True)
    again = scored("model", lambda k: True)
    assert [row.run for row in board(release).rows] == [again]


def test_credits_are_those_of_the_results(release, scored):
    run = scored("some", lambda k: k % 3 == 0, lambda k: k % 2 == 0)
    axes = axes_of(release)
    credit = credits_of(run, axes)
    has = [bool(record["proficiency"]) for record in records_of(release)]
    overall = results_of(run)["overall"]
    assert [not value for value in list(map(bool, credit.proficiency != credit.proficiency))] == has
    assert credit.main[has].mean() == overall["T"]
    assert credit.proficiency[has].mean() == overall["P"]
    assert (credit.main * credit.proficiency)[has].mean() == overall["P+T"]
    assert credit.main.mean() == overall["T_all"]


def test_results_are_computed_by_the_job_and_then_read(release, scored, monkeypatch, django_assert_num_queries):
    for name in ("a", "b"):
        scored(name, lambda k: True)

    def computed(*args, **options):
        raise AssertionError("computed again")

    monkeypatch.setattr(run_scores, "run_results", computed)
    monkeypatch.setattr(run_scores, "_credits", computed)
    monkeypatch.setattr(leaderboard, "ranking", computed)
    board(release)
    cache.clear()  # another process: everything comes from the rows
    board(release)
    with django_assert_num_queries(3):  # runs, cards, baseline choices
        board(release)


def test_new_scores_of_the_model_are_seen(release, scored, tmp_path):
    """A file that names half of the items, then a successor run of the same model that stores the rest."""
    run = scored("half", lambda k: True)
    assert results_of(run)["missing"] == []
    before = CachedResult.objects.get(kind="results").fingerprint
    again = start_run(None, release, RunRequest(run.spec))
    run_now(again.job)
    fresh = run_scores.runs_of(release).get(pk=run.pk)
    assert run_scores.fingerprint_of(fresh) != before


class TestHumanLine:
    def choose(self, item, choice, person, state="counted"):
        Vote.objects.create(
            item=item,
            foil=item.foils.get(),
            person=person,
            stage=Stage.BASELINE,
            choice=choice,
            idempotency_key=f"{item.pk}",
            state=state,
        )

    def test_people_and_majorities_cover_the_items_they_answered(self, release):
        people = [factories.make_user() for _ in range(3)]
        first, second, third = [member.item for member in release.members.all()[:3]]
        for person, one, two in zip(people, ("caption", "caption", "foil"), ("foil", "foil", "caption"), strict=True):
            self.choose(first, one, person)
            self.choose(second, two, person)
        self.choose(third, Choice.CAPTION, people[0])
        found = board(release).human
        # Shares 2/3, 1/3 and 1; majorities of three: won and lost.
        assert found["T"] == pytest.approx((2 / 3 + 1 / 3 + 1) / 3)
        assert (found["n"], found["n_choices"], found["majority"], found["n_majority"]) == (3, 7, 0.5, 2)

    def test_with_paired_models_people_cover_the_same_items(self, release, scored):
        """The first twelve have a pair."""
        members = sorted(release.members.all(), key=lambda member: number_of(member.record))
        person = factories.make_user()
        self.choose(members[0].item, Choice.CAPTION, person)
        self.choose(members[20].item, Choice.FOIL, person)
        assert (board(release).human["T"], board(release).human["n"]) == (0.5, 2)
        scored("a", lambda k: True)
        assert (board(release).human["T"], board(release).human["n"]) == (1.0, 1)

    def test_validation_votes_and_excluded_choices_do_not_count_as_baseline(self, release):
        item = release.members.first().item
        factories.make_user()
        Vote.objects.create(item=item, person=factories.make_user(), choice=Choice.CAPTION, idempotency_key="v")
        assert board(release).human is None
        vote_by = factories.make_user()
        self.choose(item, Choice.CAPTION, vote_by)
        assert board(release).human["T"] == 1
        Vote.objects.filter(person=vote_by).update(state="set_aside")
        assert board(release).human is None


class TestCards:
    def test_a_researcher_describes_a_model_for_all_its_runs(self, project, release, scored):
        run = scored("named", lambda k: True)
        person = factories.make_member(project, Role.RESEARCHER)
        describe_model(person, run, category="video", size="151 M")
        card = card_of(run)
        assert (card.category, card.size, card.get_category_display()) == ("video", "151 M", "video and text")
        assert board(release).rows[0].card == card
        assert AuditEvent.objects.filter(action="evaluation.describe_model").count() == 1

    def test_missing_roles_and_unknown_fields_are_refused(self, project, release, scored):
        run = scored("named", lambda k: True)
        with pytest.raises(AccessDenied):
            describe_model(factories.make_member(project, Role.VALIDATOR), run, size="1")
        person = factories.make_member(project, Role.RESEARCHER)
        with pytest.raises(EvaluationError, match="has no field colour"):
            describe_model(person, run, colour="red")
        with pytest.raises(EvaluationError, match="has not loaded its model yet"):
            describe_model(person, start_run(None, release, RunRequest("fake:")), size="1")

    def test_a_card_takes_the_fields_it_knows_from_the_adapter(self, project, release):
        assert stated({"category": "image", "size": 151, "colour": "red", "adaptation": "tuned"}) == {
            "category": "image",
            "size": "151",
        }
        assert stated({"category": "fake"}) == {}
        run = start_run(None, release, RunRequest("fake:text"))
        run_now(run.job)
        assert ModelCard.objects.get().model_key == "fake/text/0@1"
