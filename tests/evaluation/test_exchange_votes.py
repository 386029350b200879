"""Raw votes of a past study: onto items, into verdicts, reports and exports, and never over somebody's work."""

import json

import pytest
from django.core.management import call_command

from annotation.models import Vote
from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import vote_facts
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import project_report
from foilworks.core.corpus.import_formats import mturk, votes
from foilworks.core.corpus.models import Caption, Item
from foilworks.core.corpus.records import BadRecord, RecordWarning
from foilworks.core.corpus.vote_records import VoteRecord, is_anonymous_vote
from foilworks.core.projects.models import AuditEvent
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db

ITEMS = [
    {"id": "a", "source_id": "1", "caption": "a ball", "foil": "a cube"},
    {"id": "b", "source_id": "2", "caption": "a ball", "foil": "a cube", "votes": {"caption": 2, "other": 1}},
    {"id": "c", "source_id": "3", "caption": "a ball", "foils": ["a cube", "a cone"]},
]
VOTES = """item,annotator,choice,position,foil
a,ann,caption,1,
a,bob,2,2,
shapes:a,cy,neither,,
b,ann,caption,,
b,bob,caption,,
b,cy,cannot tell,,
c,ann,caption,,0
c,bob,caption,,0
c,cy,foil,,0
c,ann,foil,,1
c,bob,foil,,1
c,cy,caption,,1
"""


@pytest.fixture
def project(tmp_path):
    found = make_project()
    path = tmp_path / "shapes.jsonl"
    path.write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    assert import_records(found, None, "jsonl", path).errors == []
    return found


@pytest.fixture
def run(project, tmp_path):
    def go(text, slug="votes", name="votes.csv", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return import_records(project, None, slug, path, **options)

    return go


def states():
    return dict(Item.objects.filter(subtest__kind="main").values_list("key", "state"))


def test_votes_decide_items_and_reach_the_reports(run, project):
    result = run(VOTES).as_json()
    # `a` is named in two ways, and is one item.
    assert (result["errors"], result["records"], result["new"]) == ([], 12, 12)
    assert states() == {"a": "valid", "b": "valid", "c": "invalid"}
    facts = vote_facts(project)
    assert sorted(facts.annotator_names) == ["file:ann", "file:bob", "file:cy"]
    assert (len(facts.choice), facts.n_items) == (12, 3)
    report = project_report(project, "agreement")
    assert report["n_votes"] == 12
    assert report["alpha"] is not None
    assert violations() == []


def test_equal_votes_change_nothing_and_others_only_on_request(run):
    text = VOTES.replace("shapes:a", "a")
    assert run(text).created["votes"] == 12
    rows = list(Vote.objects.order_by("pk").values())
    again = run(text).as_json()
    assert (again["new"], again["same"], again["changed"]) == (0, 12, 0)
    other = text.replace("a,bob,2,2", "a,bob,foil,2")
    listed = run(other).as_json()
    assert listed["changes"][0]["fields"]["votes"]["stored"] == {"caption": 2, "neither": 1}
    assert list(Vote.objects.order_by("pk").values()) == rows
    with pytest.raises(
        EvaluationError, match=r"votes: different votes are stored; import with --update; nothing was stored"
    ):
        run(other, strict=True)
    assert run(other, update=True).as_json()["updated"] == 1
    assert states()["a"] == "disputed"
    trail = AuditEvent.objects.filter(action="import_votes", to_state__in=["in_validation", "disputed"])
    assert list(trail.values_list("from_state", "to_state")) == [
        ("valid", "in_validation"),
        ("in_validation", "disputed"),
    ]
    assert violations() == []


def test_counts_of_an_item_file_keep_the_individual_votes(run, project, tmp_path):
    """Also where they count two of one kind otherwise, as ViLMA's do: `neither` is none of its choices."""
    assert run(VOTES).errors == []
    rows = list(Vote.objects.order_by("pk").values())
    lines = "\n".join(json.dumps({**line, "votes": {"caption": 2, "foil": 1}}) for line in ITEMS)
    for update in (False, True):
        again = run(lines, "jsonl", "shapes.jsonl", update=update).as_json()
        assert (again["new"], again["same"], again["changed"], again["errors"]) == (0, 3, 0, [])
    assert list(Vote.objects.order_by("pk").values()) == rows


def test_replaced_votes_remove_their_doubt_about_the_caption(run):
    """All three items are about one text on clips of their own: `c` was in doubt, then `b` is."""
    assert flagged(run("item,annotator,choice\nc,ann,foil\nc,bob,neither\nc,cy,caption\n")) == {"c"}
    text = "item,annotator,choice\nc,ann,foil\nc,bob,caption\nc,cy,caption\nb,ann,foil\nb,bob,foil\nb,cy,foil\n"
    assert flagged(run(text)) == {"c"}
    assert flagged(run(text, update=True)) == {"b"}
    assert violations() == []


def test_a_confirmed_caption_is_in_doubt_again_if_a_file_says_so(run):
    Caption.objects.update(doubt_settled="confirmed")
    run("item,annotator,choice\nc,ann,foil\nc,bob,foil\nc,cy,caption\nb,ann,caption\nb,bob,caption\nb,cy,foil\n")
    settled = dict(Caption.objects.values_list("items__key", "doubt_settled"))
    assert (settled["b"], settled["c"]) == ("confirmed", "")


def flagged(result) -> set[str]:
    assert result.errors == []
    return set(Item.objects.filter(caption__flagged_false=True).values_list("key", flat=True))


def test_a_dry_run_stores_nothing(run):
    assert run(VOTES, dry_run=True).created["votes"] > 0
    assert Vote.objects.filter(imported_as__gt="").count() == 0
    assert states()["a"] == "in_validation"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nowhere,ann,caption,,", "item: there is no item 'nowhere' in the project; import the items first"),
        ("a,ann,perhaps,,", "choice: is 'perhaps'; give one of caption, foil, neither, both, cannot_tell, other"),
        ("a,ann,1,,", "position: is missing; give the position of the caption (1 or 2)"),
        ("a,ann,1,3,", "position: is '3'; give 1 if the caption was first, else 2"),
        ("a,,caption,,", "annotator: is missing; name it"),
        ("a,unnamed-2,caption,,", "annotator: is 'unnamed-2', which exports give to votes that name nobody; give"),
        ("a,ann,caption,,1", "foil: is 1, but the item has 1 foils; count them from 0"),
        ("a,ann,caption,,-1", "foil: is '-1'; give its position in the item, from 0, or omit it"),
        ("a,ann,caption,,\na,ann,foil,,", "annotator: 'ann' judged 'a' already on line 2; keep one of the two"),
        ("a,ann,caption,,\nshapes:a,ann,foil,,", "annotator: 'ann' judged 'a' twice, under two ids of the item"),
        ("a,ann,caption,,\na,bob,foil,,0", "foil: is given in some votes of the item and not in others"),
    ],
)
def test_an_error_is_one_line_and_stores_nothing(run, line, problem):
    result = run(f"item,annotator,choice,position,foil\n{line}\n")
    assert problem in result.errors[0]
    with pytest.raises(EvaluationError, match="nothing was stored"):
        run(f"item,annotator,choice,position,foil\n{line}\n", strict=True)


