import json
from pathlib import Path

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import jsonl
from foilworks.core.corpus.import_formats.jsonl import COLUMNS
from foilworks.core.corpus.records import BadRecord, ItemRecord, PairRecord, RecordWarning, VideoRecord, VoteCounts

GOOD = {"id": "a", "video": "a.mp4", "caption": "a man sits.", "foil": "a man stands."}


def read(tmp_path, *records, name="sitting.jsonl"):
    """Outcomes of a file with these lines; a str is a line as it stands."""
    path = tmp_path / name
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(jsonl.read(path, params={}))


def the_bad(tmp_path, **changes):
    (bad,) = read(tmp_path, {**GOOD, **changes})
    assert isinstance(bad, BadRecord), bad
    assert bad.where == f"{tmp_path / 'sitting.jsonl'}:1"
    assert str(bad) == f"{bad.where}: {bad.field}: {bad.problem}; {bad.fix}"
    return bad


def test_a_full_record_comes_out_with_every_column(tmp_path):
    (item,) = read(
        tmp_path,
        {
            "id": 7,
            "video": "clips/a.mp4",
            "url": "https://example.org/a.mp4",
            "video_key": "clip a",
            "source_dataset": "QUVA",
            "source_id": "000",
            "start_time": 1,
            "end_time": 2.5,
            "time_unit": "sec",
            "split": "test",
            "class_label": "jumping",
            "category": "sport",
            "movie": "none",
            "caption": "a man jumps exactly two times.",
            "foils": ["a man jumps exactly three times.", "a man jumps exactly four times."],
            "subtest": "easy",
            "test": "counting",
            "proficiency": {"caption": "a man jumps.", "foil": "a man sits.", "votes": {"caption": 1}, "by": "us"},
            "votes": {"caption": 2, "foil": 1, "other": 0},
            "facts": {"template": "exactly <number>"},
            "extra": {"note": "kept"},
            "count": 2,
            "pair": "jumps",
        },
    )
    assert item == ItemRecord(
        id="7",
        subtest="easy",
        test="counting",
        video=VideoRecord(
            key="clip a",
            file="clips/a.mp4",
            url="https://example.org/a.mp4",
            source_dataset="QUVA",
            source_id="000",
            start_time=1.0,
            end_time=2.5,
            split="test",
            class_label="jumping",
            category="sport",
            movie="none",
        ),
        caption="a man jumps exactly two times.",
        foils=("a man jumps exactly three times.", "a man jumps exactly four times."),
        proficiency=PairRecord("a man jumps.", ("a man sits.",), VoteCounts(1, 0, 0), {"by": "us"}),
        votes=VoteCounts(2, 1, 0),
        extra={"note": "kept"},
        facts={"count": 2, "template": "exactly <number>"},
        pair="jumps",
    )
    assert item.line == 1


def test_every_column_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    for column, meaning in COLUMNS.items():
        assert f"| `{column}` | {meaning} |" in text


def test_a_record_without_a_foil_is_a_caption_to_make_foils_for(tmp_path):
    (item,) = read(tmp_path, {"id": "a", "video": "a.mp4", "caption": "a man jumps.", "count": 3, "subtest": None})
    assert (item.foils, item.facts, item.subtest) == ((), {"count": 3}, "sitting")


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\r\n" + json.dumps(GOOD).encode() + b"\r\n\r\n")
    (item,) = jsonl.read(path, params={})
    assert item.line == 2


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path):
    (item,) = read(tmp_path, json.dumps({**GOOD, "caption": "one\u2028two"}, ensure_ascii=False))
    assert item.caption == "one\u2028two"


def test_clips_of_one_source_and_trim_share_a_key(tmp_path):
    a, b, c, d, e = read(
        tmp_path,
        {**GOOD, "id": "a", "source_dataset": "QUVA", "source_id": "1", "start_time": 1.5, "end_time": 2},
        {**GOOD, "id": "b", "source_dataset": "QUVA", "source_id": "1", "start_time": 1.5, "end_time": 2.0},
        {**GOOD, "id": "c", "source_dataset": "QUVA", "source_id": "1", "start_time": 1.5, "time_unit": "pts"},
        {**GOOD, "id": "d"},
        {**GOOD, "id": "e", "source_dataset": "QUVA", "source_id": "1", "start_time": 1, "time_unit": "frames"},
    )
    assert a.video.key == b.video.key == "QUVA/1@1.5-2"
    assert (c.video.key, d.video.key, e.video.key) == ("QUVA/1@1.5-pts", "a.mp4", "QUVA/1@1-frames")


def test_a_bad_line_leaves_the_others_in(tmp_path):
    outcomes = read(tmp_path, GOOD, '{"id": "b", ', {**GOOD, "id": "c"})
    assert [type(outcome) for outcome in outcomes] == [ItemRecord, BadRecord, ItemRecord]
    assert outcomes[1].where.endswith("sitting.jsonl:2")
    assert outcomes[1].field == "JSON"


