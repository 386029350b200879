import json
from pathlib import Path, PurePath

import pytest
from django.core.files.storage import default_storage
from django.db import IntegrityError

from annotation.actions.decisions.captions import correct_caption, drop_caption
from annotation.actions.decisions.items import retract, take_down_video
from annotation.models import Vote
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import jsonl
from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
from foilworks.core.corpus.video_files.stored_files import opaque_name
from foilworks.core.media.encode import write_mp4, write_webm
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.sql.bulk_writes import insert_many
from foilworks.site.exports.records import project_content, release_content
from foilworks.site.imports import store, survey
from foilworks.site.imports.store import import_records
from foilworks.site.invariants.registry import violations
from tests.factories import make_member, make_subtest
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db

PAIR = {"caption": "a ball rolls.", "foils": ["a cube rolls."], "votes": {"caption": 1}}


def record(id_="a", **changes):
    values = {
        "id": id_,
        "video": f"{id_}.mp4",
        "caption": "a ball rolls left.",
        "foil": "a ball rolls right.",
        "votes": {"caption": 2, "foil": 1, "other": 0},
        "proficiency": PAIR,
    }
    return {**values, **changes}


@pytest.fixture
def run(project, tmp_path):
    """Import these lines as direction.jsonl."""

    def go(*records, **options):
        path = tmp_path / "direction.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        return import_records(project, None, "jsonl", path, **options)

    return go


@pytest.fixture
def clips(tmp_path):
    """A folder with a clip of one second, 8 frames."""
    folder = tmp_path / "clips"
    folder.mkdir()
    write_mp4(folder / "a.mp4", painted_clip(8), fps=8)
    return folder


def test_an_item_is_stored_as_its_votes_decided_it(run):
    result = run(record())
    item = Item.objects.get(key="a")
    assert (item.state, item.unanimous, item.subtest.name) == ("valid", False, "direction")
    assert (item.caption.text, item.video.key) == ("a ball rolls left.", "a.mp4")
    assert [(foil.position, foil.text, foil.verdict) for foil in item.foils.all()] == [
        (0, "a ball rolls right.", "valid")
    ]
    pair = item.proficiency_item
    assert (pair.state, pair.unanimous, pair.caption.text, pair.video) == ("valid", True, "a ball rolls.", item.video)
    assert (item.subtest.votes_wanted, item.subtest.votes_needed) == (3, 2)
    assert item.subtest.proficiency_subtest == pair.subtest
    assert (pair.subtest.kind, pair.subtest.votes_wanted) == ("proficiency", 1)
    assert result.as_json()["created"] == {
        "items": 1,
        "captions": 0,
        "proficiency_items": 1,
        "videos": 1,
        "subtests": 2,
        "foils": 2,
        "votes": 4,
    }


def test_votes_of_a_file_name_nobody_and_no_foil(run):
    run(record(votes={"caption": 1, "foil": 1, "other": 1}))
    votes = Vote.objects.filter(item__key="a").order_by("import_index")
    assert [(v.choice, v.import_index) for v in votes] == [("caption", 0), ("foil", 1), ("other", 2)]
    assert {(v.person, v.foil, v.source, v.state, v.stage) for v in votes} == {
        (None, None, "import", "counted", "validation")
    }


@pytest.mark.parametrize(
    ("votes", "state", "unanimous", "doubted"),
    [
        ({"caption": 3}, "valid", True, False),
        ({"caption": 2, "other": 1}, "valid", False, False),
        ({"caption": 1, "foil": 2}, "invalid", False, True),
        ({"caption": 1, "foil": 1, "other": 1}, "disputed", False, False),
        ({"caption": 0}, "in_validation", None, False),
        (None, "in_validation", None, False),
    ],
)
def test_the_rule_of_the_subtest_decides(run, votes, state, unanimous, doubted):
    run(record("full", votes={"caption": 3}), record(votes=votes, caption="another ball rolls left."))
    item = Item.objects.get(key="a")
    assert (item.state, item.unanimous, item.caption.flagged_false) == (state, unanimous, doubted)


def test_an_existing_subtest_keeps_its_own_rule(run, project):
    make_subtest(project, name="direction", votes_wanted=3, votes_needed=3)
    run(record(votes={"caption": 2, "foil": 1}))
    assert Item.objects.get(key="a").state == "disputed"


def test_the_same_file_again_changes_nothing(run):
    run(record(), record("b", proficiency=None), {"id": "c", "video": "c.mp4", "caption": "a cube turns.", "count": 2})
    before = (Item.objects.count(), Video.objects.count(), Caption.objects.count(), Vote.objects.count())
    again = run(
        record(), record("b", proficiency=None), {"id": "c", "video": "c.mp4", "caption": "a cube turns.", "count": 2}
    )
    assert sum(again.created.values()) == 0
    assert again.as_json()["unchanged"] == {"items": 2, "captions": 1, "proficiency_items": 1}
    assert again.errors == []
    assert (Item.objects.count(), Video.objects.count(), Caption.objects.count(), Vote.objects.count()) == before


