"""Projects and releases as streamed records: what goes out is what came in."""

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.actions.decisions.captions import correct_caption
from annotation.models import Vote
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import facts_of
from foilworks.core.corpus.export_formats import csv_rows, jsonl
from foilworks.core.corpus.export_formats.parts.released_items import released_items
from foilworks.core.corpus.models import Caption, Item, Video
from foilworks.site.exports import records as streamed
from foilworks.site.exports.collect import collect_release
from foilworks.site.imports.store import import_records
from tests.factories import make_caption, make_member, make_project

pytestmark = pytest.mark.django_db

LINES = [
    {
        "id": f"i{n}",
        "subtest": "direction" if n % 2 else "=speed",
        "test": "motion",
        "video": f"v{n % 3}.mp4",
        "start_time": 1.5,
        "end_time": 3.0,
        "split": "test",
        "caption": f"a ball rolls {n} times.",
        "foils": [f"a ball rolls {n + 1} times.", "<b>none</b>"],
        "votes": {"caption": 2, "foil": 0, "other": 1},
        "proficiency": {"caption": "a ball", "foils": ["a cube"], "votes": {"caption": 1, "foil": 0, "other": 0}},
        "extra": {"note": {"a": [1, None, "\u202e"]}},
        "facts": {"count": n},
    }
    for n in range(7)
] + [{"id": "c", "source_id": "x", "caption": "a cat sleeps.", "facts": {"count": 1}}]


@pytest.fixture
def imported(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "CHUNK", 2)
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    project = make_project()
    assert import_records(project, None, "jsonl", path).errors == []
    return project


