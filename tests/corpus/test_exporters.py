import hashlib
import json
import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import foilworks, jsonl, vilma
from foilworks.core.corpus.export_formats.parts.folder import self_hash
from foilworks.core.corpus.import_formats import jsonl as jsonl_importer
from foilworks.core.corpus.import_formats import vilma as vilma_importer
from foilworks.core.corpus.records import ItemRecord, PairRecord, ReleaseScore, ReleaseVote, VideoRecord, VoteCounts
from foilworks.core.corpus.release_records import hash_of
from tests.corpus.releases import item_lists, release_of
from tests.corpus.test_importer_vilma import COUNTING, RARE, RELATION
from tests.corpus.test_importer_vilma import read as read_vilma

ITEM = ItemRecord(
    id="direction:a",
    subtest="direction",
    video=VideoRecord(key="a.mp4", file="a.mp4"),
    caption="a ball rolls left.",
    foils=("a ball rolls right.",),
    votes=VoteCounts(3, 0, 0),
)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def items_of(outcomes):
    return sorted((item for item in outcomes if isinstance(item, ItemRecord)), key=lambda item: item.id)


def read_back(importer, paths):
    return items_of(item for path in paths for item in importer.read(path, params={}))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=item_lists)
@example(items=[ITEM])
def test_jsonl_read_back_is_what_was_written(tmp_path, items):
    jsonl.write(release_of(items), tmp_path / "out", params={})
    assert read_back(jsonl_importer, [tmp_path / "out" / "records.jsonl"]) == items_of(items)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=item_lists)
@example(items=[ITEM])
def test_vilma_read_back_is_what_was_written(tmp_path, items):
    written = vilma.write(release_of(items), tmp_path / "out", params={})
    files = [path for path in written if path.name != "manifest.json"]
    assert [no_file(item) for item in read_back(vilma_importer, files)] == [no_file(item) for item in items_of(items)]


def no_file(item):
    """Where a media file lies is no part of a ViLMA record that names its source; votes of nobody are no votes."""
    pair = item.proficiency
    if pair is not None and not (pair.votes and pair.votes.total):
        pair = replace(pair, votes=None)
    votes = item.votes if item.votes and item.votes.total else None
    return replace(item, video=replace(item.video, file=""), votes=votes, proficiency=pair)


def test_an_imported_vilma_file_comes_out_with_all_its_fields(tmp_path):
    in_frames = {**COUNTING, "start_time": 56, "end_time": 96, "time_unit": "pts"}
    records = {"0": RELATION, "1": RARE, "two": {**COUNTING, "subtest": None}, "three": in_frames}
    items = items_of(read_vilma(tmp_path, records))
    vilma.write(release_of(items), tmp_path / "out", params={})
    written = json.loads((tmp_path / "out" / "relations.json").read_text(encoding="utf-8"))
    for key, record in records.items():
        for field, value in record.items():
            if value is not None and field != "foil":
                assert written[key][field] == value, field
        assert "foilworks" not in written[key]
    assert written["1"]["foils"] == ["buying a shirt"]


def test_hostile_subtest_names_stay_inside_the_folder(tmp_path):
    names = ["../../evil", "a/b", ".hidden", "", "manifest", "é!", "è?"]
    items = [
        ItemRecord(f"{i}", name or " ", VideoRecord(key="v", source_id="v"), "x", ("y",))
        for i, name in enumerate(names)
    ]
    written = vilma.write(release_of(items), tmp_path / "out", params={})
    assert {path.parent for path in written} == {tmp_path / "out"}
    assert len(written) == len(names) + 1
    back = read_back(vilma_importer, [path for path in written if path.name != "manifest.json"])
    assert [no_file(item) for item in back] == [no_file(item) for item in items_of(items)]


def score(model="tiny", item="direction:a", caption=0.1, foils=(0.2,), **fields):
    return ReleaseScore(
        id=item,
        model=model,
        model_key=f"{model}@1",
        protocol="foilworks",
        subtest="direction",
        caption=caption,
        foils=foils,
        kind="cosine",
        **fields,
    )


def full_release():
    votes = (
        ReleaseVote("direction:a", 0, "p2", "caption", "direction", caption_first=False, watch={"seconds": 2.5}),
        ReleaseVote("direction:a", 0, "p1", "neither", "direction", caption_first=True),
        ReleaseVote("direction:a/proficiency", None, "p1", "caption", "objects", kind="proficiency"),
    )
    scores = (
        score(caption=0.1, foils=(0.2,), proficiency_caption=0.3, proficiency_foils=(-0.4,)),
        score(item="direction:b", caption=1e16, foils=(1.0,)),
        score(model="other", caption=-1.0, foils=(0.5, 0.25)),
    )
    release = release_of([ITEM], scores=scores, tables={"validation": {"alpha": None, "n": 1}})
    return type(release)(**{**release.__dict__, "votes": votes})


