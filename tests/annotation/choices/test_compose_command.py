"""`foilworks compose`: multiple-choice items of random captions and hard foils of other runs and subtests."""

import json

import pytest
from django.core.management import call_command

from annotation.actions.decisions.items import requeue
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.choices.actions.compose_choices import Request, compose_choices
from annotation.models import Involvement, Task
from evaluation.facts.edits import edit_facts
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.export_formats.contrast import write
from foilworks.core.corpus.models import Caption, Foil, Item
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.exports.collect import collect_release
from foilworks.site.invariants.history import items_came_by_legal_moves
from foilworks.site.invariants.items import an_item_is_about_one_video, an_item_is_what_its_pairs_say
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_video,
)

pytestmark = pytest.mark.django_db
NEGATIVES = tuple(f"random caption {number}." for number in range(4))
N = 6


@pytest.fixture
def project():
    return make_project(slug="p")


@pytest.fixture
def random(project):
    """A subtest of imported Random items, as of MSR-VTT's multiple-choice list."""
    subtest = make_subtest(project, name="random", foils_per_item=4, votes_wanted=0, votes_needed=0)
    for number in range(N):
        caption = make_caption(make_video(project, key=f"clip{number}"), f"a man sings song {number}.")
        item = make_item(subtest, caption, NEGATIVES, key=f"random:ret{number}", state=ItemState.VALID)
        item.foils.update(verdict=FoilVerdict.VALID)
    return subtest


def hard_run(random, word, state=CandidateState.ACCEPTED, **fields):
    """A run with a foil per caption, except for the last one."""
    run = make_run(make_subtest(random.project, name=f"{word} alone"), method="fake")
    for caption in Caption.objects.filter(items__subtest=random).order_by("pk")[: N - 1]:
        foil = caption.text.replace("man", word)
        make_candidate(make_group(run, caption), foil, state=state, **fields)
    return run


def target(random, name, **fields):
    return make_subtest(random.project, **{"name": name, "foils_per_item": 4, **fields})


def run_command(capsys, *options, random="random"):
    call_command("compose", "--project", "p", "--random", random, *options, "--json")
    return json.loads(capsys.readouterr().out)


def kept(subtest):
    """The random captions of each item, by its caption."""
    return {
        item.caption.text: [foil.text for foil in item.foils.all() if item.facts["roles"][foil.position] == "random"]
        for item in Item.objects.filter(subtest__name=subtest)
    }


def test_versions_of_an_item_share_their_random_captions(random, capsys):
    for name, word in (("gender", "woman"), ("identity", "girl")):
        target(random, name)
        source = hard_run(random, word)
        result = run_command(capsys, "--subtest", name, "--hard", f"run:{source.pk}", "--seed", "3")
        assert (result["composed"], result["existing"], result["left_out"]) == (N - 1, 0, {"no_hard": 1})
    assert kept("gender") == kept("identity")
    assert len({tuple(texts) for texts in kept("gender").values()}) > 1
    item = Item.objects.filter(subtest__name="gender").first()
    hard = item.foils.get(position=item.facts["hard_foil"])
    assert (item.key, item.state, hard.text) == ("ret0", "in_validation", "a woman sings song 0.")
    assert item.facts["composed"] == {"random": "random:ret0", "from": "random", "hard": "woman alone", "seed": 3}
    assert AuditEvent.objects.filter(action="annotation.compose_item").count() == 2 * (N - 1)
    assert AuditEvent.objects.filter(action="annotation.compose_choices", actor=None).count() == 2


def test_a_second_call_stores_nothing_new(random, capsys):
    target(random, "gender")
    options = ("--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman').pk}")
    run_command(capsys, *options)
    again = run_command(capsys, *options, "--seed", "5")
    assert (again["composed"], again["existing"], Item.objects.count()) == (0, N - 1, 2 * N - 1)
    assert AuditEvent.objects.filter(action="annotation.compose_choices").count() == 1


def test_a_dry_run_stores_nothing_and_a_limit_draws_a_sample(random, capsys):
    target(random, "gender")
    options = ("--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman').pk}", "--limit", "2")
    assert run_command(capsys, *options, "--dry-run")["composed"] == 2
    assert Item.objects.count() == N
    call_command("compose", "--project", "p", "--random", "random", *options)
    assert capsys.readouterr().out == "2 items composed, 0 existing\n  left out, 1: no hard foil for this caption\n"
    assert run_command(capsys, *options)["existing"] == 2


