"""Any table by a recipe: kinds of files, templates, conditions, lists, choices, the recipes of published sources."""

import json
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import table
from foilworks.core.corpus.import_formats.parsing.column_roles import guess
from foilworks.core.corpus.import_formats.parsing.row_filters import parse_condition
from foilworks.core.corpus.import_formats.parsing.row_values import value_at
from foilworks.core.corpus.import_formats.parsing.table_recipe import parse_recipe, shipped
from foilworks.core.corpus.import_formats.parsing.table_sample import fitting, preview_rows, sample_of
from foilworks.core.corpus.import_formats.parsing.templates import fill, parse_source
from foilworks.core.corpus.records import MAX_LABEL, BadRecord, ItemRecord, RecordWarning

COLUMNS = {"caption": "says", "foils": ["no1", "no2"], "video": "clip"}
ROW = {"clip": "a.mp4", "says": "A man sits.", "no1": "A man stands.", "no2": "A dog sits."}


def read(path: Path, **params: Any) -> list[Any]:
    return list(table.read(path, params=params))


def items(path: Path, **params: Any) -> list[ItemRecord]:
    return [one for one in read(path, **params) if isinstance(one, ItemRecord)]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def delimited(delimiter: str) -> str:
    return "\n".join(delimiter.join(cells) for cells in (ROW, ROW.values())) + "\n"


FILES = {
    "a.csv": delimited(","),
    "b.csv": delimited(";"),
    "c.tsv": delimited("\t"),
    "d.txt": delimited("\t"),
    "e.jsonl": json.dumps(ROW),
    "f.json": json.dumps([ROW]),
    "g.json": json.dumps({"x": ROW}),
    "h.json": json.dumps(ROW) + "\n" + json.dumps({**ROW, "clip": "b.mp4"}),
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_gives_the_same_record(tmp_path, name):
    path = write(tmp_path / name, FILES[name])
    found = items(path, mapping={"columns": COLUMNS}, subtest="own")
    assert len(found) == (2 if name == "h.json" else 1)
    assert (found[0].caption, found[0].foils) == ("A man sits.", ("A man stands.", "A dog sits."))
    assert (found[0].video.file, found[0].subtest, found[0].facts) == ("a.mp4", "own", {})


def test_a_parquet_file_is_read_and_its_bytes_are_left_out(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({name: [text] for name, text in ROW.items()} | {"frame": [b"\0"]}), path)
    [item] = items(path, mapping={"columns": COLUMNS})
    assert (item.caption, item.facts) == ("A man sits.", {})


def test_ids_are_the_same_in_another_order_and_equal_rows_are_named(tmp_path):
    other = "b.mp4,A cat runs.,A cat sits.,A cat sleeps."
    one = write(tmp_path / "a.csv", delimited(",") + other + "\n")
    two = write(tmp_path / "b.csv", f"clip,says,no1,no2\n{other}\n{','.join(ROW.values())}\n{other}\n")
    ids = {item.id for item in items(one, mapping={"columns": COLUMNS}, subtest="s")}
    outcomes = read(two, mapping={"columns": COLUMNS}, subtest="s")
    assert {one.id for one in outcomes if isinstance(one, ItemRecord)} == ids
    assert [str(one) for one in outcomes if isinstance(one, BadRecord)] == [
        f"{two}:4: record: repeats the record on line 2; remove it"
    ]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("says", "A man sits."),
        ("{n:05d}.mp4", "00007.mp4"),
        ("{n:.1f}", "7.0"),
        ("{path:name}", "x.mp4"),
        ("{path:stem}-{says:lower}", "x-a man sits."),
        ("{{{n}}}", "{7}"),
        ("{absent} {n}", None),
        ("{list.1.word}", "b"),
    ],
)
def test_templates_fill_columns_and_formats(template, text):
    row = {"says": "A man sits.", "n": "7", "path": "/data/x.mp4", "list": '[{"word": "a"}, {"word": "b"}]'}
    assert fill(parse_source(template), lambda name: value_at(row, name)) == text


@pytest.mark.parametrize(
    "template", ["{says!r}", "{says:>1000000}", "{}", "{says", "{n:{m}}", "{n:999999999d}", "{" * 2001]
)
def test_templates_cannot_do_more_than_fill(template):
    with pytest.raises(CorpusError):
        parse_source(template)