CHANGES = [
    ({"caption": "a ball rolls up."}, "caption"),
    ({"foil": "a ball rolls down."}, "foils"),
    ({"votes": {"caption": 3}}, "votes"),
    ({"video": "b.mp4"}, "clip"),
    ({"extra": {"note": 1}}, "extra"),
    ({"proficiency": {**PAIR, "caption": "a ball moves."}}, "proficiency"),
    ({"count": 2}, "facts.count"),
    ({"split": "val"}, "video.split"),
]
ROWS = (Item, Video, Caption, Foil, Vote)


@pytest.mark.parametrize(("changes", "field"), CHANGES)
def test_differing_records_are_listed_and_not_changed(run, changes, field):
    run(record())
    before = [list(model.objects.values()) for model in ROWS]
    result = run(record(**changes), record("new")).as_json()
    assert (result["new"], result["same"], result["changed"], result["updated"], result["errors"]) == (1, 0, 1, 0, [])
    (change,) = result["changes"]
    assert (change["id"], list(change["fields"]), change["updated"]) == ("a", [field], False)
    assert change["record"].endswith("direction.jsonl:1")
    for model, rows in zip(ROWS, before, strict=True):
        assert list(model.objects.filter(pk__in=[row["id"] for row in rows]).values()) == rows


@pytest.mark.parametrize(("changes", "field"), CHANGES)
def test_an_update_applies_the_file_and_the_next_import_changes_nothing(run, changes, field, project):
    run(record(), record("other", video_key="o"))
    result = run(record(**changes), update=True).as_json()
    assert (result["changed"], result["updated"], result["errors"]) == (1, 1, [])
    again = run(record(**changes)).as_json()
    assert (again["new"], again["same"], again["changed"]) == (0, 1, 0)
    item = Item.objects.get(key="a")
    assert (item.foils.count(), item.votes.count(), Item.objects.filter(subtest__kind="main").count()) == (1, 3, 2)
    (event,) = AuditEvent.objects.filter(action="evaluation.update_record")
    assert (event.details["id"], list(event.details["fields"])) == ("a", [field])
    assert violations() == []


def test_judged_items_keep_their_content_and_get_new_facts(run, project):
    run(record())
    freeze_release(None, project)
    refused = run(record(caption="a ball rolls up.", extra={"note": 1}), update=True)
    assert refused.errors[0].endswith(
        "1: id: 'a' was worked on, so its content cannot change; give the record a different id"
    )
    assert (Item.objects.get(key="a").caption.text, Item.objects.get(key="a").extra) == ("a ball rolls left.", {})
    taken = run(record(extra={"note": 1}), update=True)
    assert (taken.errors, Item.objects.get(key="a").extra) == ([], {"note": 1})


def test_an_update_never_restores_retracted_items(run, project):
    run(record(), record("b", video_key="w"))
    owner = make_member(project, "researcher")
    retract(owner, Item.objects.get(key="a").pk, "It shows a cube.")
    other = record(foil="a ball rolls up.", extra={"note": 1})
    result = run(other, update=True)
    assert result.errors[0].endswith(
        "1: id: 'a' was retracted, so its content cannot change; give the record a different id"
    )
    item = Item.objects.get(key="a")
    assert (item.state, item.foils.get().text) == ("retracted", "a ball rolls right.")
    assert run(record(extra={"note": 1}), update=True).as_json()["updated"] == 1
    assert run(record(extra={"note": 1}), update=True).as_json()["same"] == 1


def test_an_item_retracted_with_its_pair_gets_no_new_pair(run, project, tmp_path):
    """The pairs were stored under a digest of no votes and come back with those of people."""
    run(*(record(id_, proficiency={**PAIR, "votes": None}) for id_ in ("a", "b")))
    owner, person = make_member(project, "researcher"), make_member(project, "validator")
    for pair in Item.objects.filter(subtest__kind="proficiency"):
        fields = {"choice": "caption", "caption_first": True, "idempotency_key": f"k{pair.pk}"}
        Vote.objects.create(item=pair, foil=pair.foils.get(), person=person, **fields)
    jsonl.write(project_content(project), tmp_path / "out", params={})
    lines = [json.loads(line) for line in (tmp_path / "out/records.jsonl").read_text().splitlines()]
    assert [line["proficiency"]["votes"]["caption"] for line in lines] == [1, 1]
    dropped = Item.objects.get(key="a").caption_id
    Caption.objects.filter(pk=dropped).update(flagged_false=True)
    drop_caption(owner, dropped, reason="Nobody is to be seen.")
    take_down_video(owner, project.slug, Video.objects.get(key="b.mp4").pk, "Its maker asked us to.")
    for update in (False, True):
        again = run(*lines, update=update).as_json()
        assert (again["new"], again["same"], again["changed"], again["errors"]) == (0, 2, 0, [])
    assert set(Item.objects.values_list("state", flat=True)) == {"retracted"}
    assert Item.objects.filter(subtest__kind="proficiency").count() == 2