def test_candidates_without_a_review_are_used_only_if_asked(random, capsys):
    gender = target(random, "gender", votes_wanted=0, votes_needed=0)
    options = ("--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman', CandidateState.QUEUED).pk}")
    assert "has no foils to use" in refused(capsys, *options)
    assert run_command(capsys, *options, "--unreviewed")["composed"] == N - 1
    members = freeze_release(None, random.project, name="v1").members.filter(item__subtest=gender)
    marks = [made["unreviewed"] for member in members for made in member.record["provenance"] if made]
    assert marks == [True] * (N - 1)


def test_random_items_are_composed_of_a_run(random, capsys):
    run = make_run(random, method="fake")
    for caption in Caption.objects.all():
        group = make_group(run, caption)
        for rank in range(5):
            make_candidate(group, f"caption {rank} of another clip", rank=rank)
    target(random, "of a run")
    result = run_command(capsys, "--subtest", "of a run", "--unreviewed", random=f"run:{run.pk}")
    assert (result["composed"], result["hard"]) == (N, "")
    assert [row["foils"] for row in result["items"]] == [[f"caption {rank} of another clip" for rank in range(4)]] * N
    assert set(Item.objects.filter(subtest__name="of a run").values_list("facts__hard_foil", flat=True)) == {None}


def test_edits_by_people_come_from_the_items_of_a_subtest(random, capsys):
    edits = make_subtest(random.project, name="edits")
    states = [ItemState.VALID, ItemState.IN_VALIDATION, ItemState.INVALID, ItemState.DISPUTED, ItemState.RETRACTED]
    for caption, state in zip(Caption.objects.order_by("pk"), states, strict=False):
        make_item(edits, caption, (caption.text.replace("sings", "eats"),), state=state, facts={"made_by": "person"})
    target(random, "verb-h")
    result = run_command(capsys, "--subtest", "verb-h", "--hard", "edits")
    assert (result["composed"], result["left_out"]) == (2, {"no_hard": N - 2})
    authors = Item.objects.filter(subtest__name="verb-h").values_list("facts__made_by", flat=True)
    assert list(authors) == ["person", "person"]
    # The edits count once, although two items have each.
    assert len([one for one in edit_facts(random.project) if "eats" in one.foil and one.source == "person"]) == 4


def test_no_candidate_is_a_true_caption_of_the_clip(random, capsys):
    video = Caption.objects.order_by("pk")[0].video
    for text in NEGATIVES:
        make_caption(video, text.upper())
    make_caption(Caption.objects.order_by("pk")[1].video, "A woman sings song 1")
    target(random, "gender")
    result = run_command(capsys, "--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman').pk}")
    assert (result["composed"], result["left_out"]) == (N - 3, {"true": 1, "unusable": 1, "no_hard": 1})


def test_captions_found_false_and_rejected_items_are_left_out(random, capsys):
    Caption.objects.filter(text="a man sings song 0.").update(flagged_false=True)
    Item.objects.filter(key="random:ret1").update(state=ItemState.INVALID)
    Foil.objects.filter(item__key="random:ret2", position=0).update(verdict=FoilVerdict.INVALID)
    target(random, "gender")
    result = run_command(capsys, "--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman').pk}")
    assert (result["composed"], result["left_out"]) == (N - 4, {"not_live": 2, "count": 1, "no_hard": 1})


