"""Items of published sets: valid on the publisher's word, said wherever they go, until votes decide."""

import json

import pytest
from django.urls import reverse

from annotation.actions.settings.published_labels import collect_votes
from annotation.actions.undo import undo_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Lease, Slot, Task
from annotation.queries.work_rules import changeable, why_fixed
from evaluation.board.latex import as_json, markdown
from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.freezable import freezable, left_out
from evaluation.reports.reports import project_report
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.export_formats import foilworks, hf, jsonl
from foilworks.core.corpus.export_formats.parts.documents import datasheet
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.export_formats.parts.folder import pretty, self_hash
from foilworks.core.corpus.models import Foil, Item, Subtest, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent
from foilworks.site.exports.collect import collect_release
from foilworks.site.exports.records import project_content, release_content
from foilworks.site.exports.verify import verify
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests.annotation.world import make_world

pytestmark = pytest.mark.django_db
PAIR = {"caption": "a ball.", "foils": ["a cube."]}
ITEMS = [
    {"id": "a", "video": "a.mp4", "caption": "a ball rolls left.", "foil": "a ball rolls right.", "proficiency": PAIR},
    {"id": "b", "video": "b.mp4", "caption": "a cube falls.", "foils": ["a cube rises.", "a cube hovers."]},
    {"id": "c", "video": "c.mp4", "caption": "a cone spins.", "foil": "a cone stops.", "votes": {"foil": 3}},
    {"id": "d", "video": "d.mp4", "caption": "a disc turns.", "foil": "a disc halts.", "votes": {"caption": 3}},
    {"id": "e", "video": "e.mp4", "caption": "a rod bends.", "foil": "a rod snaps.", "votes": {"caption": 1}},
]


@pytest.fixture
def world():
    return make_world({"blind_bar": 0.6})


@pytest.fixture
def bring(world, tmp_path):
    """Import ITEMS, or these records, as shapes.jsonl."""

    def go(*records, **options):
        path = tmp_path / "shapes.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records or ITEMS), encoding="utf-8")
        return import_records(world.project, None, "jsonl", path, **options).as_json()

    return go


def states():
    return dict(Item.objects.filter(subtest__kind="main").values_list("key", "state"))


def on_word():
    return sorted(item.key for item in Item.objects.filter(subtest__kind="main") if item.is_on_publishers_word)


def watchable():
    Video.objects.update(media_state="elsewhere", url="https://clips.example/x.mp4", duration=4.0)


def test_only_votes_of_the_file_overrule_the_publisher(bring, world):
    assert bring(as_published=True)["as_published"] == 3
    valid = ItemState.VALID
    assert states() == {"a": valid, "b": valid, "c": ItemState.INVALID, "d": valid, "e": valid}
    assert on_word() == ["a", "b", "e"]
    assert Item.objects.filter(as_published=False).count() == 0
    assert set(Foil.objects.filter(item__key="b").values_list("verdict", flat=True)) == {"valid"}
    make_tasks(world.project)
    assert not Task.objects.exists()
    assert violations() == []
    again = bring(as_published=True)
    assert (again["new"], again["changed"], again["same"]) == (0, 0, 5)


def test_without_the_option_nothing_counts_as_valid_before_its_votes(bring, world):
    bring(ITEMS[0], ITEMS[1])
    assert set(states().values()) == {ItemState.IN_VALIDATION}
    with pytest.raises(EvaluationError, match=r"No item is valid yet.*as published and with updates"):
        freeze_release(None, world.project)


def test_a_set_that_was_imported_before_gets_the_mark_by_an_update(bring, world):
    bring()
    make_tasks(world.project)
    watchable()
    # The draw would also give the proficiency item, which has no main item's state.
    Slot.objects.filter(item__key="b").update(priority=0.0)
    world.claim("vera", "validation")
    shown = Lease.objects.get().slot.item.key
    assert shown == "b"
    told = bring(as_published=True)
    assert (told["changed"], told["updated"], on_word()) == (5, 0, [])
    assert told["changes"][0]["fields"] == {"as_published": {"stored": False, "file": True}}
    assert bring(as_published=True, update=True)["updated"] == 5
    # What somebody has been shown stays in validation, and counts as valid until its votes decide.
    assert {key for key, state in states().items() if state == ItemState.IN_VALIDATION} == {shown}
    assert on_word() == ["a", "b", "e"]
    assert set(Task.objects.values_list("item__key", flat=True)) == {shown}
    assert freeze_release(None, world.project).n_as_published == 3
    assert bring(as_published=True)["changed"] == 0
    assert violations() == []