def test_the_folder_has_the_files_of_the_contract(tmp_path):
    written = foilworks.write(full_release(), tmp_path / "out", params={})
    assert [path.relative_to(tmp_path / "out").as_posix() for path in written] == [
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENCES.md",
        "README.md",
        "citation.bib",
        "croissant.json",
        "data/direction.jsonl",
        "datasheet.md",
        "items.jsonl",
        "load.py",
        "manifest.json",
        "scores/other.jsonl",
        "scores/tiny.jsonl",
        "scores.jsonl",
        "tables/checks.json",
        "tables/validation.json",
        "votes.jsonl",
    ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["files"]) == {
        path.relative_to(tmp_path / "out").as_posix() for path in written if path.name != "manifest.json"
    }
    for name, facts in manifest["files"].items():
        content = (tmp_path / "out" / name).read_bytes()
        assert facts == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert manifest["manifest_sha256"] == self_hash(manifest)
    assert manifest["counts"] == {"items": 1, "released": 1, "votes": 3, "votes_not_counted": 0, "scores": 3}


def test_the_content_hash_comes_out_of_the_written_items(tmp_path):
    foilworks.write(full_release(), tmp_path / "out", params={})
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    written = lines(tmp_path / "out" / "items.jsonl")
    assert manifest["content_hash"] == hash_of(line for line in written if line["released"])
    # By hand, from what docs/reference/formats.md says of it.
    for line in written:
        for field in manifest["status_fields"]:
            line.pop(field, None)
    text = "".join(
        json.dumps(line, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n" for line in written
    )
    assert manifest["content_hash"] == hashlib.sha256(text.encode()).hexdigest()


def test_votes_name_people_by_pseudonym_and_places_by_number(tmp_path):
    foilworks.write(full_release(), tmp_path / "out", params={})
    votes = lines(tmp_path / "out" / "votes.jsonl")
    shown = [(v["item"], v["foil"], v["annotator"], v["choice"], v["position"]) for v in votes]
    assert shown == [
        ("direction:a", 0, "p1", "neither", 1),
        ("direction:a", 0, "p2", "caption", 2),
        ("direction:a/proficiency", None, "p1", "caption", None),
    ]
    assert votes[1]["watch"] == {"seconds": 2.5}


def test_votes_that_do_not_count_are_in_a_separate_file(tmp_path):
    release = full_release()
    surplus = ReleaseVote("direction:a", 0, "p9", "foil", "direction", state="surplus")
    foilworks.write(
        type(release)(**{**release.__dict__, "votes": (*release.votes, surplus)}), tmp_path / "out", params={}
    )
    assert len(lines(tmp_path / "out" / "votes.jsonl")) == 3
    (line,) = lines(tmp_path / "out" / "votes_not_counted.jsonl")
    assert (line["annotator"], line["state"]) == ("p9", "surplus")
    checks = json.loads((tmp_path / "out" / "tables" / "checks.json").read_text(encoding="utf-8"))
    assert "p9" not in checks["annotators"]


def test_checks_hold_exact_sums_of_scores_and_counts_of_choices(tmp_path):
    foilworks.write(full_release(), tmp_path / "out", params={})
    checks = json.loads((tmp_path / "out" / "tables" / "checks.json").read_text(encoding="utf-8"))
    assert checks["annotators"] == {"p1": {"caption": 1, "neither": 1}, "p2": {"caption": 1}}
    other, tiny = checks["scores"]
    assert (other["subtest"], other["model"], other["protocol"]) == ("direction", "other", "foilworks")
    assert (other["n"], other["sum"], other["min"], other["max"]) == (3, -0.25, -1.0, 0.5)
    # .1 + .2 + .3 - .4 + 1e16 + 1 summed exactly and rounded once.
    assert tiny["n"] == 6
    assert tiny["sum"] == math.fsum([0.1, 0.2, 0.3, -0.4, 1e16, 1.0])
    assert (tiny["min"], tiny["max"]) == (-0.4, 1e16)


def test_scores_of_one_model_are_in_the_form_of_metrics_pairwise(tmp_path):
    foilworks.write(full_release(), tmp_path / "out", params={})
    first, second = lines(tmp_path / "out" / "scores" / "tiny.jsonl")
    assert (first["id"], first["caption"], first["foils"]) == ("direction:a", 0.1, [0.2])
    assert first["proficiency"] == {"caption": 0.3, "foils": [-0.4]}
    assert "proficiency" not in second
    assert len(lines(tmp_path / "out" / "scores.jsonl")) == 3


def test_models_of_one_label_and_hostile_labels_get_files_of_their_own(tmp_path):
    scores = (
        score("../m"),
        score("m"),
        ReleaseScore(**{**score("m").__dict__, "model_key": "m@2"}),
        ReleaseScore(**{**score("m").__dict__, "protocol": "vilma-2024-code"}),
    )
    foilworks.write(release_of([ITEM], scores=scores), tmp_path / "out", params={})
    files = sorted((tmp_path / "out" / "scores").iterdir())
    assert len(files) == 4
    assert all(len(lines(path)) == 1 for path in files)


def test_equal_content_is_equal_bytes(tmp_path):
    for name in ("a", "b"):
        foilworks.write(full_release(), tmp_path / name, params={})
    for path in (tmp_path / "a").rglob("*.json*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_nan_score_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError):
        foilworks.write(release_of([ITEM], scores=(score(caption=float("nan")),)), tmp_path / "out", params={})
    assert list(tmp_path.iterdir()) == []


def test_a_table_cannot_be_named_out_of_its_folder(tmp_path):
    for name in ("../x", "checks", "a/b", ""):
        with pytest.raises(CorpusError, match="is not a valid table name"):
            foilworks.write(release_of([ITEM], tables={name: {}}), tmp_path / "out", params={})


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(CorpusError, match="contains other files; name a new or an empty folder"):
        jsonl.write(release_of([ITEM]), out, params={})
    assert (out / "thesis.txt").read_text() == "years of work"
    with pytest.raises(CorpusError, match="is not a folder"):
        jsonl.write(release_of([ITEM]), out / "thesis.txt", params={})
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(CorpusError, match="is not a folder"):
        jsonl.write(release_of([ITEM]), tmp_path / "link", params={})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]


def test_an_export_of_ours_is_replaced_unless_somebody_added_to_it(tmp_path):
    out = tmp_path / "deep" / "out"
    jsonl.write(release_of([ITEM]), out, params={})
    foilworks.write(full_release(), out, params={})
    assert not (out / "records.jsonl").exists()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match="contains other files"):
        jsonl.write(release_of([ITEM]), out, params={})
    assert (out / "items.jsonl").exists()


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    jsonl.write(release_of([ITEM]), tmp_path / "out", params={})
    assert (tmp_path / "out" / "records.jsonl").exists()