def test_the_items_are_validated_released_and_exported_like_others(random, capsys, tmp_path):
    subtest = target(random, "gender")
    run = hard_run(random, "woman", model_id="some/model")
    run_command(capsys, "--subtest", "gender", "--hard", f"run:{run.pk}")
    make_tasks(random.project)
    tasks = Task.objects.filter(item__subtest=subtest)
    # One judgement among all five texts, three times.
    assert (tasks.count(), set(tasks.values_list("overlap", flat=True))) == (N - 1, {3})
    items = Item.objects.filter(subtest=subtest)
    Foil.objects.filter(item__in=items).update(verdict=FoilVerdict.VALID)
    items.update(state=ItemState.VALID)
    release = freeze_release(None, random.project, name="v1")
    record = release.members.filter(item__in=items).order_by("pk").first().record
    hard = record["facts"]["hard_foil"]
    assert "unreviewed" not in record["provenance"][hard]
    assert [made and made["model_id"] for made in record["provenance"]] == [
        "some/model" if place == hard else None for place in range(4)
    ]
    write(collect_release(release), tmp_path / "out", params={})
    header, *rows = [
        line.split("\t") for line in (tmp_path / "out" / "gender.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert header == ["clip", "ending0", "ending1", "ending2", "ending3", "ending4", "label", "c_label"]
    for row in rows:
        label, changed = int(row[6]), int(row[7])
        assert (row[1 + label].startswith("a man"), row[1 + changed].startswith("a woman")) == (True, True)


def test_a_rejected_item_comes_back_with_its_hard_foil_marked(random, capsys, client):
    subtest = target(random, "gender")
    run_command(capsys, "--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman').pk}")
    owner = make_member(random.project, Role.RESEARCHER)
    client.force_login(owner)
    item = Item.objects.filter(subtest=subtest).first()
    page = client.get(f"/projects/p/items/{item.pk}/").content.decode()
    assert "Hard foil, from woman alone" in page
    assert " ".join(page.split()).count("Random caption, from the item random:ret0") == 3
    item.foils.update(verdict=FoilVerdict.VALID)
    item.foils.filter(position=(item.facts["hard_foil"] + 1) % 4).update(verdict=FoilVerdict.INVALID)
    Item.objects.filter(pk=item.pk).update(state=ItemState.INVALID)
    requeue(owner, item.pk)
    texts = [(foil.candidate.method, foil.candidate.rank) for foil in item.foils.order_by("position")]
    assert texts == [("composed", place) for place in range(4)]
    assert [one.foil for one in edit_facts(random.project, subtest)].count("a woman sings song 0.") == 1


def test_items_without_votes_are_valid_at_once_and_the_checks_hold(random, capsys):
    target(random, "gender", votes_wanted=0, votes_needed=0)
    run_command(capsys, "--subtest", "gender", "--hard", f"run:{hard_run(random, 'woman').pk}")
    assert set(Item.objects.values_list("state", flat=True)) == {"valid"}
    assert set(Foil.objects.filter(item__subtest__name="gender").values_list("verdict", flat=True)) == {"valid"}
    assert not [*an_item_is_what_its_pairs_say(), *an_item_is_about_one_video(), *items_came_by_legal_moves()]


def test_who_made_a_hard_foil_cannot_judge_the_new_item(random):
    gender, run = target(random, "gender"), hard_run(random, "woman")
    ann = make_member(random.project, Role.ANNOTATOR)
    group = run.groups.first()
    made = {"person": ann, "video": group.caption.video, "kind": Involvement.Kind.MADE}
    Involvement.objects.create(project=random.project, group=group, **made)
    for _ in range(2):
        compose_choices(None, gender, Request("random", f"run:{run.pk}"))
    assert Involvement.objects.filter(group=None, **made).count() == 1


def refused(capsys, *options, random="random"):
    with pytest.raises(SystemExit):
        run_command(capsys, *options, random=random)
    return capsys.readouterr().err


def test_refusals_say_what_to_do(random, capsys):
    make_subtest(random.project, name="one")
    target(random, "gender")
    empty = make_run(random)
    assert "one has 1 foils per item. Choose a main subtest" in refused(capsys, "--subtest", "one", "--hard", "one")
    assert "cannot be the source" in refused(capsys, "--subtest", "random", "--hard", "one")
    assert "Subtest 'x' not found. Choose one of: gender" in refused(capsys, "--subtest", "gender", "--hard", "x")
    assert "no run 999" in refused(capsys, "--subtest", "gender", random="run:999")
    assert "no random captions to use" in refused(capsys, "--subtest", "gender", random=f"run:{empty.pk}")
    assert "Change the number" in refused(capsys, "--subtest", "gender", "--limit", "0")
    assert "--subtest: subtest 'y' not found" in refused(capsys, "--subtest", "y")


def test_only_researchers_compose(random):
    annotator = make_member(random.project, Role.ANNOTATOR)
    with pytest.raises(AccessDenied):
        compose_choices(annotator, target(random, "gender"), Request("random"))
    assert Item.objects.count() == N