def test_an_attribute_in_a_template_is_only_the_name_of_a_column():
    source = parse_source("{says.__class__.__mro__}")
    assert fill(source, lambda name: value_at({"says": "A man sits."}, name)) is None


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("n=1", True),
        ("n == 1.0", True),
        ("n!=1", False),
        ("n>0.5", True),
        ("n <= 0", False),
        ("split in train, val", True),
        ("split not in train,val", False),
        ("none=", True),
        ("none!=", False),
        ("split>1", False),
    ],
)
def test_conditions_choose_rows(condition, holds):
    assert parse_condition(condition).holds({"n": "1", "split": "val"}) is holds


@pytest.mark.parametrize("condition", ["n", "=1", "n>many", ""])
def test_conditions_without_meaning_are_refused(condition):
    with pytest.raises(CorpusError, match="where: "):
        parse_condition(condition)


@pytest.mark.parametrize(
    ("answer", "extra", "caption"),
    [
        ("0", {}, "Q? yes"),
        ("2", {}, "Q? maybe"),
        ("2", {"first_answer": 1}, "Q? no"),
        ("B", {}, "Q? no"),
        ("(c)", {}, "Q? maybe"),
        ("Maybe", {}, "Q? maybe"),
    ],
)
def test_the_right_candidate_is_the_caption_and_the_others_are_foils(answer, extra, caption):
    row = {"v": "a.mp4", "q": "Q?", "a0": "yes", "a1": "no", "a2": "maybe", "right": answer}
    columns = {"video": "v", "candidates": ["a0", "a1", "a2"], "answer": "right", "candidate": "{q} {candidate}"}
    [shown] = preview_rows({"columns": columns, **extra}, [row], "s")
    assert shown.item is not None
    assert shown.item.caption == caption
    assert len(shown.item.foils) == 2
    assert caption not in shown.item.foils


@pytest.mark.parametrize("answer", ["9", "-1", "D", "perhaps", ""])
def test_an_answer_outside_of_the_candidates_is_a_problem_of_the_row(answer):
    row = {"v": "a.mp4", "a": "['yes', 'no']", "right": answer}
    [shown] = preview_rows({"columns": {"video": "v", "candidates": ["a"], "answer": "right"}}, [row], "s")
    assert shown.problem is not None
    assert shown.problem[0] == "answer"


def test_a_number_that_is_also_another_candidates_text_is_refused():
    row = {"v": "a.mp4", "a": ["2", "3", "1"], "right": "1"}
    [shown] = preview_rows({"columns": {"video": "v", "candidates": ["a"], "answer": "right"}}, [row], "s")
    assert shown.problem is not None
    assert "both a number and the text" in shown.problem[1]


def test_a_record_that_is_not_an_object_is_bad_alone_and_a_given_subtest_is_that_of_all(tmp_path):
    rows = [{"clip": "a.mp4", "says": "A man sits.", "kind": "x"}, "b.mp4"]
    path = write(tmp_path / "a.json", json.dumps(rows))
    columns = {"caption": "says", "video": "clip", "subtest": "kind"}
    item, bad = read(path, mapping={"columns": columns}, subtest="mine" * 100)
    assert item.subtest == ("mine" * 100)[:MAX_LABEL]
    assert str(bad).endswith("record: is the text 'b.mp4'; give an object with named fields")


