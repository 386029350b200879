"""What hands and other programs leave in tables: blanks, apostrophes, doubled keys, ends that mean "to the end"."""

import csv
import json
from dataclasses import replace

import pytest

from foilworks.core.corpus.export_formats import csv_rows as csv_exporter
from foilworks.core.corpus.import_formats import csv_rows, jsonl, msrvtt, mturk, vilma, votes
from foilworks.core.corpus.import_formats.choice_sets import CONTRAST, FEINT6K
from foilworks.core.corpus.records import BadRecord, ItemRecord, RecordWarning
from foilworks.core.corpus.vote_records import VoteRecord
from tests.corpus.releases import release_of
from tests.corpus.test_exporters import ITEM

FOREIGN = """id,video,caption,foil
-Qs1aBcDeFg_10_20,grey.webm,A dog runs.,A dog sits.
=x,grey.webm,"-5 degrees, says the sign.","+6 degrees, says the sign."
q1,grey.webm,"'+1' is on the sign.","'-' is on the sign."
"""


def items(module, path, text):
    path.write_text(text, encoding="utf-8", newline="")
    outcomes = list(module.read(path, params={}))
    return [one for one in outcomes if isinstance(one, ItemRecord)], [
        str(one) for one in outcomes if not isinstance(one, ItemRecord)
    ]


def test_an_apostrophe_of_somebody_elses_table_is_kept_and_named(tmp_path):
    found, said = items(csv_rows, tmp_path / "ex.csv", FOREIGN)
    assert [item.id for item in found] == ["-Qs1aBcDeFg_10_20", "=x", "q1"]
    assert (found[2].caption, found[2].foils) == ("'+1' is on the sign.", ("'-' is on the sign.",))
    kept = "starts with an apostrophe, which is kept; remove it if it only marks the cell as text"
    assert sorted(said) == [f"{tmp_path}/ex.csv:4: {name}: {kept}" for name in ("caption", "foil")]


def test_a_cell_of_our_export_is_marked_and_survives_a_row_from_elsewhere(tmp_path):
    ours = replace(ITEM, id="=a", caption="'+1' is on the sign.", foils=("-1 is on it.",), subtest="two ")
    csv_exporter.write(release_of([ours]), tmp_path / "out", params={})
    with (tmp_path / "out" / "records.csv").open(encoding="utf-8", newline="") as file:
        header, row = csv.reader(file)
    cells = dict(zip(header, row, strict=True))
    assert cells["foilworks_escaped"] == "id subtest caption"
    assert (cells["id"], cells["caption"], cells["subtest"]) == ("'=a", "''+1' is on the sign.", "'two ")
    # Moved away from its manifest, with a row that somebody typed.
    typed = {**dict.fromkeys(header, ""), "id": " b ", "video": "b.mp4", "caption": "'=2' is shown."}
    path = tmp_path / "edited.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, row, [typed[name] for name in header]])
    found = [one for one in csv_rows.read(path, params={}) if isinstance(one, ItemRecord)]
    assert (found[0].id, found[0].caption, found[0].foils, found[0].subtest) == (
        ours.id,
        ours.caption,
        ours.foils,
        "two ",
    )
    assert (found[1].id, found[1].caption, found[1].facts) == ("b", "'=2' is shown.", {})


@pytest.mark.parametrize("text", ["\n=1", "＝1", "a;=1", "a; '=1 ", "';=1", "a\n+1", " ;-1", "'a;=1"])
def test_texts_that_spreadsheets_would_run_come_back(tmp_path, text):
    ours = replace(ITEM, caption=text, foils=(f"{text}2", ";=3"), facts={"note": text})
    csv_exporter.write(release_of([ours]), tmp_path / "out", params={})
    (item,), said = items(csv_rows, tmp_path / "copy.csv", read_whole(tmp_path / "out" / "records.csv"))
    assert (item.caption, item.foils, item.facts, said) == (ours.caption, ours.foils, ours.facts, [])


def read_whole(path):
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def test_an_export_of_0_1_is_known_by_the_manifest_beside_it(tmp_path):
    text = "id,video,caption,foil\r\n'=a,a.mp4,''=1 is shown.,'-2 is over.\r\n"
    (tmp_path / "manifest.json").write_text(json.dumps({"made_by": "foilworks", "files": {"records.csv": {}}}))
    found, said = items(csv_rows, tmp_path / "records.csv", text)
    assert [(item.id, item.caption, item.foils) for item in found] == [("=a", "'=1 is shown.", ("-2 is over.",))]
    assert said == []


