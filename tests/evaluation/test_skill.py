"""Dawid-Skene beside the majority: hand-made crowds, stored reports that follow the votes, the page."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Vote, VoteState
from evaluation.analyses import skill
from evaluation.cached_results.models import CachedResult
from evaluation.errors import EvaluationError
from evaluation.reports.actions.request_report import request_report
from evaluation.reports.reports import project_report, stored_report
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Role
from foilworks.core.projects.pseudonyms import pseudonym
from tests import factories
from tests.evaluation.builders import votes_of
from tests.pages import read_page

OPPOSITE = {"caption": "foil", "foil": "caption"}


def crowd_of(judged):
    """(unit, people, truth) rows: ann, bob and cy say what is true, `liar` and `cheat` its opposite."""
    rows = []
    for unit, people, truth in judged:
        rows += [
            (unit, person, OPPOSITE[truth] if person in {"liar", "cheat"} else truth, 0) for person in people.split()
        ]
    return votes_of(*rows)


def known():
    """18 pairs on which the liars are outvoted two to one, so that the method can see who they are."""
    truths = ("caption", "caption", "foil")
    good = [
        ("ann bob", "liar"),
        ("bob cy", "cheat"),
        ("ann cy", "liar"),
        ("ann bob", "cheat"),
        ("bob cy", "liar"),
        ("ann cy", "cheat"),
    ]
    return [(f"u{k}", f"{pair} {bad}", truths[k % 3]) for k, (pair, bad) in enumerate(good * 3)]


@pytest.fixture(scope="module")
def found():
    # Two liars against one honest validator; and one of each, which the majority cannot decide.
    return skill.compute(crowd_of([*known(), ("outvoted", "ann liar cheat", "caption"), ("even", "bob liar", "foil")]))


def test_an_annotator_who_disagrees_with_all_has_little_skill(found):
    rows = {row["annotator"]: row for row in found["annotators"]}
    assert max(rows[name]["dawid_skene"] for name in ("liar", "cheat")) < 0.2
    assert min(rows[name]["dawid_skene"] for name in ("ann", "bob", "cy")) > 0.8
    # liar: of 11 pairs that have a majority on one alone ("outvoted") with it; the even pair has none.
    assert rows["liar"]["agreement"] == pytest.approx(1 / 10)
    assert (rows["liar"]["n_votes"], rows["ann"]["agreement"]) == (11, pytest.approx(12 / 13))
    assert {row["annotator"] for row in found["annotators"][:2]} == {"liar", "cheat"}


def test_two_bad_votes_do_not_outweigh_a_good_one(found):
    rows = {row["unit"]: row for row in found["differing"]}
    assert set(rows) == {"outvoted", "even"}
    assert (rows["outvoted"]["majority"], rows["even"]["majority"]) == ("foil", None)
    assert (rows["outvoted"]["dawid_skene"], rows["even"]["dawid_skene"]) == ("caption", "foil")
    assert rows["outvoted"]["p_dawid_skene"] > 0.8
    assert rows["outvoted"]["votes"] == {"caption": 1, "foil": 2}


def test_verdicts_are_counted_by_method(found):
    majority, weighted = found["verdicts"]
    # 12 of the 18 known pairs are captions; "outvoted" turns from foil to caption, "even" is decided.
    assert (majority["caption"], majority["foil"], majority["none"]) == (12, 7, 1)
    assert (weighted["caption"], weighted["foil"], weighted["none"]) == (13, 7, 0)
    assert (weighted["turned"], weighted["decided_where_majority_is_none"]) == (1, 1)


def test_names_and_order_change_nothing():
    votes = crowd_of([*known(), ("outvoted", "ann liar cheat", "caption")])
    backwards = votes_of(
        *[
            (
                votes.unit_names[votes.unit[k]],
                votes.annotator_names[votes.annotator[k]],
                ("caption", "foil")[votes.choice[k]],
                0,
            )
            for k in reversed(range(len(votes.choice)))
        ]
    )
    first, second = skill.compute(votes), skill.compute(backwards)
    assert first["verdicts"] == second["verdicts"]
    for one, other in zip(
        *(sorted(each["annotators"], key=lambda r: r["annotator"]) for each in (first, second)), strict=True
    ):
        assert one["dawid_skene"] == pytest.approx(other["dawid_skene"], abs=1e-3)


def test_one_category_leaves_nothing_to_estimate():
    got = skill.compute(votes_of(("a", "ann", "caption", 0), ("a", "bob", "caption", 0)))
    assert got["differing"] == []
    assert {row["caption"] for row in got["verdicts"]} == {1}


@pytest.mark.parametrize(
    ("rows", "coding", "message"),
    [
        ([("a", "ann", "caption", 1), ("a", "bob", "foil", 1)], "shown", "positions"),
        ([("a", "ann", "caption", 0), ("b", "ann", "foil", 0)], "truth", "one annotator"),
        ([("a", "ann", "caption", 0), ("a", "bob", "other", 0)], "truth", "truth3"),
    ],
)
def test_missing_information_is_reported(rows, coding, message):
    with pytest.raises(EvaluationError, match=message):
        skill.compute(votes_of(*rows), coding=coding)


def test_nameless_votes_have_no_skill():
    votes = votes_of(("a", "ann", "caption", 0), ("a", "bob", "foil", 0))
    votes.annotator[:] = -1
    with pytest.raises(EvaluationError, match="name no annotators"):
        skill.compute(votes)


def test_votes_of_an_export_that_came_as_counts_have_no_skill(tmp_path, capsys):
    path = tmp_path / "votes.jsonl"
    choices = [(item, place, "caption") for item in "abc" for place in (1, 2)] + [(item, 3, "foil") for item in "abc"]
    lines = [
        {"item": item, "annotator": f"unnamed-{place}", "choice": choice, "source": "import"}
        for item, place, choice in choices
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(SystemExit):
        call_command("report", "skill", "--file", str(path))
    assert "these votes name no annotators" in capsys.readouterr().err
    call_command("report", "agreement", "--file", str(path), "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["n_annotators"], report["annotators"], report["pairs"]) == (0, [], [])
    assert report["alpha"] is not None


def test_the_command_reads_a_file_of_votes(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    votes = crowd_of(known())
    lines = [
        f"{votes.unit_names[u]},{votes.annotator_names[a]},{('caption', 'foil')[c]}"
        for u, a, c in zip(votes.unit, votes.annotator, votes.choice, strict=True)
    ]
    path.write_text("\n".join(["item,annotator,choice", *lines]))
    call_command("report", "skill", "--file", str(path))
    out = capsys.readouterr().out
    assert "dawid_skene" in out
    assert out.index("liar") < out.index("ann ")


@pytest.fixture
def project():
    """One subtest; val-2 contradicts the others on every one of eight items."""
    made = factories.make_project(slug="judged")
    subtest = factories.make_subtest(made, name="verbs")
    people = [factories.make_member(made, Role.VALIDATOR, name=f"val-{n}") for n in range(3)]
    for k in range(8):
        item = factories.make_item(subtest, key=f"i{k}")
        truth = "foil" if k % 4 == 3 else "caption"
        for number, person in enumerate(people):
            choice = OPPOSITE[truth] if number == 2 else truth
            Vote.objects.create(
                item=item,
                foil=item.foils.get(),
                person=person,
                choice=choice,
                caption_first=True,
                idempotency_key=f"{item.pk}-{number}",
            )
    return made


@pytest.fixture
def owner(project):
    return factories.make_member(project, Role.RESEARCHER, name="owner")


def skill_page(project):
    return reverse("reports:report", args=[project.slug, "skill"])


def the_job():
    return Job.objects.get(dotted="reports.compute")


@pytest.mark.django_db
def test_an_excluded_and_reinstated_vote_makes_the_report_stale(project):
    project_report(project, "skill")
    assert not stored_report(project, "skill", None, {}).is_stale
    aside = Vote.objects.filter(person__username="val-2")
    aside.update(state=VoteState.SET_ASIDE)
    stored = stored_report(project, "skill", None, {})
    assert stored.is_stale
    assert stored.data["n_annotators"] == 3
    assert project_report(project, "skill")["n_annotators"] == 2
    aside.update(state=VoteState.COUNTED)
    assert stored_report(project, "skill", None, {}).is_stale
    assert project_report(project, "skill")["n_annotators"] == 3


@pytest.mark.django_db
def test_the_page_has_it_computed_by_a_job_and_again_when_votes_change(client, project, owner):
    client.force_login(owner)
    answer = client.get(skill_page(project))
    assert (answer.context["data"], Job.objects.count()) == (None, 0)
    assert client.get(reverse("reports:report_file", args=[project.slug, "skill", "json"])).status_code == 400
    client.post(reverse("reports:report_ask", args=[project.slug, "skill"]))
    client.post(reverse("reports:report_ask", args=[project.slug, "skill"]))
    assert "hx-get" in client.get(skill_page(project)).content.decode()
    assert run_now(the_job()).state == JobState.DONE
    answer = client.get(skill_page(project))
    alias = pseudonym(project, Vote.objects.filter(person__username="val-2").first().person_id)
    assert answer.context["data"]["annotators"][0]["annotator"] == alias
    assert "val-2" not in answer.content.decode()
    beside = client.get(reverse("reports:report", args=[project.slug, "agreement"])).content.decode()
    assert "Skill, Dawid-Skene" in beside
    progress = client.get(reverse("reports:report_progress", args=[project.slug, "skill"]))
    assert progress.headers["HX-Refresh"] == "true"
    first = the_job().pk
    Vote.objects.filter(person__username="val-0", item__key="i0").update(state=VoteState.SET_ASIDE)
    answer = client.get(skill_page(project))
    assert "have changed since these numbers were computed" in answer.content.decode()
    assert "Until the new ones are there" in answer.content.decode()
    again = Job.objects.exclude(pk=first).get()
    client.get(skill_page(project))
    assert Job.objects.count() == 2
    run_now(again)
    answer = client.get(skill_page(project))
    assert answer.context["data"]["n_votes"] == 23
    assert "Computed on" in answer.content.decode()


@pytest.mark.django_db
def test_a_report_that_an_older_version_stored_is_shown_without_mace(client, project, owner):
    client.force_login(owner)
    project_report(project, "skill")
    row = CachedResult.objects.get()
    mace = {**row.data["verdicts"][-1], "method": "mace"}
    annotators = [{**line, "mace": 0.5} for line in row.data["annotators"]]
    row.data |= {"verdicts": [*row.data["verdicts"], mace], "annotators": annotators}
    row.fingerprint = "of version 1"
    row.save()
    answer = client.get(skill_page(project))
    assert [name for name, *_ in answer.context["verdicts"]] == ["Majority", "Dawid-Skene"]
    assert "have changed since these numbers were computed" in answer.content.decode()


@pytest.mark.django_db
def test_a_page_view_does_not_queue_a_failed_job_again(client, project, owner):
    client.force_login(owner)
    project_report(project, "skill")
    row = request_report(owner, project, "skill", subtest="", params={})
    Job.objects.filter(pk=row.job.pk).update(state=JobState.FAILED, error="out of memory")
    Vote.objects.filter(item__key="i0").update(state=VoteState.SET_ASIDE)
    read_page(client.get(skill_page(project))).check("out of memory", "Compute again")
    assert Job.objects.count() == 1


@pytest.mark.django_db
def test_only_researchers_request_reports_that_need_a_job(project, owner):
    with pytest.raises(AccessDenied):
        request_report(factories.make_member(project, Role.VALIDATOR), project, "skill", subtest="", params={})
    with pytest.raises(EvaluationError, match="does not need a job"):
        request_report(owner, project, "validation", subtest="", params={})
    with pytest.raises(EvaluationError, match="no subtest"):
        request_report(owner, project, "skill", subtest="nouns", params={})
    assert not CachedResult.objects.exists()