def test_rows_that_the_conditions_leave_out_are_counted(tmp_path):
    path = write(tmp_path / "a.csv", "clip,says,ok\na.mp4,A man sits.,1\nb.mp4,A dog runs.,0\n")
    outcomes = read(path, mapping={"columns": {"caption": "says", "video": "clip"}, "where": ["ok=1"]})
    assert [str(one) for one in outcomes[1:]] == [
        f"{path}:1: where: 1 of 2 rows do not meet the conditions and are left out"
    ]
    assert outcomes[0].facts == {}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"columns": {"captoin": "says"}}, "did you mean 'caption'?"),
        ({"columns": {"caption": "sayz", "video": "clip"}}, "there is no column 'sayz'; did you mean 'says'?"),
        ({"columns": {"video": "clip"}}, "caption is missing"),
        ({"columns": {**COLUMNS, "answer": "no1"}}, "candidates is missing"),
        ({"columns": COLUMNS, "first_answer": 2}, "give 0 or 1"),
        ({"columns": COLUMNS, "wher": []}, "did you mean 'where'?"),
        ({"columns": COLUMNS, "where": "a=1"}, "give a list"),
        ({"columns": COLUMNS, "files": "../*.csv"}, "leaves the folder"),
        ({"columns": COLUMNS, "lookup": {"file": "/etc/passwd", "form": "lines", "key": "says"}}, "leaves the folder"),
        ({"columns": {"caption": ["says", "no1"], "video": "clip"}}, "takes one column"),
        ({}, "caption can be 'says' or 'no1' or 'no2'"),
    ],
)
def test_a_recipe_that_does_not_fit_says_what_is_wrong(tmp_path, document, said):
    path = write(tmp_path / "a.csv", delimited(","))
    with pytest.raises(CorpusError) as error:
        read(path, mapping=document)
    assert said in str(error.value)