def test_an_update_never_restores_corrected_or_dropped_captions(run, project):
    lines = [{"id": id_, "video": f"{id_}.mp4", "caption": "a man jumps."} for id_ in ("c", "d")]
    run(*lines)
    owner = make_member(project, "researcher")
    Caption.objects.update(flagged_false=True)
    new = correct_caption(owner, Caption.objects.get(key="c").pk, "a man sits.", reason="He sits.")
    drop_caption(owner, Caption.objects.get(key="d").pk, reason="Nobody is to be seen.")
    again = run(*lines, update=True).as_json()
    assert (again["same"], again["changed"], again["errors"]) == (2, 0, [])
    for line, what in ((lines[0], "worked on"), (lines[1], "retracted")):
        (said,) = run({**line, "caption": "a man runs."}, update=True).errors
        assert f"was {what}, so its content cannot change" in said
    assert sorted(Caption.objects.values_list("text", flat=True)) == ["a man jumps."] * 2 + [new.text]


def test_the_first_record_decides_the_labels_of_a_shared_clip(run):
    lines = [record(video_key="v", split="val"), record("b", video_key="v", split="test", movie="M")]
    run(*lines)
    assert (Video.objects.get().split, Video.objects.get().movie) == ("val", "M")
    assert run(*lines).as_json()["changed"] == 0


def contrast(id_, **facts):
    """A line of a contrast set: several subtests have foils of one caption."""
    foil = f"a ball rolls {id_}."
    return record(id_, subtest=id_, video="v.mp4", foil=foil, votes=None, proficiency=None, facts=facts)


VERB, GENDER = {"edited": "action", "antonym": True}, {"edited": "gender", "count": 1}


def own_facts():
    return dict(Item.objects.order_by("key").values_list("key", "facts"))


def test_items_of_one_caption_have_each_the_facts_of_their_record(run):
    lines = [contrast("v1", **VERB), contrast("g1", **GENDER), contrast("n1")]
    run(*lines)
    assert own_facts() == {"v1": VERB, "g1": GENDER, "n1": {}}
    # Methods read the caption's: what all say of it, the first one first.
    assert Caption.objects.get().facts == {"edited": "action", "antonym": True, "count": 1}
    again = run(*lines).as_json()
    assert (again["same"], again["changed"]) == (3, 0)


def test_a_changed_fact_changes_only_its_item(run):
    run(contrast("v1", **VERB), contrast("g1", **GENDER))
    other = contrast("g1", edited="colour")
    (change,) = run(contrast("v1", **VERB), other).changes
    assert (change["id"], change["fields"]) == (
        "g1",
        {"facts.edited": {"stored": "gender", "file": "colour"}, "facts.count": {"stored": 1, "file": None}},
    )
    run(other, update=True)
    assert own_facts() == {"v1": VERB, "g1": {"edited": "colour"}}
    assert Caption.objects.get().facts == {"edited": "action", "antonym": True, "count": 1}
    # The caption takes over what the record that made it says.
    run(contrast("v1", edited="verb"), update=True)
    assert own_facts() == {"v1": {"edited": "verb"}, "g1": {"edited": "colour"}}
    assert Caption.objects.get().facts == {"edited": "verb", "antonym": True, "count": 1}
    again = run(contrast("v1", edited="verb"), other).as_json()
    assert (again["same"], again["changed"]) == (2, 0)


def test_items_that_were_stored_before_they_had_facts_get_them_by_an_update(run):
    lines = [contrast("v1", **VERB), contrast("g1", **GENDER), contrast("n1")]
    run(*lines)
    Item.objects.update(facts=None)
    first = Item.objects.get(key="v1")
    assert first.known_facts == Caption.objects.get().facts
    again = run(*lines).as_json()
    assert (again["same"], again["changed"]) == (3, 0)
    run(*lines, update=True)
    assert own_facts() == {"v1": VERB, "g1": GENDER, "n1": {}}


def test_an_update_gives_facts_to_items_whose_caption_says_the_same(run):
    run(contrast("v1", **VERB))
    Item.objects.update(facts=None)
    result = run(contrast("v1", **VERB), update=True).as_json()
    assert (result["same"], result["changed"]) == (1, 0)
    # What a later record adds to their caption is not said of them.
    run(contrast("g1", **GENDER))
    assert own_facts() == {"v1": VERB, "g1": GENDER}