def test_a_subtest_without_votes_gets_the_mark_too(bring, world):
    Subtest.objects.create(project=world.project, name="shapes", votes_wanted=0, votes_needed=0)
    bring(ITEMS[0], ITEMS[4])
    assert set(states().values()) == {ItemState.VALID}
    bring(ITEMS[0], ITEMS[4], as_published=True, update=True)
    assert on_word() == ["a"]


def test_formats_without_items_refuse_the_option(world, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,choice\na,ann,caption\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match="--as-published: the format votes has no items"):
        import_records(world.project, None, "votes", path, as_published=True)


def test_release_manifests_reports_and_boards_mark_it(bring, world, tmp_path):
    bring(as_published=True)
    (row,) = freezable(world.project)[:1]
    assert (row.n_valid, row.n_as_published, row.n_paired, left_out([row])) == (4, 3, 1, "1 invalid")
    release = freeze_release(None, world.project, name="v1")
    assert (release.n_items, release.n_as_published) == (4, 3)
    marked = {member.item.key: member.record.get("as_published", False) for member in release.members.all()}
    assert marked == {"a": True, "b": True, "d": False, "e": True}
    assert project_report(world.project, "validation")["overall"]["n_as_published"] == 3
    (tmp_path / "mc.csv").write_text("id,prediction\na,0\nb,0\nd,1\ne,0\n", encoding="utf-8")
    run_now(start_run(None, release, RunRequest(f"file:{tmp_path}/mc.csv")).job)
    assert json.loads(as_json(board(release)))["as_published"]["items"] == 3
    assert "3 items of the release count as valid because they were imported as published" in markdown(board(release))
    for content in (release_content(release), project_content(world.project), collect_release(release, tables=False)):
        out = tmp_path / f"out-{type(content).__name__}-{content.release or 'now'}"
        jsonl.write(content, out, params={})
        assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["as_published"]["items"] == 3
    hf.write(collect_release(release, tables=False), tmp_path / "hf", params={})
    assert "**As published:** 3 of 4 items." in (tmp_path / "hf/README.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_the_whole_export_marks_it_and_is_verified(bring, world, tmp_path):
    bring(as_published=True)
    foilworks.write(collect_release(freeze_release(None, world.project)), tmp_path / "whole", params={})
    sheet = (tmp_path / "whole/datasheet.md").read_text(encoding="utf-8")
    assert "**As published:** 3 of 4 items." in sheet
    assert "3 of them were imported as published and are valid without votes collected here." in sheet
    assert "**As published:** 3 of 4 items." in (tmp_path / "whole/README.md").read_text(encoding="utf-8")
    assert verify(tmp_path / "whole")["ok"]
    path = tmp_path / "whole/manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    assert manifest.pop("as_published")["items"] == 3
    del manifest["manifest_sha256"]
    path.write_text(pretty({**manifest, "manifest_sha256": self_hash(manifest)}), encoding="utf-8")
    assert verify(tmp_path / "whole")["difference"].startswith("manifest.json: as_published is null")


def test_a_release_without_such_items_has_no_mark_and_keeps_its_hash(bring, world, tmp_path):
    bring(ITEMS[3])
    release = freeze_release(None, world.project)
    assert release.n_as_published == 0
    assert "as_published" not in release.members.get().record
    jsonl.write(release_content(release), tmp_path / "out", params={})
    assert "as_published" not in json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))


class TestGate:
    """Captions fold, foils tear: one word tells them apart."""

    SOLVED = [
        {"id": f"s{n}", "video": f"{n}.mp4", "caption": f"he folds it on day {n}.", "foil": f"he tears it on day {n}."}
        for n in range(30)
    ]

    def test_a_published_set_is_reported_and_never_stopped(self, bring, world):
        bring(*self.SOLVED, as_published=True)
        release = freeze_release(None, world.project)
        (row,) = release.gate.data["rows"]
        assert (row["stopped"], row["reported"], release.gate.data["stopped"]) == (False, True, [])
        assert release.gate.override == ""
        sheet = datasheet(facts_of(collect_release(release, tables=False)))
        assert "**solved without the video**; a published set, so it is reported and not stopped" in sheet
        assert "Words that give **shapes** away: " in sheet

    def test_a_subtest_with_items_of_another_origin_is_stopped(self, bring, world):
        bring(*self.SOLVED, as_published=True)
        bring({**self.SOLVED[0], "id": "own", "caption": "he folds it.", "votes": {"caption": 3}})
        with pytest.raises(EvaluationError, match="shapes is solved without the video"):
            freeze_release(None, world.project)