def test_a_row_without_a_marked_cell_has_no_column_for_it(tmp_path):
    csv_exporter.write(release_of([ITEM]), tmp_path / "out", params={})
    assert "escaped" not in (tmp_path / "out" / "records.csv").read_text(encoding="utf-8")


def test_blanks_around_names_and_ids_mean_nothing_and_texts_stay(tmp_path):
    (item,), _said = items(csv_rows, tmp_path / "x.csv", "id, video, subtest, caption\n 1 , a.mp4 , easy , A dog.\n")
    assert (item.id, item.video.file, item.subtest, item.caption) == ("1", "a.mp4", "easy", " A dog.")


@pytest.mark.parametrize(
    ("module", "name", "text"),
    [
        (CONTRAST, "x.tsv", "clip\tending0\tending1\tlabel\n v1 \tone\ttwo\t 0 \n"),
        (FEINT6K, "x.csv", "video_id,sentence\n" + "".join(f" v1 ,text {n}\n" for n in range(6))),
        (msrvtt, "x.csv", "video_id,sentence\n v1 ,a man sits.\n"),
    ],
)
def test_blanks_around_names_mean_nothing_in_published_tables(tmp_path, module, name, text):
    (item,), _said = items(module, tmp_path / name, text)
    assert item.video.source_id == "v1"


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (votes, "item,annotator,choice\ni,p0,caption\n i ,p0 ,foil\n"),
        (mturk, "WorkerId,Input.item,Answer.choice\np0,i,caption\np0 , i,foil\n"),
    ],
)
def test_an_annotator_with_a_blank_behind_the_name_is_the_same_person(tmp_path, module, text):
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8")
    vote, second = module.read(path, params={})
    assert isinstance(vote, VoteRecord)
    assert (vote.item, vote.annotator) == ("i", "p0")
    assert isinstance(second, BadRecord)
    assert "judged 'i' already on line 2" in second.problem


def test_a_repeated_field_is_an_error_of_its_line(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"id": "a", "video": "a.mp4", "caption": "one", "caption": "two"}\n'
        '{"id": "b", "video": "b.mp4", "caption": "one", "votes": {"caption": 1, "caption": 2}}\n'
        '{"id": "c", "video": "c.mp4", "caption": "one"}\n',
        encoding="utf-8",
    )
    *bad, item = jsonl.read(path, params={})
    wrong = "JSON: has the field 'caption' twice; keep one of them; correct the line"
    assert [str(one) for one in bad] == [f"{path}:{line}: {wrong}" for line in (1, 2)]
    assert item.id == "c"


@pytest.mark.parametrize(
    ("start", "end", "clip"),
    [(None, -1, "a.mp4"), (0, -1, "a.mp4"), (0, 0, "a.mp4"), (0.0, -1.0, "a.mp4"), (2.5, -1, "a.mp4@2.5-")],
)
def test_an_end_of_minus_one_or_nought_to_nought_is_the_end_of_the_video(tmp_path, start, end, clip):
    record = {"id": "a", "video": "a.mp4", "start_time": start, "end_time": end, "caption": "x"}
    lines = "".join(json.dumps({**record, "id": id_, "caption": id_}) + "\n" for id_ in "ab")
    path = tmp_path / "x.jsonl"
    path.write_text(lines, encoding="utf-8")
    note, *found = jsonl.read(path, params={})
    assert [(item.video.key, item.video.end_time) for item in found] == [(clip, None)] * 2
    assert isinstance(note, RecordWarning)
    assert str(note) == f"{path}:1: end_time: is {end:g}: this clip, and each like it, goes to the video's end"


def test_vilmas_records_to_the_end_come_in(tmp_path):
    record = {"video_file": "1", "start_time": 0, "end_time": -1, "time_unit": "sec", "caption": "a", "foils": ["b"]}
    (item,), said = items(vilma, tmp_path / "relations.json", json.dumps({"1": record}))
    assert (item.video.start_time, item.video.end_time, len(said)) == (None, None, 1)
    record = {**record, "start_time": 3, "end_time": 2}
    assert items(vilma, tmp_path / "relations.json", json.dumps({"1": record}))[0] == []
