"""Reports of a project: the facts read from tables, the stored row, the number of queries."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Vote
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import item_facts, vote_facts
from evaluation.reports.reports import project_report
from foilworks.core.corpus.models import Foil, Item, Subtest
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.text.errors import ActionableError
from generation.models import Candidate
from tests import factories

pytestmark = pytest.mark.django_db


def vote(item, person, choice, *, foil=None, first=True, **fields):
    return Vote.objects.create(
        item=item,
        foil=foil,
        person=person,
        choice=choice,
        caption_first=first,
        idempotency_key=f"{item.pk}-{foil and foil.pk}-{person and person.pk}-{Vote.objects.count()}",
        **fields,
    )


@pytest.fixture
def judged():
    """Two items, three validators: one valid 3-0 with a valid proficiency item, one invalid 1-2."""
    project = factories.make_project()
    no_votes = {"votes_wanted": 0, "votes_needed": 0}
    simple = factories.make_subtest(project, name="nouns", kind=Subtest.Kind.PROFICIENCY, **no_votes)
    main = factories.make_subtest(project, name="verbs", test="actions", proficiency_subtest=simple)
    people = [factories.make_member(project, "validator", name=name) for name in ("ann", "bob", "cy")]
    easy = factories.make_item(simple, foils=("a cat",), state=ItemState.VALID)
    good = factories.make_item(main, state=ItemState.VALID, unanimous=True, proficiency_item=easy, key="good")
    bad = factories.make_item(main, state=ItemState.INVALID, unanimous=False, key="bad")
    for number, person in enumerate(people):
        vote(good, person, "caption", foil=good.foils.get(), first=number % 2 == 0)
        vote(bad, person, "caption" if person == people[0] else "neither", foil=bad.foils.get())
    return project


def test_validation_counts_and_alpha(judged):
    got = project_report(judged, "validation")
    (row,) = got["subtests"]
    assert (row["name"], row["test"]) == ("verbs", "actions")
    counts = [row[k] for k in ("n_items", "n_valid", "n_unanimous", "n_valid_proficiency", "n_both")]
    assert counts == [2, 1, 1, 1, 1]
    assert row["alpha_coding"] == "truth"
    # caption 4, neither 2 of 6; D_o = 2 (the 1-2 item), D_e = (36 - 20) / 5.
    assert row["alpha_all"] == pytest.approx(1 - 2 * 5 / 16)
    assert row["votes"]["neither"] == 2


def test_agreement_and_position_name_the_people(judged):
    got = project_report(judged, "agreement", params={"coding": "shown"})
    assert (got["n_items"], got["n_votes"]) == (2, 6)
    assert {row["annotator"] for row in got["annotators"]} == {"ann", "bob", "cy"}
    position = project_report(judged, "position")
    # First: ann on both, cy on the good one. Second: bob on the good one.
    assert (position["first_share"], position["n"]) == (3 / 4, 4)


def test_a_stored_report_is_reused_until_a_fact_changes(judged):
    first = project_report(judged, "validation")
    made_at = CachedResult.objects.get().created_at
    assert project_report(judged, "validation") == first
    assert CachedResult.objects.get().created_at == made_at
    Vote.objects.filter(choice="neither", person__username="cy").update(state="set_aside")
    second = project_report(judged, "validation")
    assert second["subtests"][0]["votes"]["neither"] == 1
    assert CachedResult.objects.get().created_at > made_at


def test_each_choice_of_parameters_has_its_own_row(judged):
    project_report(judged, "divergence")
    assert project_report(judged, "divergence", params={"base": "e"})["base"] == "e"
    project_report(judged, "divergence", subtest="nouns")
    assert CachedResult.objects.filter(kind="divergence").count() == 3


def test_a_proficiency_subtest_can_be_reported_by_its_name(judged):
    (row,) = project_report(judged, "validation", subtest="nouns")["subtests"]
    assert (row["name"], row["n_items"], row["n_valid"]) == ("nouns", 1, 1)


def test_votes_that_do_not_count_are_left_out(judged):
    item = Item.objects.get(key="bad")
    for state in ("surplus", "set_aside", "undone"):
        vote(item, factories.make_user(), "both", foil=item.foils.get(), state=state)
    vote(item, factories.make_user(), "caption", stage="baseline")
    assert len(vote_facts(judged).choice) == 6


def test_imported_votes_name_nobody_and_hold_three_choices():
    project = factories.make_project()
    item = factories.make_item(factories.make_subtest(project), state=ItemState.VALID)
    for index, choice in enumerate(("caption", "caption", "other")):
        vote(item, None, choice, first=None, source="import", import_index=index)
    (row,) = project_report(project, "validation")["subtests"]
    assert row["alpha_coding"] == "truth3"
    assert row["votes"] == {"caption": 2, "foil": 0, "other": 1}
    got = project_report(project, "agreement", params={"coding": "truth3"})
    assert (got["n_votes"], got["annotators"], got["pairs"]) == (3, [], [])
    assert got["percent_agreement"] == pytest.approx(1 / 3)
    with pytest.raises(EvaluationError, match="truth3"):
        project_report(project, "agreement")
    assert project_report(project, "position")["n_without_position"] == 3


def test_counts_that_were_once_stored_under_the_names_of_an_export_name_nobody():
    item = factories.make_item(factories.make_subtest(factories.make_project()), state=ItemState.VALID)
    for index, name in enumerate(("unnamed-1", "unnamed-12", "unnamed-0", "w1", "")):
        vote(item, None, "caption", first=None, source="import", import_index=index, imported_as=name)
    assert vote_facts(item.subtest.project).annotator_names == ["file:unnamed-0", "file:w1"]


def test_dropped_foils_do_not_count_in_the_valid_words():
    project = factories.make_project()
    subtest = factories.make_subtest(project, foils_per_item=2, valid_when=Subtest.ValidWhen.ENOUGH)
    item = factories.make_item(subtest, foils=("a man unfolds a shirt.", "zebra"), state=ItemState.VALID)
    Foil.objects.filter(item=item, position=1).update(verdict=FoilVerdict.INVALID)
    (facts,) = item_facts(project)
    assert facts.foils == ("a man unfolds a shirt.", "zebra")
    assert facts.kept == ("a man unfolds a shirt.",)


def test_waiting_items_have_no_verdict_and_retracted_ones_are_left_out():
    project = factories.make_project()
    subtest = factories.make_subtest(project)
    factories.make_item(subtest, state=ItemState.IN_VALIDATION)
    factories.make_item(subtest, state=ItemState.RETRACTED)
    (row,) = project_report(project, "validation")["subtests"]
    assert (row["n_items"], row["n_valid"], row["js_valid"]) == (1, None, None)


def test_funnel_counts(judged):
    run = factories.make_run(Subtest.objects.get(name="verbs"))
    group = factories.make_group(run)
    for state, rejected in (
        (CandidateState.FILTERED_OUT, ["minimal_edit", "identical"]),
        (CandidateState.FILTERED_OUT, ["identical"]),
        (CandidateState.ACCEPTED, []),
        (CandidateState.QUEUED, []),
    ):
        factories.make_candidate(group, state=state, rejected_by=rejected)
    parent = Candidate.objects.filter(state=CandidateState.QUEUED).get()
    factories.make_candidate(group, state=CandidateState.IN_REVIEW, parent=parent)
    got = project_report(judged, "funnel")
    assert {row["name"]: row["count"] for row in got["stages"]} == {
        "candidates made": 4,
        "passed the filters": 2,
        "accepted in review": 1,
        "items": 2,
        "valid": 1,
        "unanimous": 1,
        "released": 0,
    }
    assert got["rejected_by"] == [{"filter": "identical", "count": 2}, {"filter": "minimal_edit", "count": 1}]
    assert got["captions"] == 1


def test_people_have_their_medians(judged):
    Vote.objects.filter(person__username="ann").update(seconds_spent=4.0, watch={"covered": 0.5})
    got = project_report(judged, "people")
    rows = {row["person"]: row for row in got["people"]}
    assert rows["ann"]["median_seconds"] == 4.0
    assert rows["ann"]["median_covered"] == 0.5
    assert rows["bob"]["median_seconds"] is None
    assert (rows["bob"]["n"], rows["bob"]["stage"]) == (2, "validation")


@pytest.mark.parametrize("kind", ["validation", "agreement", "divergence", "blind", "position", "funnel", "people"])
def test_the_number_of_queries_does_not_grow_with_the_project(kind, judged):
    def queries():
        with CaptureQueriesContext(connection) as seen:
            project_report(judged, kind)
        return len(seen)

    queries()
    few = queries()
    subtest = Subtest.objects.get(name="verbs")
    for _ in range(10):
        item = factories.make_item(subtest, state=ItemState.VALID, unanimous=False)
        vote(item, factories.make_user(), "caption", foil=item.foils.get())
    fresh = queries()
    assert queries() == few
    assert fresh <= few + 8  # the stored row is written anew


def test_an_impossible_report_is_explained(judged):
    with pytest.raises(ActionableError, match="no subtest 'x'; its subtests: nouns, verbs"):
        project_report(judged, "validation", subtest="x")
    with pytest.raises(ActionableError, match="unknown report 'x'"):
        project_report(judged, "x")
    with pytest.raises(ActionableError, match="no items"):
        project_report(factories.make_project(), "validation")


def test_an_empty_project_has_an_undefined_agreement_with_its_reason():
    got = project_report(factories.make_project(), "agreement")
    assert got["alpha"] is None
    assert got["reason"] == "no unit has two votes"