@pytest.mark.parametrize("state", ["requeued", "retracted"])
def test_retracted_items_do_not_change(run, state):
    text = "item,annotator,choice\nb,ann,foil\nb,bob,foil\nb,cy,foil\n"
    run(text, update=True)
    Item.objects.filter(key="b").update(state=state)
    again = run(text).as_json()
    if state == "retracted":
        assert "there is no item 'b' in the project" in again["errors"][0]
    else:
        assert (again["errors"], again["same"]) == ([], 3)
    assert run(text.replace("cy,foil", "cy,caption"), update=True).errors
    assert (states()["b"], Vote.objects.filter(item__key="b", choice="foil").count()) == (state, 3)


def test_a_shared_name_means_the_item_that_was_not_requeued(run, project):
    old = Item.objects.get(key="b")
    other = make_subtest(project, name="forms", votes_wanted=1, votes_needed=1)
    make_item(other, old.caption, key="b")
    Item.objects.filter(pk=old.pk).update(state="requeued")
    assert run("item,annotator,choice\nb,ann,caption\n").errors == []
    assert Vote.objects.filter(item__subtest=other).count() == 1


def test_items_judged_in_this_project_do_not_change(run, project):
    item = Item.objects.get(key="a")
    person = make_member(project, "validator")
    Vote.objects.create(item=item, foil=item.foils.get(), person=person, choice="caption", caption_first=True)
    assert (
        "'a' is judged in this project; it keeps the votes of its validators"
        in run(VOTES.replace("shapes:a", "a")).errors[0]
    )
    assert item.votes.count() == 1


MTURK = (
    "HITId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.item,Input.position,Answer.choice.first,"
    "Answer.choice.second,Answer.choice.neither\n"
    "h,A1WORKER,Approved,12,a,1,true,false,false\n"
    "h,A2WORKER,Submitted,9,a,2,false,true,false\n"
    "h,A3WORKER,Rejected,1,a,2,true,false,false\n"
    "h,A4WORKER,Approved,8,a,2,false,false,true\n"
    "h,A5WORKER,Approved,8,a,2,true,false,true\n"
)


def test_a_mechanical_turk_batch_is_imported_under_pseudonyms(run, project):
    result = run(MTURK, "mturk", "batch.csv").as_json()
    assert result["warnings"][0].endswith("batch.csv:4: state: the assignment was rejected: skipped")
    assert result["errors"][0].endswith("batch.csv:6: answer: 2 of 3 options are true; correct the row")
    assert states()["a"] == "valid"
    stored = Vote.objects.filter(item__key="a").order_by("import_index")
    assert list(stored.values_list("choice", "caption_first", "seconds_spent")) == [
        ("caption", True, 12.0),
        ("caption", False, 9.0),
        ("neither", False, 8.0),
    ]
    assert "WORKER" not in json.dumps(
        [*stored.values_list("imported_as", flat=True), *map(str, AuditEvent.objects.all())]
    )
    assert run(MTURK, "mturk", "batch.csv").as_json()["same"] == 3