def test_items_that_move_to_another_clip_leave_no_unused_rows(run, project):
    run(contrast("r1"), contrast("r2"), {"id": "c", "video": "w.mp4", "caption": "a cup falls."})
    moved = [{**contrast(id_), "video_key": "v@frames"} for id_ in ("r1", "r2")]
    assert run(*moved, update=True).errors == []
    assert sorted(Caption.objects.values_list("key", "video__key")) == [("c", "w.mp4"), ("r1", "v@frames")]
    assert not Video.objects.filter(key="v.mp4").exists()
    ids = [one.id for one in project_content(project).records]
    assert sorted(ids) == ["c", "r1", "r2"]


def test_replaced_items_leave_no_proficiency_item_behind(run, project):
    lines = [{**contrast(id_), "proficiency": PAIR} for id_ in ("r1", "r2")]
    run(*lines)
    other = {**PAIR, "caption": "a ball moves."}
    lines[0]["proficiency"] = other
    assert run(*lines, update=True).errors == []
    pairs = Item.objects.filter(subtest__kind="proficiency")
    assert sorted(pairs.values_list("main_items__key", "caption__text")) == [
        ("r1", "a ball moves."),
        ("r2", "a ball rolls."),
    ]
    moved = [{**line, "video_key": "v@frames", "proficiency": other} for line in lines]
    assert run(*moved, update=True).errors == []
    assert [(pair.caption.text, pair.main_items.count()) for pair in pairs.all()] == [("a ball moves.", 1)] * 2
    assert not Video.objects.filter(key="v.mp4").exists()
    assert Caption.objects.count() == 2
    assert violations() == []


def test_a_judged_proficiency_item_remains(run, project):
    run(record())
    pair = Item.objects.get(subtest__kind="proficiency")
    fields = {"choice": "caption", "caption_first": True, "idempotency_key": "k"}
    Vote.objects.create(item=pair, foil=pair.foils.get(), person=make_member(project, "validator"), **fields)
    assert run(record(proficiency={**PAIR, "caption": "a ball moves."}), update=True).errors == []
    assert Item.objects.get(pk=pair.pk).main_items.count() == 0
    assert Item.objects.get(key="a").proficiency_item.caption.text == "a ball moves."


def test_captions_without_foils_wait_for_a_method(run):
    result = run(
        {"id": "c1", "video": "a.mp4", "caption": "a man jumps two times.", "count": 2, "split": "train"},
        {"id": "c2", "video": "a.mp4", "caption": "a man jumps two times.", "class": "jump"},
    )
    caption = Caption.objects.get()
    assert (caption.key, caption.facts, caption.video.split) == ("c1", {"count": 2, "class": "jump"}, "train")
    assert (Item.objects.count(), Subtest.objects.count()) == (0, 0)
    assert (result.created["captions"], result.unchanged["captions"]) == (1, 1)
    assert result.warnings[0].endswith("2: caption: is already stored for this clip, as 'c1'; it is stored once")


def test_a_caption_with_a_changed_text_is_listed_and_updated_on_request(run):
    run({"id": "c", "video": "a.mp4", "caption": "a man jumps.", "count": 2})
    other = {"id": "c", "video": "a.mp4", "caption": "a man sits.", "count": 3}
    (change,) = run(other).changes
    assert change["fields"] == {
        "caption": {"stored": "a man jumps.", "file": "a man sits."},
        "facts.count": {"stored": 2, "file": 3},
    }
    assert [c.text for c in Caption.objects.all()] == ["a man jumps."]
    assert run(other, update=True).errors == []
    assert [(c.text, c.facts) for c in Caption.objects.all()] == [("a man sits.", {"count": 3})]
    assert run(other).as_json()["same"] == 1


def test_a_caption_moves_to_the_clip_whose_name_was_corrected(run, clips, project):
    wrong = {"id": "c", "video": "aa.mp4", "caption": "a man jumps."}
    right = {**wrong, "video": "a.mp4"}
    run(wrong, media_dir=clips)
    assert run(right, media_dir=clips, update=True).as_json()["updated"] == 1
    caption = Caption.objects.get()
    assert (caption.key, caption.text, caption.video.key) == ("c", "a man jumps.", "a.mp4")
    assert [(video.key, video.media_state) for video in Video.objects.all()] == [("a.mp4", MediaState.READY)]
    assert run(right, media_dir=clips, update=True).as_json()["same"] == 1
    assert violations() == []


def test_an_item_moves_to_the_clip_whose_name_was_corrected(run, clips, project):
    run(record(video="aa.mp4"), media_dir=clips)
    run(record(), media_dir=clips, update=True)
    assert [(item.key, item.video.key) for item in Item.objects.filter(key="a")] == [("a", "a.mp4")]
    assert [(video.key, video.media_state) for video in Video.objects.all()] == [("a.mp4", MediaState.READY)]


def test_captions_swap_keys(run):
    here = [{"id": id_, "video": f"{id_}.mp4", "caption": "a man jumps."} for id_ in "abc"]
    run(*here)
    there = [{**one, "video": other["video"]} for one, other in zip(here, here[1:] + here[:1], strict=True)]
    assert run(*there, update=True).as_json()["updated"] == 3
    assert dict(Caption.objects.values_list("key", "video__key")) == {"a": "b.mp4", "b": "c.mp4", "c": "a.mp4"}