def test_a_failing_disk_leaves_the_earlier_export_whole(tmp_path, monkeypatch):
    out = tmp_path / "out"
    jsonl.write(release_of([ITEM]), out, params={})
    before = (out / "manifest.json").read_bytes()

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("foilworks.core.corpus.export_formats.jsonl.write_lines", full)
    with pytest.raises(CorpusError, match=r"No space left on device\); free space"):
        jsonl.write(release_of([ITEM], name="r2"), out, params={})
    assert (out / "manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_items_outside_of_the_release_go_into_the_full_folder_alone(tmp_path):
    release = release_of([ITEM])
    rejected = {**release.items[0], "id": "direction:b", "released": False, "state": "invalid"}
    release = type(release)(**{**release.__dict__, "items": (*release.items, rejected)})
    foilworks.write(release, tmp_path / "full", params={})
    jsonl.write(release, tmp_path / "lines", params={})
    assert [line["id"] for line in lines(tmp_path / "full" / "items.jsonl")] == ["direction:a", "direction:b"]
    assert [line["id"] for line in lines(tmp_path / "lines" / "records.jsonl")] == ["direction:a"]


def test_votes_of_several_foils_are_not_added_up(tmp_path):
    item = ItemRecord("a", "s", VideoRecord(key="v", source_id="v"), "x", ("y", "z"))
    release = release_of([item])
    votes = tuple(ReleaseVote("a", foil, "p1", "caption", "s") for foil in (0, 1))
    jsonl.write(type(release)(**{**release.__dict__, "votes": votes}), tmp_path / "out", params={})
    assert "votes" not in lines(tmp_path / "out" / "records.jsonl")[0]


def test_a_proficiency_pair_keeps_its_votes_apart(tmp_path):
    pair = PairRecord("x", ("y",), VoteCounts(0, 1, 0), {"mask_target": "x"})
    item = ItemRecord(**{**ITEM.__dict__, "proficiency": pair})
    jsonl.write(release_of([item]), tmp_path / "out", params={})
    (line,) = lines(tmp_path / "out" / "records.jsonl")
    assert line["proficiency"]["votes"] == {"caption": 0, "foil": 1, "other": 0}
    assert line["votes"] == {"caption": 3, "foil": 0, "other": 0}


def test_counts_of_zero_are_exported_as_imported(tmp_path):
    """ViLMA's relations have a record that nobody judged."""
    nobody = {"caption": 0, "foil": 0, "other": 0}
    pair = {"caption": "a ball", "foils": ["a cube"], "human": nobody}
    (item,) = items_of(read_vilma(tmp_path, {"0": {**RELATION, "mturk": nobody, "proficiency": pair}}))
    assert item.votes == VoteCounts(0, 0, 0)
    stored = replace(item, votes=None, proficiency=replace(item.proficiency, votes=None))
    vilma.write(release_of([stored]), tmp_path / "out", params={})
    written = json.loads((tmp_path / "out" / "relations.json").read_text(encoding="utf-8"))["0"]
    assert (written["mturk"], written["proficiency"]["human"], "foilworks" in written) == (nobody, nobody, False)