class TestVotes:
    def test_sampled_items_count_as_valid_until_validators_decide(self, bring, world):
        bring(as_published=True)
        watchable()
        subtest = Subtest.objects.get(name="shapes")
        assert collect_votes(world.owner, subtest, size=1) == 1
        (asked,) = Item.objects.filter(state=ItemState.IN_VALIDATION)
        assert on_word() == ["a", "b", "e"]
        assert freeze_release(None, world.project).n_as_published == 3
        assert violations() == []
        # The rest can still be asked about, what is asked about cannot be asked about twice.
        assert collect_votes(world.owner, subtest) == 2
        with pytest.raises(AnnotationError, match="No item that was imported as published"):
            collect_votes(world.owner, subtest)
        assert AuditEvent.objects.get(action="collect_votes", target_type="corpus.item", target_id=str(asked.pk))

    def test_votes_overrule_the_publisher(self, bring, world):
        bring(ITEMS[0], as_published=True)
        watchable()
        before = freeze_release(None, world.project)
        collect_votes(world.owner, Subtest.objects.get(name="shapes"))
        votes = [world.vote(name) for name in ("vera", "vic", "val")]
        assert on_word() == []
        item = Item.objects.get(key="a", subtest__kind="main")
        assert (item.state, item.unanimous, item.as_published) == (ItemState.VALID, True, True)
        # The release that held it did so without votes.
        undo_vote(world.val, votes[-1].pk)
        assert on_word() == ["a"]
        world.vote("val")
        # The same texts, and another release: what is said of them changed.
        after = freeze_release(None, world.project)
        assert (before.n_as_published, after.n_as_published) == (1, 0)
        assert before.content_hash != after.content_hash
        assert violations() == []

    def test_votes_against_it_exclude_it_from_the_next_release(self, bring, world):
        bring(ITEMS[0], ITEMS[3], as_published=True)
        watchable()
        collect_votes(world.owner, Subtest.objects.get(name="shapes"))
        for name in ("vera", "vic", "val"):
            world.vote(name, "foil")
        assert states() == {"a": ItemState.INVALID, "d": ItemState.VALID}
        assert freeze_release(None, world.project).n_items == 1

    def test_votes_of_a_file_decide_as_well(self, bring, world, tmp_path):
        bring(as_published=True)
        path = tmp_path / "votes.csv"
        rows = [f"a,{who},foil" for who in ("x", "y", "z")]
        path.write_text("\n".join(["item,annotator,choice", *rows]) + "\n", encoding="utf-8")
        import_records(world.project, None, "votes", path)
        assert (states()["a"], on_word()) == (ItemState.INVALID, ["b", "e"])
        assert violations() == []

    def test_the_rule_can_change_until_the_first_task_is_shown(self, bring, world):
        bring(ITEMS[0], as_published=True)
        watchable()
        subtest = Subtest.objects.get(name="shapes")
        assert why_fixed(subtest) == ""
        assert subtest in changeable(Subtest.objects.all())
        collect_votes(world.owner, subtest)
        world.vote("vera")
        assert why_fixed(subtest) != ""

    def test_invalid_samples_are_refused(self, bring, world):
        bring(ITEMS[0], as_published=True)
        subtest = Subtest.objects.get(name="shapes")
        with pytest.raises(AnnotationError, match="Attach the videos first"):
            collect_votes(world.owner, subtest)
        with pytest.raises(AnnotationError, match="at least one item"):
            collect_votes(world.owner, subtest, size=0)
        Subtest.objects.filter(pk=subtest.pk).update(votes_wanted=0, votes_needed=0)
        with pytest.raises(AnnotationError, match="requires no votes"):
            collect_votes(world.owner, subtest)


class TestPages:
    def test_the_pages_show_the_mark_and_collect_votes(self, bring, world, client):
        bring(as_published=True)
        watchable()
        release = freeze_release(None, world.project, name="v1")
        client.force_login(world.owner)

        def page(name, *args):
            return client.get(reverse(name, args=[world.project.slug, *args])).content.decode()

        assert "3 of 4 items count as valid without votes in this project" in page("releases:release", release.pk)
        assert "3 of 4 items count as valid without votes in this project" in page("board:leaderboard", release.pk)
        assert "3 imported as published" in page("releases:releases")
        assert "3 imported as published" in page("releases:freeze")
        item = Item.objects.get(key="a", subtest__kind="main")
        assert "as published" in page("items:item", item.pk)
        assert "3 items were imported as published and count as valid" in page("annotation:vote_rule", item.subtest_id)
        collect = reverse("annotation:ask_for_votes", args=[world.project.slug, item.subtest_id])
        assert "at least one item" in client.post(collect, {"sample": "0"}, follow=True).content.decode()
        assert (
            "Votes will be collected for 2 items" in client.post(collect, {"sample": "2"}, follow=True).content.decode()
        )
        assert Item.objects.filter(state=ItemState.IN_VALIDATION).count() == 2