def test_a_duplicate_caption_of_a_clip_is_refused_with_the_existing_id(run):
    run(
        {"id": "a", "video": "a.mp4", "caption": "a man jumps."},
        {"id": "b", "video": "b.mp4", "caption": "a man jumps."},
    )
    result = run({"id": "b", "video": "a.mp4", "caption": "a man jumps."}, update=True)
    assert [error.partition("jsonl:")[2] for error in result.errors] == [
        "1: caption: is already a caption of this clip, as 'a'; remove the record"
    ]
    assert [change["updated"] for change in result.changes] == [False]
    assert dict(Caption.objects.values_list("key", "video__key")) == {"a": "a.mp4", "b": "b.mp4"}


def test_rows_that_the_database_refuses_are_reported_as_a_bug(run, monkeypatch):
    def twice(batch):
        insert_many([Video(project_id=batch.project.pk, key="same") for _ in range(2)])

    monkeypatch.setattr(store, "warn_of_other_tests", twice)
    with pytest.raises(EvaluationError, match=r"have the same key .*please report this as a bug"):
        run(record())
    assert not Item.objects.exists()


def test_a_second_attempt_sees_concurrent_writes(run, project, monkeypatch):
    attempts = []

    def meanwhile(batch):
        attempts.append(len(attempts))
        if len(attempts) == 1:
            raise IntegrityError("somebody stored a row of this key")

    monkeypatch.setattr(store, "warn_of_other_tests", meanwhile)
    assert run(record()).as_json()["created"]["items"] == 1
    assert len(attempts) == 2


@pytest.fixture
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(survey, "READ", 3)


def test_a_file_that_is_stored_in_parts_is_stored_as_in_one(run, few_at_a_time):
    """Clips, pairs and captions that several parts share are one row each and are counted once."""
    lines = [record(f"r{i}", video_key=f"v{i % 2}", start_time=1, foil=f"a ball rolls {i}.") for i in range(8)]
    lines[5]["movie"] = "M"
    lines += [{"id": f"c{i}", "video_key": "v0", "start_time": 1, "caption": "a cat.", "n": i} for i in range(4)]
    lines.append(record("clash", video_key="v1", start_time=2))
    lines.append(record("r0"))
    result = run(*lines).as_json()
    assert (result["records"], result["created"]["items"], result["created"]["proficiency_items"]) == (14, 8, 2)
    assert (result["created"]["videos"], result["media"]["missing"], result["created"]["captions"]) == (2, 2, 1)
    assert [error.partition("jsonl:")[2] for error in result["errors"]] == [
        "14: id: 'r0' is already on line 1; give every record its own id",
        "13: start_time: is 2.0, but 1.0 on line 2, for the clip 'v1'; give each clip its own video_key",
    ]
    assert Video.objects.get(key="v1").movie == "M"
    again = run(*lines).as_json()
    assert (again["new"], again["same"], again["changed"]) == (0, 9 + 3, 0)
    assert again["unchanged"]["proficiency_items"] == 2


def test_main_items_of_one_test_share_equal_proficiency_items(run, tmp_path, project):
    run(record(test="motion", video_key="v"))
    path = tmp_path / "speed.jsonl"
    other = record("b", test="motion", video_key="v", foil="a ball rolls slowly left.")
    path.write_text(json.dumps(other), encoding="utf-8")
    import_records(project, None, "jsonl", path)
    a, b = Item.objects.get(key="a"), Item.objects.get(key="b")
    assert a.subtest != b.subtest
    assert a.proficiency_item == b.proficiency_item
    assert a.caption == b.caption
    assert Subtest.objects.get(kind="proficiency").name == "motion / proficiency"


def test_a_different_test_of_a_subtest_is_ignored_with_one_warning(run, project):
    named = {"a": "motion", "b": "speed", "c": "motion", "d": "shape", "e": "speed", "f": "motion", "g": "speed"}
    lines = [record(id_, test=test) for id_, test in {**named, "h": "motion", "i": ""}.items()]
    (said,) = run(*lines).warnings
    assert said.endswith(
        "direction.jsonl: test: is 'motion' for the subtest 'direction', and another one in 4 of its records "
        "('b', 'e', 'g', …): these go with the subtest; give them a subtest of their own"
    )
    assert Subtest.objects.get(name="direction").test == "motion"
    Subtest.objects.filter(name="direction").update(test="")
    (again,) = run(record(test="motion"), record("b", test="")).warnings
    assert "test: is not said for the subtest 'direction', and another one in 1 of its records ('a'): these" in again
    Subtest.objects.filter(name="direction").update(test="motion")
    assert run(record(test="motion"), record("b", test="")).warnings == []