def test_the_columns_of_a_batch_can_be_named(tmp_path):
    path = tmp_path / "batch.csv"
    path.write_text("WorkerId,Input.clip,Answer.verdict\nw,a,both\n,a,both\nv,,both\n", encoding="utf-8")
    first, *rest = mturk.read(path, params={"item": "clip", "answer": "verdict"})
    assert first == VoteRecord("a", "w", "both", is_identity=True)
    assert [(bad.field, bad.problem) for bad in rest] == [("WorkerId", "is missing"), ("item", "is missing")]
    (bad, *_) = mturk.read(path, params={})
    assert isinstance(bad, BadRecord)
    assert str(bad).endswith("name it with --set item=COLUMN")


def test_lines_of_an_export_are_read_and_uncounted_ones_skipped(tmp_path):
    path = tmp_path / "votes.jsonl"
    lines = [
        {
            "item": "s:a",
            "annotator": "p-1",
            "choice": "both",
            "position": 2,
            "foil": 0,
            "stage": "validation",
            "state": "counted",
            "seconds": 1.5,
            "watch": {},
            "kind": "main",
            "subtest": "s",
            "source": "person",
        },
        {"item": "s:a", "annotator": "p-2", "choice": "both", "stage": "baseline"},
        {"item": "s:a", "annotator": "p-3", "choice": "both", "state": "set_aside"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    first, *others = votes.read(path, params={})
    assert first == VoteRecord("s:a", "p-1", "both", foil=0, caption_first=False, seconds=1.5)
    assert all(isinstance(one, RecordWarning) for one in others)


@pytest.fixture(params=["votes.jsonl", "votes.csv"])
def exported(request, project, tmp_path):
    """The votes of an export of ours in which all votes, of the item `b`, came as counts."""
    slug = "foilworks" if request.param.endswith("jsonl") else "votes"
    freeze_release(None, project, name="r")
    call_command("export", slug, project=project.slug, release="r", out=tmp_path / "out")
    found = (tmp_path / "out" / request.param).read_text(encoding="utf-8")
    assert [name in found for name in ("unnamed-1", "unnamed-3", "unnamed-4")] == [True, True, False]
    return found


def counted():
    rows = Vote.objects.filter(item__key="b").order_by("import_index")
    return list(rows.values_list("item__subtest__project__slug", "imported_as", "choice"))


def test_counts_exported_as_votes_remain_counts(run, exported, request, project):
    name = request.node.callspec.params["exported"]
    rows = list(Vote.objects.order_by("pk").values())
    again = run(exported, name=name).as_json()
    assert (again["errors"], again["new"], again["same"], again["changed"]) == ([], 0, 3, 0)
    assert list(Vote.objects.order_by("pk").values()) == rows
    # Where they were taken for those of people, an update makes them counts again.
    for row in Vote.objects.all():
        Vote.objects.filter(pk=row.pk).update(imported_as=f"unnamed-{row.import_index + 1}")
    assert run(exported, name=name, update=True).as_json()["updated"] == 1
    assert counted() == [(project.slug, "", "caption"), (project.slug, "", "caption"), (project.slug, "", "other")]


def test_counts_exported_as_votes_are_counts_in_other_projects_too(exported, request, tmp_path):
    other = make_project(slug="other")
    path = tmp_path / "shapes.jsonl"
    path.write_text(json.dumps({**ITEMS[1], "votes": None}), encoding="utf-8")
    import_records(other, None, "jsonl", path)
    path = tmp_path / request.node.callspec.params["exported"]
    path.write_text(exported, encoding="utf-8")
    assert import_records(other, None, "votes", path).as_json()["new"] == 3
    assert [row[1:] for row in counted() if row[0] == "other"] == [("", "caption"), ("", "caption"), ("", "other")]
    assert Item.objects.get(subtest__project=other, key="b").state == "valid"
    assert violations() == []


@pytest.mark.parametrize(
    ("source", "name", "nobody"),
    [
        ("import", "unnamed-1", True),
        ("import", "unnamed-12", True),
        ("import", "unnamed-0", False),
        ("import", "unnamed-ann", False),
        ("import", "unnamed-1b", False),
        ("import", "w-0123456789", False),
        ("person", "unnamed-1", False),
        ("", "unnamed-1", False),
    ],
)
def test_only_counts_have_names_of_counts(source, name, nobody):
    assert is_anonymous_vote(source, name) is nobody


def test_the_command_reports_the_result_of_the_votes(project, tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES.replace("shapes:a", "a"), encoding="utf-8")
    call_command("import", "votes", str(path), project=project.slug, as_json=True)
    assert json.loads(capsys.readouterr().out)["new"] == 12
    with pytest.raises(SystemExit):
        call_command("import", "votes", str(path), project="none", create=True)
    assert "there is no project 'none'; import the items of the votes first" in capsys.readouterr().err