def read(path):
    return {line["id"]: line for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


@pytest.mark.parametrize("format_slug", ["jsonl", "csv"])
def test_a_project_is_exported_and_imported_again_without_changes(imported, tmp_path, capsys, format_slug):
    out = tmp_path / "out"
    call_command("export", format_slug, project=imported.slug, out=out, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["release"], told["hash"]) == (None, "")
    (path,) = out.glob("records.*")
    again = import_records(imported, None, format_slug, path).as_json()
    assert (again["new"], again["same"], again["changed"], again["errors"]) == (0, 8, 0, [])
    if format_slug == "jsonl":
        written = read(path)
        for line in LINES:
            there = written[line["id"]]
            there.get("proficiency", {}).pop("extra", None)
            # A project does not keep where a file lay that it never had; the clip's name says it.
            line = {name: value for name, value in line.items() if name != "video"}
            assert {name: there.get(name) for name in line} == line


@pytest.mark.parametrize("update", [False, True])
def test_judged_items_are_imported_again_without_changes(tmp_path, update):
    """The pair was stored under a digest of no votes; a later record that has the same one shares it."""
    pair = {"caption": "a ball", "foils": ["a cube"]}
    line = {"id": "a", "video_key": "v", "caption": "he runs.", "foil": "he sits.", "proficiency": pair}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    project = make_project()
    import_records(project, None, "jsonl", path)
    item = Item.objects.get(key="a")
    for judged, choices in ((item, ("caption", "caption", "cannot_tell")), (item.proficiency_item, ("caption",))):
        for choice in choices:
            person = make_member(project, "validator")
            fields = {"choice": choice, "caption_first": True, "idempotency_key": f"k{judged.pk}"}
            Vote.objects.create(item=judged, foil=judged.foils.get(), person=person, **fields)
    jsonl.write(streamed.project_content(project), tmp_path / "out", params={})
    written = read(tmp_path / "out/records.jsonl")["a"]
    assert (written["votes"]["other"], written["proficiency"]["votes"]["caption"]) == (1, 1)
    path.write_text(json.dumps(written) + "\n" + json.dumps({**written, "id": "b"}), encoding="utf-8")
    again = import_records(project, None, "jsonl", path, update=update).as_json()
    assert (again["new"], again["same"], again["changed"], again["errors"]) == (1, 1, 0, [])
    assert again["unchanged"]["proficiency_items"] == 1
    assert Item.objects.get(key="b").proficiency_item == item.proficiency_item
    path.write_text(json.dumps(line), encoding="utf-8")
    assert import_records(project, None, "jsonl", path, update=update).as_json()["same"] == 1


def test_items_of_one_caption_are_exported_with_their_own_facts(tmp_path):
    lines = [
        {
            "id": kind,
            "subtest": kind,
            "video_key": "v",
            "caption": "he runs.",
            "foil": f"he {kind}s.",
            "facts": facts,
            "votes": {"caption": 3},
        }
        for kind, facts in (("verb", {"edited": "action", "proximity": 0.9}), ("gender", {"edited": "gender"}))
    ]
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    project = make_project()
    assert import_records(project, None, "jsonl", path).errors == []
    said = {line["id"]: line["facts"] for line in lines}
    assert {record.id: record.facts for record in streamed.project_content(project).records} == said
    frozen = [row.record for row in freeze_release(None, project).members.all()]
    assert {record["subtest"]: record["facts"] for record in frozen} == said
    assert {record["subtest"]: facts_of(record).get("edited") for record in frozen} == {
        "verb": "action",
        "gender": "gender",
    }


def test_a_released_record_is_the_same_streamed_or_not(imported):
    release = freeze_release(None, imported)
    assert list(streamed.release_content(release).records) == released_items(collect_release(release, tables=False))


def test_a_key_of_two_subtests_gets_the_name_of_its_subtest(imported, tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps({**LINES[0], "subtest": "more"}), encoding="utf-8")
    import_records(imported, None, "jsonl", path)
    ids = [record.id for record in streamed.project_content(imported).records]
    assert sorted(ids) == sorted(["=speed:i0", "more:i0", "c", *(f"i{n}" for n in range(1, 7))])


def test_a_corrected_caption_is_exported_next_to_its_old_items_with_its_own_id(imported, tmp_path):
    """`i1` has the items of the false text, the correction has its key; `i1~2` is taken."""
    old = Item.objects.get(key="i1").caption
    Caption.objects.filter(pk=old.pk).update(flagged_false=True)
    make_caption(old.video, "a cup falls.", key="i1~2")
    owner = make_member(imported, "researcher")
    correct_caption(owner, old.pk, "a cube rolls.", reason="It is a cube.")
    records = list(streamed.project_content(imported).records)
    ids = [record.id for record in records]
    assert len(ids) == len(set(ids)) == 10
    assert {record.caption: record.id for record in records if not record.foils} == {
        "a cat sleeps.": "c",
        "a cup falls.": "i1~2",
        "a cube rolls.": "i1~3",
    }
    jsonl.write(streamed.project_content(imported), tmp_path / "out", params={})
    other = make_project()
    assert import_records(other, None, "jsonl", tmp_path / "out/records.jsonl").errors == []
    assert Caption.objects.filter(video__project=other, text="a cube rolls.").exists()
    again = import_records(imported, None, "jsonl", tmp_path / "out/records.jsonl").as_json()
    assert (again["new"], again["same"], again["changed"], again["errors"]) == (0, 10, 0, [])


def test_corrected_captions_need_no_extra_queries(tmp_path):
    lines = [{"id": f"i{n}", "video_key": f"v{n}", "caption": "he runs.", "foil": "he sits."} for n in range(5)]
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    project = make_project()
    assert import_records(project, None, "jsonl", path).errors == []
    owner, old = make_member(project, "researcher"), Caption.objects.filter(key__startswith="i").order_by("pk")
    found = list(old)
    old.update(flagged_false=True)
    costs = []
    for some in (found[:1], found[1:]):
        for caption in some:
            correct_caption(owner, caption.pk, "he walks.", reason="He walks.")
        with CaptureQueriesContext(connection) as asked:
            ids = [record.id for record in streamed.project_content(project).records if not record.foils]
        costs.append(len(asked))
    assert ids == [f"i{n}~2" for n in range(5)]
    assert costs[0] == costs[1]


def test_votes_per_foil_are_not_added_up_and_taken_down_items_remain(imported):
    item = Item.objects.get(key="i1")
    first, second = item.foils.all()
    Vote.objects.filter(item=item, import_index=0).update(foil=first)
    Vote.objects.filter(item=item, import_index=1).update(foil=second)
    Video.objects.filter(key__startswith="v2").update(media_state="taken_down")
    found = {record.id: record for record in streamed.project_content(imported).records}
    assert found["i1"].votes is None
    assert set(found) == {"i0", "i1", "i3", "i4", "i6", "c"}


def test_votes_on_one_of_several_foils_decide_no_item_elsewhere(imported, tmp_path):
    item = Item.objects.get(key="i1")
    Vote.objects.filter(item=item).update(foil=item.foils.first())
    Vote.objects.filter(item=item.proficiency_item).update(foil=item.proficiency_item.foils.get())
    found = {record.id: record for record in streamed.project_content(imported).records}
    assert (found["i1"].votes, found["i1"].proficiency.votes.caption) == (None, 1)
    jsonl.write(streamed.project_content(imported), tmp_path / "out", params={})
    other = make_project()
    assert import_records(other, None, "jsonl", tmp_path / "out/records.jsonl").errors == []
    states = dict(Item.objects.filter(subtest__project=other).values_list("key", "state"))
    assert (states["i1"], states["i2"]) == ("in_validation", "valid")


@pytest.mark.parametrize("exporter", [jsonl, csv_rows])
def test_a_large_release_needs_a_fixed_number_of_queries_per_chunk(
    imported, exporter, tmp_path, django_assert_max_num_queries
):
    content = streamed.release_content(freeze_release(None, imported))
    with django_assert_max_num_queries(20):
        exporter.write(content, tmp_path / "out", params={})


def test_a_release_format_requires_a_release(imported, tmp_path, capsys):
    with pytest.raises(SystemExit):
        call_command("export", "foilworks", project=imported.slug, out=tmp_path / "out")
    assert "--release: this format needs a release; name one, or export jsonl" in capsys.readouterr().err