def test_a_release_is_imported_again_as_its_items(run, project, tmp_path):
    """Releases call the record `1` of the subtest `direction` `direction:1`."""
    run(record("1"), record("2", video_key="w"))
    release = freeze_release(None, project)
    jsonl.write(release_content(release), tmp_path / "out", params={})
    lines = [json.loads(line) for line in (tmp_path / "out/records.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["direction:1", "direction:2"]
    again = run(*lines).as_json()
    assert (again["new"], again["same"], again["changed"]) == (0, 2, 0)
    labelled = run({**lines[0], "movie": "M"}, lines[1], update=True).as_json()
    assert (labelled["new"], labelled["updated"], labelled["errors"]) == (0, 1, [])
    renewed = record("3", video_key="x")
    run(renewed)
    assert run({**renewed, "id": "direction:3", "foil": "a ball rolls up."}, update=True).errors == []
    keys = Item.objects.filter(subtest__kind="main").order_by("key").values_list("key", "foils__text")
    assert list(keys)[2] == ("3", "a ball rolls up.")
    assert len(keys) == 3
    assert freeze_release(None, project).n_items == 3


def test_two_records_with_one_release_id_are_not_both_imported(run, project):
    one, two = record("1"), record("direction:1", video_key="w")
    (said,) = run(one, two).errors
    assert said.endswith("2: id: is 'direction:1' in releases, which is the id of another record; give it its own id")
    run(record("direction:2", video_key="w"))
    (said,) = run(record("2", video_key="x")).errors
    assert said.endswith("1: id: is 'direction:2' in releases, which is the id of another item; give it its own id")
    assert sorted(Item.objects.filter(subtest__kind="main").values_list("key", flat=True)) == ["1", "direction:2"]
    Item.objects.filter(key="direction:2").update(key="direction:1")
    with pytest.raises(EvaluationError, match="Two valid items have the release id 'direction:1'"):
        freeze_release(None, project)


def test_bad_records_are_listed_and_the_good_ones_stored(run):
    result = run(record(), {**record("b"), "caption": ""}, record("c"))
    assert (result.records, result.created["items"]) == (3, 2)
    assert result.errors[0].endswith("direction.jsonl:2: caption: is empty; give the text")
    assert not Video.objects.filter(key="b.mp4").exists()


def test_strict_stores_nothing_if_a_record_is_bad(run):
    with pytest.raises(
        EvaluationError, match=r"2: caption: is empty; give the text \(and 1 more bad records\); nothing"
    ):
        run(record(), {**record("b"), "caption": ""}, {**record("c"), "foil": ""}, strict=True)
    assert (Item.objects.count(), Video.objects.count(), AuditEvent.objects.count()) == (0, 0, 0)


def test_strict_counts_a_conflict_with_stored_rows(run):
    run(record())
    with pytest.raises(EvaluationError, match="is stored with a different caption"):
        run(record(caption="x"), record("b"), strict=True)
    assert Item.objects.filter(key="b").count() == 0


def test_a_dry_run_reports_the_result_and_stores_nothing(run, clips):
    result = run(record(), record("b"), dry_run=True, media_dir=clips)
    assert (result.created["items"], dict(result.media)) == (2, {"ready": 1, "missing": 1})
    assert (Item.objects.count(), Video.objects.count(), AuditEvent.objects.count()) == (0, 0, 0)
    assert not default_storage.exists("videos")


def test_one_clip_has_one_trim(run, project):
    result = run(record(video_key="v", start_time=1), record("b", video_key="v", start_time=2))
    assert "start_time: is 2.0, but 1.0 on line 1, for the clip 'v'" in result.errors[0]
    again = run(record("c", video_key="v", start_time=3))
    assert "start_time: is 3.0, but 1.0 is stored for the clip 'v'" in again.errors[0]
    assert Video.objects.get().start_time == 1.0


def test_a_found_file_is_probed_and_kept_under_its_hash(run, clips):
    run(record(), record("b", video="a.mp4", video_key="a again", start_time=0.5), media_dir=clips)
    first, second = Video.objects.order_by("pk")
    assert (first.media_state, first.duration, first.fps, first.n_frames) == ("ready", 1.0, 8.0, 8)
    assert (first.width, first.height) == (64, 32)
    assert PurePath(first.file.name).stem == opaque_name(first.sha256)
    assert second.file.name == first.file.name
    with first.file.open() as file:
        assert file.read() == (clips / "a.mp4").read_bytes()
    assert len(list(Path(default_storage.location).rglob("*.mp4"))) == 1


def test_the_bytes_decide_the_type_of_a_file(run, clips):
    write_webm(clips / "w.webm", painted_clip(4), fps=8)
    (clips / "w.webm").rename(clips / "b.mp4")
    run(record("b"), media_dir=clips)
    assert Video.objects.get().file.name.endswith(".webm")


def test_a_missing_file_is_a_state_and_comes_later(run, clips):
    first = run(record(), record("b"))
    assert dict(first.media) == {"missing": 2}
    second = run(record(), record("b"), media_dir=clips)
    assert (dict(second.media), second.attached, second.created["videos"]) == ({"ready": 1, "missing": 1}, 1, 0)
    assert Video.objects.get(key="a.mp4").media_state == MediaState.READY


def test_a_file_is_found_by_the_id_of_its_source(run, clips):
    run(record(video=None, source_dataset="QUVA", source_id="a"), media_dir=clips)
    assert Video.objects.get().media_state == MediaState.READY


def test_a_broken_file_is_a_state_with_its_reason(run, clips):
    (clips / "b.mp4").write_text("This is no video.")
    (clips / "c.mp4").write_bytes(b"")
    result = run(record("b"), record("c"), media_dir=clips)
    assert dict(result.media) == {"broken": 2}
    assert result.broken[0] == {
        "video": "b.mp4",
        "error": "b.mp4: is a text, not a video; give an mp4 (H.264) or webm file",
    }
    assert str(clips) not in Video.objects.get(key="c.mp4").media_error
    assert result.created["items"] == 2


def test_a_trim_outside_of_the_file_is_broken(run, clips):
    run(record(start_time=60, end_time=70), media_dir=clips)
    assert Video.objects.get().media_error.startswith("the clip starts at 60 s, but the file has only 1 s")


def test_texts_on_a_taken_down_video_are_refused(run, project):
    """Nor on another clip of its source; what is stored of it is the same as ever."""
    film = {"source_dataset": "own", "source_id": "film", "url": "https://example.org/film.mp4"}
    old = record(**film, video_key="film@0", caption="a ball rolls left.")
    text = {"id": "t", **film, "video_key": "film@0", "caption": "a cube turns."}
    run(old, text, record("other"))
    owner = make_member(project, "researcher")
    take_down_video(owner, project.slug, Video.objects.get(key="film@0").pk, "Its maker asked us to.")
    labelled = {**old, "movie": "M"}
    fresh = [
        record("b", video_key="film@0", start_time=None, **film),
        record("c", video_key="film@9", start_time=9, **film),
        {"id": "d", **film, "video_key": "film@0", "caption": "a cube stands."},
        record("e", source_dataset="elsewhere", source_id="film"),
    ]
    for update in (False, True):
        result = run(labelled, text, *fresh, update=update)
        where = [error.partition("jsonl:")[2] for error in result.errors]
        said = "video: was taken down from the project: Its maker asked us to.; remove the record"
        assert where == [f"{line}: {said}" for line in (3, 4, 5)]
    assert sorted(Item.objects.filter(subtest__kind="main").values_list("key", flat=True)) == ["a", "e", "other"]
    assert run({**text, "caption": "another cube turns."}, update=True).errors != []
    assert Caption.objects.get(key="t").text == "a cube turns."


def test_a_stored_text_on_a_taken_down_video_is_unchanged(run, project):
    text = {"video": "k.mp4", "caption": "a cat sleeps."}
    lines = [{"id": "t1", **text}, {"id": "t2", **text}, {**text, "id": "w", "video": "w.mp4"}]
    run(*lines)
    owner = make_member(project, "researcher")
    take_down_video(owner, project.slug, Video.objects.get(key="k.mp4").pk, "Its maker asked us to.")
    for update in (False, True):
        again = run(*lines, update=update).as_json()
        assert (again["new"], again["same"], again["changed"], again["errors"]) == (0, 3, 0, [])
    # The same text of another clip, another text of this one, and the text with foils are new.
    for fresh in ({"video_key": "k2", "source_id": "k.mp4"}, {"caption": "a cat runs."}, {"foil": "a dog sleeps."}):
        (said,) = run({"id": "t3", **text, **fresh}).errors
        assert "was taken down from the project" in said
    assert Caption.objects.count() == 2


# The clip's clock ticks 16,384 times a second (the encoder's choice for 8 frames a second).
@pytest.mark.parametrize(("start", "end", "unit"), [(4096, 8192, "pts"), (2, 4, "frames")])
def test_a_trim_in_other_units_becomes_seconds_with_its_file(run, clips, start, end, unit):
    run(record(start_time=start, end_time=end, time_unit=unit), media_dir=clips)
    video = Video.objects.get()
    assert (video.start_time, video.end_time, video.time_unit) == (0.25, 0.5, "sec")
    again = run(record(start_time=start, end_time=end, time_unit=unit), media_dir=clips)
    assert (again.errors, again.unchanged["items"]) == ([], 1)


def test_nothing_outside_of_the_media_folder_is_read(run, clips, tmp_path):
    write_mp4(tmp_path / "secret.mp4", painted_clip(2), fps=8)
    (clips / "b.mp4").symlink_to(tmp_path / "secret.mp4")
    (clips / "linked").symlink_to(tmp_path)
    result = run(
        record("b"),
        record("c", video="../secret.mp4"),
        record("d", video=str(tmp_path / "secret.mp4")),
        record("e", video="linked/secret.mp4"),
        record("f", video=None, source_id="../secret"),
        media_dir=clips,
    )
    assert [error.rpartition("direction.jsonl:")[2].partition(":")[0] for error in result.errors] == [
        "2",
        "3",
        "1",
        "4",
    ]
    assert all("media folder; copy" in error or "media folder; give" in error for error in result.errors)
    assert [video.media_state for video in Video.objects.all()] == ["missing"]  # f: no file of that name is below


def test_a_folder_that_is_not_there_is_named(run, tmp_path):
    with pytest.raises(CorpusError, match="not a folder"):
        run(record(), media_dir=tmp_path / "gone")


def test_an_unreadable_file_stores_nothing(project, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('{"a": {"caption": "x"', encoding="utf-8")
    with pytest.raises(CorpusError, match=r"broken\.json:1: JSON:"):
        import_records(project, None, "vilma", path)
    assert Video.objects.count() == 0


def test_hostile_text_is_kept_as_it_is(run):
    caption = "<script>alert('x')</script> =1+1 \u202eabc e\u0301 👩‍👩‍👧"
    run(record(caption=caption, foil="=HYPERLINK(1)", extra={"a": "<b>"}))
    item = Item.objects.get(key="a")
    assert (item.caption.text, item.foils.get().text, item.extra) == (caption, "=HYPERLINK(1)", {"a": "<b>"})


def test_a_researcher_may_import_and_others_may_not(run, project, tmp_path):
    run(record())
    path = tmp_path / "direction.jsonl"
    import_records(project, make_member(project, "researcher"), "jsonl", path)
    with pytest.raises(AccessDenied):
        import_records(project, make_member(project, "annotator"), "jsonl", path)


def test_every_new_item_and_the_import_are_audited(run, project):
    run(record(), record("b", votes=None, proficiency=None))
    rows = AuditEvent.objects.filter(project=project).order_by("pk").values_list("action", "to_state")
    assert list(rows) == [
        ("import", "valid"),
        ("import", "valid"),
        ("import", "in_validation"),
        ("evaluation.import_records", ""),
    ]
    assert AuditEvent.objects.last().details["created"]["items"] == 2


def test_rows_are_written_and_looked_up_in_bulk(run, django_assert_max_num_queries, monkeypatch):
    # Two batches on SQLite, also if the machine is so busy that a slow transaction would make more of them.
    monkeypatch.setattr(store, "HOLD_SECONDS", 600)
    with django_assert_max_num_queries(90):
        run(*(record(f"r{i}") for i in range(200)))
    with django_assert_max_num_queries(50):
        run(*(record(f"r{i}") for i in range(200)))


def test_new_votes_of_an_item_remove_the_doubt_of_the_old_ones(run):
    run(record(votes={"foil": 3}))
    assert Item.objects.get(key="a").caption.flagged_false
    assert run(record(votes={"caption": 3}), update=True).errors == []
    assert (Item.objects.get(key="a").state, Item.objects.get(key="a").caption.flagged_false) == ("valid", False)
    run(record(votes={"foil": 3}), update=True)
    assert Item.objects.get(key="a").caption.flagged_false
    assert violations() == []


def test_incomplete_votes_put_no_caption_in_doubt(run, project):
    make_subtest(project, name="direction", votes_wanted=3, votes_needed=2)
    run(record(votes={"foil": 1}))
    item = Item.objects.get(key="a")
    assert (item.state, item.caption.flagged_false) == ("in_validation", False)


def test_a_pair_whose_validator_did_not_see_its_caption_puts_that_caption_in_doubt(run):
    run(record(proficiency={**PAIR, "votes": {"foil": 1}}))
    assert Caption.objects.get(text=PAIR["caption"]).flagged_false
    assert violations() == []


def test_a_file_in_another_spelling_is_used_and_named(run, clips):
    (clips / "a.mp4").rename(clips / "CAFE\u0301.MP4")
    result = run(record(video="caf\u00e9.mp4"), media_dir=clips)
    (said,) = [line for line in result.warnings if "differs" in line]
    assert said.endswith(
        ":1: video: 'caf\u00e9.mp4' differs in Unicode form and letter case from 'CAFE\u0301.MP4', "
        "which is used instead"
    )
    assert Video.objects.get().media_state == MediaState.READY


def test_the_file_that_is_probably_meant_is_named(run, clips):
    (clips / "a.mp4").rename(clips / "blue-left.mp4")
    result = run(record(video="blue-lefft.mp4"), media_dir=clips).as_json()
    assert (result["missing"], result["similar"]) == (["blue-lefft.mp4"], {"blue-lefft.mp4": "blue-left.mp4"})