def test_the_second_record_with_an_id_is_bad(tmp_path):
    _, bad, other = read(tmp_path, GOOD, {**GOOD, "caption": "another"}, {**GOOD, "id": "b"})
    assert (bad.field, bad.problem) == ("id", "'a' is already on line 1")
    assert other.id == "b"


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"id": None}, "id", "is empty"),
        ({"id": "x" * 201}, "id", "has 201 characters, more than 200"),
        ({"caption": None}, "caption", "is missing"),
        ({"caption": "  \n"}, "caption", "is empty"),
        ({"caption": "x" * 1_000_000}, "caption", "has 1000000 characters, more than 2000"),
        ({"caption": 5}, "caption", "is the number 5"),
        ({"foil": ["a", 1]}, "foil[1]", "is the number 1"),
        ({"foil": None, "foils": ["ok", ""]}, "foils[1]", "is empty"),
        ({"foils": ["b"]}, "foil", "is not among the foils"),
        ({"foil": "x" * 2001}, "foil[0]", "has 2001 characters, more than 2000"),
        ({"video": None}, "video", "is missing"),
        ({"video": "../../etc/passwd"}, "video", "'../../etc/passwd' leaves the media folder"),
        ({"video": "/etc/passwd"}, "video", "'/etc/passwd' leaves the media folder"),
        ({"video": "a\\..\\b"}, "video", "'a\\\\..\\\\b' leaves the media folder"),
        ({"url": "javascript:alert(1)"}, "url", "is not a web address"),
        ({"url": "file:///etc/passwd"}, "url", "is not a web address"),
        ({"start_time": "1"}, "start_time", "is the text '1'"),
        ({"start_time": -1}, "start_time", "is the number -1"),
        ({"start_time": True}, "start_time", "is True"),
        ({"start_time": 10**400}, "start_time", "is a very large number"),
        ({"start_time": 3, "end_time": 3}, "end_time", "is 3, not after start_time"),
        ({"end_time": 0}, "end_time", "is 0, not after start_time"),
        ({"time_unit": "minutes"}, "time_unit", "is 'minutes'"),
        ({"split": "validation"}, "split", "is 'validation'"),
        ({"votes": {"caption": -1}}, "votes.caption", "is the number -1"),
        ({"votes": {"caption": 1.5}}, "votes.caption", "is 1.5"),
        ({"votes": {"nobody": 1}}, "votes.nobody", "is not a choice"),
        ({"votes": [1, 2]}, "votes", "is a list"),
        ({"proficiency": {"caption": "x"}}, "proficiency.foils", "is missing"),
        ({"proficiency": "x"}, "proficiency", "is the text 'x'"),
        ({"facts": [1]}, "facts", "is a list"),
        ({"count": float("nan")}, "count", "is nan"),
        ({"extra": {"a": [{"b": float("inf")}]}}, "extra.a[0].b", "is inf"),
        ({"caption": "a\x00b"}, "caption", "contains a NUL character"),
        ({"note": "\ud800"}, "note", "contains half of a surrogate pair"),
        ({"a\x00b": 1}, "a field name in the record", "contains a NUL character"),
    ],
)
def test_a_bad_value_is_named_by_its_field(tmp_path, changes, field, problem):
    bad = the_bad(tmp_path, **changes)
    assert (bad.field, bad.problem) == (field, problem)
    assert bad.fix


def test_nesting_without_end_is_a_bad_record(tmp_path):
    deep, deeper, good = read(
        tmp_path, {**GOOD, "extra": json.loads('{"a":' * 60 + "1" + "}" * 60)}, '{"a":' * 100_000, {**GOOD, "id": "z"}
    )
    assert "nested deeper than 40 levels" in deep.problem
    assert "nested too deeply" in deeper.problem
    assert good.id == "z"


@pytest.mark.parametrize("line", ["5", "[]", "null", '"text"'])
def test_a_line_that_is_not_an_object_is_a_bad_record(tmp_path, line):
    (bad,) = read(tmp_path, line)
    assert bad.field == "record"


def test_doubtful_records_are_taken_and_named(tmp_path):
    outcomes = read(
        tmp_path,
        {**GOOD, "foil": GOOD["caption"], "votes": {"caption": 3, "foil": 0, "other": 0}},
        {**GOOD, "id": "b", "foil": None, "foils": ["x", "x"]},
        {**GOOD, "id": "c", "votes": {"caption": 0, "foil": 0, "other": 0}},
        {**GOOD, "id": "d", "proficiency": {"caption": "x", "foils": ["x"], "votes": {"caption": 0}}},
    )
    warnings = [(w.where.rpartition(":")[2], w.field, w.problem) for w in outcomes if isinstance(w, RecordWarning)]
    assert warnings == [
        ("1", "foils", "a foil is equal to the caption"),
        ("2", "foils", "two foils are equal"),
        ("3", "votes", "nobody voted: all counts are zero"),
        ("4", "proficiency.foils", "a foil is equal to the caption"),
        ("4", "proficiency.votes", "nobody voted: all counts are zero"),
    ]
    assert [item.id for item in outcomes if isinstance(item, ItemRecord)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "1: file: is empty"),
        (b" \n ", "1: file: is empty"),
        (b'{"id": "a"}\n{"caption": "caf\xe9"}\n', "2: encoding: byte 0xe9 is not UTF-8"),
        ('{"id": "a"}'.encode("utf-16")[:-1], " file: is not whole UTF-16"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, content, words):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        list(jsonl.read(path, params={}))
    assert str(caught.value).startswith(f"{path}:{words}; ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(CorpusError, match="there is no such file; check the path"):
        list(jsonl.read(tmp_path / "gone.jsonl", params={}))
    with pytest.raises(CorpusError, match="cannot be read"):
        list(jsonl.read(tmp_path, params={}))


@pytest.mark.parametrize("name", ["captions.csv", "captions.TSV"])
def test_a_table_is_one_complaint_and_not_one_a_line(tmp_path, name):
    with pytest.raises(CorpusError, match=f"{name}:1: file: looks like a table, not like JSON lines; choose CSV table"):
        read(tmp_path, "id,caption", "a,x", "b,y", name=name)


def test_json_lines_may_be_called_as_they_like(tmp_path):
    first, second = read(tmp_path, GOOD, "id,caption", name="captions.csv")
    assert isinstance(first, ItemRecord)
    assert isinstance(second, BadRecord)