def test_columns_that_nobody_mapped_are_read_from_the_first_rows(tmp_path):
    text = "clip,says,wrong\na.mp4,A man sits.,A man stands.\nb.mp4,Two dogs run.,Two cats run.\n"
    outcomes = read(write(tmp_path / "a.csv", text))
    assert str(outcomes[0]) == "video = clip, caption = says, foils = wrong"
    assert [(item.caption, item.foils, item.video.file) for item in outcomes[1:]] == [
        ("A man sits.", ("A man stands.",), "a.mp4"),
        ("Two dogs run.", ("Two cats run.",), "b.mp4"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_each_encoding_and_delimiter_of_a_spreadsheet_is_read(tmp_path, encoding, delimiter):
    """Where commas do not separate cells, they are decimal points."""
    start = "0.5" if delimiter == "," else "0,5"
    rows = [["id", "video", "start", "end", "caption", "foil"], ["a", "x.mp4", start, "2", "Ein Mann öffnet.", "Nein."]]
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (path := tmp_path / "a.txt").write_bytes(mark + text.encode(encoding))
    [item] = items(path)
    assert (item.caption, item.foils, item.video.start_time) == ("Ein Mann öffnet.", ("Nein.",), 0.5)


@pytest.mark.parametrize(
    ("name", "is_named"),
    [("1,23457E+17", True), ("1.00E+05", True), ("02. Jan", True), ("2-Mar", True), ("Jan-02", True), ("v2-3", False)],
)
def test_ids_that_a_spreadsheet_rewrote_are_named(tmp_path, name, is_named):
    path = write(tmp_path / "a.csv", f'id,video,caption,foil\n"{name}",a.mp4,A man sits.,A man stands.\n')
    warnings = [one for one in read(path) if isinstance(one, RecordWarning)]
    assert [(one.field, "spreadsheet" in one.problem) for one in warnings] == [("id", True)] * is_named


def test_a_foil_that_differs_only_in_the_form_of_its_characters_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "id,video,caption,foil\na,a.mp4,A caf\u00e9 opens.,A cafe\u0301 opens.\n")
    outcomes = read(path)
    assert not any(isinstance(one, ItemRecord) for one in outcomes)
    assert [one.field for one in outcomes if isinstance(one, BadRecord)] == ["foils"]


def test_one_named_column_is_enough_if_the_others_follow(tmp_path):
    text = "file,a,b\nx.mp4,A man sits down.,A man sits up.\ny.mp4,Two dogs run.,Two cats run.\n"
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(CorpusError, match="caption can be 'a' or 'b'"):
        read(path)
    assert [item.foils for item in items(path, mapping={"columns": {"caption": "b"}})] == [
        ("A man sits down.",),
        ("Two dogs run.",),
    ]


def asked(question: str, answer: str) -> str:
    return f"Q: {question} A: {answer}"


YOUCOOK2 = {"database": {"Vid": {"subset": "validation", "recipe_type": "113", "annotations": [
    {"segment": [90, 102], "id": 0, "sentence": "spread margarine on two slices of bread"},
    {"segment": [114, 127], "id": 1, "sentence": "place a slice of cheese on the bread"}]}}}  # fmt: skip
COIN = {"database": {"Vid": {"class": "ReplaceDrive", "subset": "training", "recipe_type": 131, "annotation": [
    {"id": "215", "segment": [36.0, 54.0], "label": "take out the drive"}]}}}  # fmt: skip
STAR = [{"question_id": "Interaction_T1_13", "question": "Which object was tidied up by the person?",
         "video_id": "6H78U", "start": 11.1, "end": 19.6, "answer": "The blanket.", "choices": [
             {"choice_id": 0, "choice": "The table."}, {"choice_id": 1, "choice": "The blanket."}]}]  # fmt: skip
CHARADES = (
    "id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length\n"
    '46GP8,HR43,Kitchen,6,7,Yes,"A person cooks, then eats.",food,A person cooks.;Someone eats.,'
    "c092 11.90 21.20;c147 0.00 12.60,30.0\n46GP9,HR43,Bed,6,7,Yes,A person lies.,bed,A person lies.,,30.0\n"
)
NEXTQA = (
    "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
    "7,9,1,1,why,1,6,CW,a,b,c,d,e\n8,9,1,1,how,0,6,CH,f,g,h,i,j\n"
)
RAREACT = "id,video_id,start,end,class_id,verb,noun,annotation\n0,v1,50,60,0,cut,rock,1\n1,v2,20,30,1,close,box,0\n"
EPIC = (
    "narration_id,participant_id,video_id,narration_timestamp,start_timestamp,stop_timestamp,start_frame,stop_frame,"
    "narration,verb,verb_class,noun,noun_class,all_nouns,all_noun_classes\n"
    "P01_11_0,P01,P01_11,00:00:00.560,00:01:00.50,00:01:01.89,1,113,take plate,take,0,plate,2,['plate'],[2]\n"
)
WEBVID = "videoid,contentUrl,duration,page_dir,name\n12,https://a.example/x.mp4,PT00H00M10S,0_1,Aerial shot of a city\n"
MVBENCH = [{"video": "AB.mp4", "question": "next", "candidates": ["sat", "ran"], "answer": "ran", "start": 2, "end": 9}]
VIDEO_MME = [{"video_id": "001", "duration": "short", "domain": "Knowledge", "sub_category": "Law", "questions": [
    {"question_id": "001-1", "task_type": "Counting", "question": "how many", "options": ["A. One.", "B. Two."],
     "answer": "B"}]}]  # fmt: skip
VITATECS = [{"src_dataset": "MSRVTT", "video_name": "v1.mp4", "caption": "he sits", "counterfactual": "he runs",
             "aspect": "Type"}]  # fmt: skip
SUGARCREPE = {"0": {"filename": "1.jpg", "caption": "a cat", "negative_caption": "a dog"}}
SUGARCREPE_PP = [{"id": 0, **SUGARCREPE["0"], "caption2": "one cat"}]
# Recipe: the file, then (caption, foils, video key, start, end, split) of each record.
PUBLISHED = {
    "youcook2": (json.dumps(YOUCOOK2), [
        ("spread margarine on two slices of bread", (), "YouCook2/Vid@90-102", 90, 102, "val"),
        ("place a slice of cheese on the bread", (), "YouCook2/Vid@114-127", 114, 127, "val")]),
    "coin": (json.dumps(COIN), [("take out the drive", (), "COIN/Vid@36-54", 36, 54, "train")]),
    "star": (json.dumps(STAR), [
        ("Which object was tidied up by the person? The blanket.",
         ("Which object was tidied up by the person? The table.",), "STAR/6H78U@11.1-19.6", 11.1, 19.6, "")]),
    "charades": (CHARADES, [("A person cooks.", (), "Charades/46GP8", None, None, ""),
                            ("Someone eats.", (), "Charades/46GP8", None, None, ""),
                            ("A person lies.", (), "Charades/46GP9", None, None, "")]),
    "charades-actions": (CHARADES, [("Walking in", (), "Charades/46GP8@11.9-21.2", 11.9, 21.2, ""),
                                    ("Cooking food", (), "Charades/46GP8@0-12.6", 0, 12.6, "")]),
    "nextqa": (NEXTQA, [(asked("why", "b"), tuple(asked("why", a) for a in "acde"), "NExT-QA/7", None, None, ""),
               (asked("how", "f"), tuple(asked("how", a) for a in "ghij"), "NExT-QA/8", None, None, "")]),
    "vitatecs": (json.dumps(VITATECS), [("he sits", ("he runs",), "MSRVTT/v1", None, None, "")]),
    "sugarcrepe": (json.dumps(SUGARCREPE), [("a cat", ("a dog",), "COCO/1.jpg", None, None, "")]),
    "sugarcrepe-pp": (json.dumps(SUGARCREPE_PP), [("a cat", ("a dog",), "COCO/1.jpg", None, None, ""),
                                                  ("one cat", ("a dog",), "COCO/1.jpg", None, None, "")]),
    "mvbench": (json.dumps(MVBENCH), [(asked("next", "ran"), (asked("next", "sat"),), "MVBench/AB@2-9", 2, 9, "")]),
    "video-mme": (json.dumps(VIDEO_MME), [
        (asked("how many", "Two."), (asked("how many", "One."),), "Video-MME/001", None, None, "")]),
    "rareact": (RAREACT, [("cut rock", (), "RareAct/v1@50-60", 50, 60, "")]),
    "epic-kitchens": (EPIC, [("take plate", (), "EPIC-KITCHENS-100/P01_11@60.5-61.89", 60.5, 61.89, "")]),
    "webvid": (WEBVID, [("Aerial shot of a city", (), "WebVid/12", None, None, "")]),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_shipped_recipes_read_the_published_forms(tmp_path, name):
    text, expected = PUBLISHED[name]
    write(tmp_path / "Charades_v1_classes.txt", "c092 Walking in\nc147 Cooking food\n")
    path = write(tmp_path / ("a.json" if text[0] in "[{" else "a.csv"), text)
    found = items(path, recipe=name)
    shown = [(i.caption, i.foils, i.video.key, i.video.start_time, i.video.end_time, i.video.split) for i in found]
    assert shown == expected
    assert name in fitting(shipped(), sample_of(path)["rows"])


@pytest.mark.parametrize(
    "name", [name for name in PUBLISHED if not name.startswith(("charades", "mvbench", "sugarcrepe"))]
)
def test_a_published_file_is_recognized_without_its_recipe(tmp_path, name):
    text, expected = PUBLISHED[name]
    path = write(tmp_path / ("a.json" if text[0] in "[{" else "a.csv"), text)
    warning, *_outcomes = read(path)
    assert f"its columns are those of the recipe {name}" in warning.problem
    assert [(item.caption, item.foils) for item in items(path)] == [record[:2] for record in expected]


def test_names_of_files_are_better_evidence_than_names_of_columns(tmp_path):
    text = "clip,what,caption,foil\n1,Ball rolls,A ball rolls.,A ball flies.\n2,kitchen,A dog sits.,A cat sits.\n"
    path = write(tmp_path / "a.csv", text)
    assert [item.video.source_id for item in items(path)] == ["1", "2"]
    found = items(path, video_names=["ball rolls.mp4", "Kitchen.mov"])
    assert [item.video.source_id for item in found] == ["Ball rolls", "kitchen"]


def test_crosstask_is_a_folder_whose_files_name_the_task_and_the_video(tmp_path):
    steps = "23521\nMake Jello Shots\nhttps://a.example\n2\npour powder,stir mixture\n\n7\nB\nx\n1\ncut\n"
    write(tmp_path / "tasks_primary.txt", steps)
    write(tmp_path / "annotations" / "23521_ab_-c.csv", "2,3.5,9\n1,10,12.25\n")
    write(tmp_path / "annotations" / "7_d.csv", "1,0,2\n9,3,4\n")
    outcomes = read(tmp_path, recipe="crosstask")
    found = [one for one in outcomes if isinstance(one, ItemRecord)]
    assert [(item.caption, item.video.key, item.video.class_label) for item in found] == [
        ("stir mixture", "CrossTask/ab_-c@3.5-9", "23521"),
        ("pour powder", "CrossTask/ab_-c@10-12.25", "23521"),
        ("cut", "CrossTask/d@0-2", "7"),
    ]
    assert [one.problem for one in outcomes if isinstance(one, BadRecord)] == [
        "tasks_primary.txt has nothing for '7.9'"
    ]
    assert set(shipped()) == {*PUBLISHED, "crosstask"}


def test_lists_beside_each_other_are_joined_by_their_place(tmp_path):
    captions = {"v_1": {"duration": 9, "timestamps": [[0.5, 2], [3, 4]], "sentences": ["A man sits.", "He runs."]}}
    path = write(tmp_path / "a.json", json.dumps(captions | {"v_2": captions["v_1"]}))
    document = guess(sample_of(path)["rows"])
    assert document["columns"] == {
        "source_id": "@key",
        "caption": "sentences",
        "start_time": "timestamps.@place.0",
        "end_time": "timestamps.@place.1",
    }
    found = items(path, mapping=document)
    assert [(item.video.key, item.caption) for item in found][:2] == [
        ("v_1@0.5-2", "A man sits."),
        ("v_1@3-4", "He runs."),
    ]


def test_times_named_by_their_unit_are_guessed():
    rows = [
        {"clip_name": f"kitchen_{n}", "sentence": f"A man opens door {n}.", "begin_s": f"{n}.5", "finish_s": f"{n + 4}"}
        for n in range(3)
    ]
    columns = guess(rows)["columns"]
    assert (columns["start_time"], columns["end_time"]) == ("begin_s", "finish_s")


# Headers and first rows in the form of published tables: file -> what should be guessed.
GUESSED = {
    "nextqa": {"source_id": "video", "candidates": ["a0", "a1", "a2", "a3", "a4"], "answer": "answer",
               "question": "question", "subtest": "type"},
    "epic-kitchens": {"id": "narration_id", "source_id": "video_id", "caption": "narration",
                      "start_time": "start_timestamp", "end_time": "stop_timestamp"},
    "youcook2": {"source_id": "@key", "caption": "annotations.sentence", "start_time": "annotations.segment.0",
                 "end_time": "annotations.segment.1", "split": "subset", "class_label": "recipe_type"},
    "coin": {"source_id": "@key", "caption": "annotation.label", "start_time": "annotation.segment.0",
             "end_time": "annotation.segment.1", "split": "subset", "class_label": "class"},
    "star": {"id": "question_id", "source_id": "video_id", "start_time": "start", "end_time": "end",
             "candidates": ["choices.*.choice"], "answer": "answer", "question": "question"},
    "webvid": {"source_id": "videoid", "url": "contentUrl", "caption": "name"},
}  # fmt: skip


@pytest.mark.parametrize("name", GUESSED)
def test_guesses_find_the_columns_of_published_tables(tmp_path, name):
    text = PUBLISHED[name][0]
    path = write(tmp_path / ("a.json" if text[0] in "[{" else "a.csv"), text)
    document = guess(sample_of(path)["rows"])
    assert document["columns"] == GUESSED[name]
    assert parse_recipe(document).used


def test_a_sample_is_small_whatever_the_file_holds(tmp_path):
    row = {"caption": "x" * 100_000, "deep": {"a": [[1] * 5000]}, "many": {str(k): k for k in range(900)}}
    path = write(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for _ in range(300)))
    assert len(json.dumps(sample_of(path))) < 300_000


@pytest.mark.parametrize(
    ("row", "columns", "field"),
    [
        ({"n": "1e999"}, {"caption": "{n:d} A man."}, "n"),
        ({"n": "x" * 2000}, {"caption": "{n}" * 300}, "n"),
        ({"n": '["a\\u0000"]'}, {"caption": "n.0"}, "caption"),
        ({"n": "9" * 5000 + ":00:00"}, {"caption": "clip", "start_time": "n"}, "start_time"),
        ({"n": ["a"] * 101}, {"candidates": ["n"], "answer": "clip"}, "candidates"),
        ({"n": {"a": 1}}, {"caption": "n"}, "caption"),
        ({"clip": "../a.mp4", "n": "A man."}, {"caption": "n"}, "video"),
    ],
)
def test_cells_of_any_content_are_problems_of_their_row(row, columns, field):
    [shown] = preview_rows({"columns": {"video": "clip", **columns}}, [{"clip": "a.mp4", **row}], "s")
    assert shown.problem is not None
    assert shown.problem[0] == field
