"""The formats that are tables: csv, contrast, feint6k. Every complaint is held word for word."""

import json

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import csv_rows, jsonl
from foilworks.core.corpus.import_formats.choice_sets import CONTRAST, FEINT6K
from foilworks.core.corpus.records import BadRecord, ItemRecord, PairRecord, RecordWarning, VideoRecord, VoteCounts


def reader(module, name):
    def read(tmp_path, content, **params):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return list(module.read(path, params=params))

    return read


read_csv = reader(csv_rows, "sitting.csv")
read_contrast = reader(CONTRAST, "verbs.tsv")
read_feint = reader(FEINT6K, "vatex.csv")


def complaint(outcome, tmp_path) -> str:
    """The message without the folder."""
    return str(outcome).removeprefix(f"{tmp_path}/")


def the_error(read, tmp_path, content) -> str:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, content)
    return complaint(caught.value, tmp_path)


NEEDED = (
    "name the columns in the first line: id, caption, video (or url, source_id, video_key), or choose Any table (table)"
)


class TestCsv:
    HEADER = "id,video,start_time,end_time,caption,foil,foils,proficiency,votes,count,note\n"

    def test_a_row_is_the_record_that_the_same_json_line_is(self, tmp_path):
        pair = {"caption": "a man jumps.", "foils": ["a man sits."], "votes": {"caption": 1}}
        row = [
            "007",
            "a.mp4",
            "1",
            "2.5",
            '"a man, they say, jumps ""twice""."',
            "",
            '"[""a man jumps once."", ""a man jumps thrice.""]"',
            '"' + json.dumps(pair).replace('"', '""') + '"',
            '"{""caption"": 2, ""foil"": 1}"',
            "2",
            "two",
        ]
        (item,) = read_csv(tmp_path, self.HEADER + ",".join(row) + "\n")
        line = {
            "id": "007",
            "video": "a.mp4",
            "start_time": 1,
            "end_time": 2.5,
            "caption": 'a man, they say, jumps "twice".',
            "foils": ["a man jumps once.", "a man jumps thrice."],
            "proficiency": pair,
            "votes": {"caption": 2, "foil": 1},
            "count": 2,
            "note": "two",
        }
        (tmp_path / "sitting.jsonl").write_text(json.dumps(line), encoding="utf-8")
        assert item == next(iter(jsonl.read(tmp_path / "sitting.jsonl", params={})))
        assert (item.facts, item.proficiency) == (
            {"count": 2, "note": "two"},
            PairRecord("a man jumps.", ("a man sits.",), VoteCounts(1, 0, 0)),
        )

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_the_delimiters_of_spreadsheets_are_read(self, tmp_path, delimiter):
        lines = [["id", "video", "caption", "foil"], ["a", "a.mp4", '"x, y; z"', "b"], ["", "", "", ""]]
        text = "\ufeff" + "\r\n".join(delimiter.join(line) for line in lines)
        (item,) = read_csv(tmp_path, text)
        assert (item.id, item.caption, item.foils, item.line) == ("a", "x, y; z", ("b",), 2)

    def test_a_row_without_a_foil_is_a_caption_to_make_foils_for(self, tmp_path):
        (item,) = read_csv(tmp_path, "id,video,caption\na,a.mp4,a man sits.\n", subtest="easy")
        assert (item.foils, item.subtest) == ((), "easy")

    def test_lines_are_counted_over_breaks_inside_of_texts(self, tmp_path):
        first, bad = read_csv(tmp_path, 'id,video,caption\na,a.mp4,"one\ntwo\nthree"\nb,b.mp4,\n')
        assert (first.caption, first.line) == ("one\ntwo\nthree", 2)
        assert complaint(bad, tmp_path) == "sitting.csv:5: caption: is missing; give the text"

    def test_hostile_text_is_unchanged(self, tmp_path):
        text = "=HYPERLINK(1) <script>x</script> \u202eabc e\u0301 👩‍👩‍👧"
        (item,) = read_csv(tmp_path, f"id,video,caption,foil\na,a.mp4,{text},@SUM(1)\n")
        assert (item.caption, item.foils) == (text, ("@SUM(1)",))

    @pytest.mark.parametrize(
        ("column", "cell", "words"),
        [
            ("id", "", "id: is empty; give every record its own id"),
            ("caption", "x" * 1_000_000, "caption: has 1000000 characters, more than 2000; shorten it"),
            ("caption", "a\0b", "caption: contains a NUL character; remove it"),
            ("video", "../a.mp4", "video: '../a.mp4' leaves the media folder; give a path below it"),
            ("video", "", "video: is missing; name the file, or give url, source_id or video_key"),
            ("start_time", "soon", "start_time: is the text 'soon'; give a number from 0 up, or null"),
            ("start_time", "nan", "start_time: is the text 'nan'; give a number from 0 up, or null"),
            ("start_time", "-1", "start_time: is the number -1; give a number from 0 up, or null"),
            ("end_time", "1e999", "end_time: is inf; give a finite number, or null"),
            ("votes", "three", "votes: is the text 'three'; give an object, or omit it"),
            ("votes", '{"caption": -1}', "votes.caption: is the number -1; give a count from 0 up"),
            ("votes", '{"caption": NaN}', "votes.caption: is nan; give a finite number, or null"),
            (
                "foils",
                '["x"',
                "foils: is not JSON (Expecting ',' delimiter at column 5); correct the cell",
            ),
            ("foils", '["x", ""]', "foils[1]: is empty; give the text"),
        ],
    )
    def test_an_unusable_file_gives_one_line_with_the_remedy(self, tmp_path, column, cell, words):
        row = {"id": "a", "video": "a.mp4", "caption": "x", "start_time": "", "end_time": "", "votes": "", "foils": ""}
        quoted = ['"' + value.replace('"', '""') + '"' for value in {**row, column: cell}.values()]
        (bad,) = read_csv(tmp_path, ",".join(row) + "\n" + ",".join(quoted) + "\n")
        assert complaint(bad, tmp_path) == f"sitting.csv:2: {words}"

    def test_bad_rows_leave_the_others_in(self, tmp_path):
        rows = ["id,video,caption", "a,a.mp4,x", "b,b.mp4", "a,c.mp4,y", "d,d.mp4,one, two", "e,e.mp4,z"]
        good, cut, twice, more, last = read_csv(tmp_path, "\n".join(rows))
        assert (good.id, last.id) == ("a", "e")
        assert [complaint(bad, tmp_path) for bad in (cut, twice, more)] == [
            "sitting.csv:3: row: has 2 cells where the header has 3; correct the line",
            "sitting.csv:4: id: 'a' is already on line 2; give every record its own id",
            "sitting.csv:5: row: has 4 cells where the header has 3; correct the line",
        ]

    def test_doubtful_rows_are_taken_and_named(self, tmp_path):
        warning, item = read_csv(tmp_path, 'id,video,caption,foils\na,a.mp4,x,"[""y"", ""y""]"\n')
        assert isinstance(warning, RecordWarning)
        assert complaint(warning, tmp_path) == "sitting.csv:2: foils: two foils are equal"
        assert item.foils == ("y", "y")

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "1: file: is empty; get a whole copy of it"),
            (b"id,video,caption\na,\xff\n", "2: encoding: byte 0xff is not UTF-8; save the file as UTF-8"),
            (
                "id,caption\na,b".encode("utf-16"),
                f"1: header: has no column video (its columns: id, caption); {NEEDED}",
            ),
            ("id,caption\na,b".encode("utf-16")[:-1], " file: is not whole UTF-16; save it again, or as UTF-8"),
            (b"id;text\na;x\n", f"1: header: has no column caption, video (its columns: id, text); {NEEDED}"),
            (b"\n\na,x\n", f"3: header: has no column id, caption, video (its columns: a, x); {NEEDED}"),
            (b"caption,id\nx,a\n", f"1: header: has no column video (its columns: caption, id); {NEEDED}"),
            (
                ",".join(f"column{n}" for n in range(30)).encode(),
                "1: header: has no column id, caption, video (its columns: "
                + "".join(f"column{n}, " for n in range(12))
                + f"…); {NEEDED}",
            ),
            (b"id,caption,id\na,x,b\n", "1: header: has two columns 'id'; give each column its own name"),
            (b"id,caption,\na,x,b\n", "1: header: has no name for column 3; name it, or remove the column"),
            (
                b'id,video,caption\na,a.mp4,x\nb,b.mp4,"never closed\nc,c.mp4,y\n',
                "3: quotes: a quoted text is not closed; close it, and double the quotes inside it",
            ),
            (
                b'id,video,caption\na,a.mp4,"x"y\n',
                "2: quotes: a quoted text is not closed; close it, and double the quotes inside it",
            ),
        ],
    )
    def test_an_unreadable_file_is_one_line(self, tmp_path, content, words):
        assert the_error(read_csv, tmp_path, content) == f"sitting.csv:{words}"

    @pytest.mark.parametrize("column", jsonl.NAMES_OF_CLIPS)
    def test_any_column_that_names_a_clip_will_do(self, tmp_path, column):
        (item,) = read_csv(tmp_path, f"id,caption,{column}\na,x,https://example.org/a\n")
        assert item.caption == "x"

    def test_json_lines_read_as_a_table_are_one_complaint(self, tmp_path):
        (tmp_path / "x.jsonl").write_text('{"id": "a", "caption": "x"}\n' * 9)
        with pytest.raises(CorpusError) as caught:
            list(csv_rows.read(tmp_path / "x.jsonl", params={}))
        assert complaint(caught.value, tmp_path) == (
            "x.jsonl:1: file: looks like JSON, not a table; choose JSON lines (jsonl)"
        )


class TestContrast:
    HEADER = "clip\tending0\tending1\tending2\tending3\tending4\tlabel\n"
    ROW = "video1\ta\tb\tc\td\te\t{}\n"

    def test_the_true_ending_is_the_caption_and_the_others_its_foils(self, tmp_path):
        (item,) = read_contrast(tmp_path, self.HEADER + self.ROW.format(2), dataset="MSR-VTT")
        assert item == ItemRecord(
            id="verbs:video1",
            subtest="verbs",
            video=VideoRecord(key="MSR-VTT/video1", file="video1", source_dataset="MSR-VTT", source_id="video1"),
            caption="c",
            foils=("a", "b", "d", "e"),
            extra={"label": 2},
        )

    def test_the_ending_of_the_contrast_set_and_further_columns_are_kept(self, tmp_path):
        text = "clip\tending0\tending1\tlabel\tc_label\tmovie\nv\ta\tb\t1\t0\tm\n"
        (item,) = read_contrast(tmp_path, text)
        assert (item.caption, item.foils, item.extra) == ("b", ("a",), {"label": 1, "c_label": 0, "movie": "m"})
        assert item.video.key == "v"

    def test_a_clip_may_have_several_captions_but_not_the_same_row_twice(self, tmp_path):
        first, second, again = read_contrast(
            tmp_path, self.HEADER + self.ROW.format(0) + self.ROW.format(1) + self.ROW.format(0)
        )
        assert (first.id, second.id) == ("verbs:video1", "verbs:video1#2")
        assert complaint(again, tmp_path) == ("verbs.tsv:4: record: repeats the record on line 2; remove it")

    @pytest.mark.parametrize(
        ("row", "words"),
        [
            ("v\ta\tb\tc\td\te\t5", "label: is '5'; give the number of an ending, 0 to 4"),
            ("v\ta\tb\tc\td\te\t-1", "label: is '-1'; give the number of an ending, 0 to 4"),
            ("v\ta\tb\tc\td\te\t1.5", "label: is '1.5'; give the number of an ending, 0 to 4"),
            ("v\ta\tb\tc\td\te\t", "label: is missing; give the number of the true ending, 0 to 4"),
            ("v\ta\tb\t\td\te\t0", "ending2: is missing; give the text"),
            ("\ta\tb\tc\td\te\t0", "clip: is empty; give every record its own id"),
            ("../v\ta\tb\tc\td\te\t0", "clip: '../v' leaves the media folder; give a path below it"),
            ("v\ta\tb\tc\td\t0", "row: has 6 cells where the header has 7; correct the line"),
        ],
    )
    def test_an_unusable_file_gives_one_line_with_the_remedy(self, tmp_path, row, words):
        (bad,) = read_contrast(tmp_path, self.HEADER + row + "\n")
        assert isinstance(bad, BadRecord)
        assert complaint(bad, tmp_path) == f"verbs.tsv:2: {words}"

    def test_an_ending_equal_to_the_true_one_is_refused(self, tmp_path):
        (bad,) = read_contrast(tmp_path, self.HEADER + "v\ta\ta\tc\td\te\t0\n")
        assert isinstance(bad, BadRecord)
        assert bad.field == "foils"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("clip,ending0,ending1,label\n", "has no column clip, ending0, ending1, label (its columns: "),
            ("clip\tending0\tending1\tending3\tlabel\nv\ta\tb\tc\t0\n", "has no column ending2; number the endings"),
        ],
    )
    def test_a_header_of_another_format_is_one_line(self, tmp_path, text, words):
        assert the_error(read_contrast, tmp_path, text).startswith(f"verbs.tsv:1: header: {words}")


class TestFeint6K:
    @staticmethod
    def block(video: str, n: int = 6, mark: str = "") -> str:
        return "".join(f"{video},a man does {mark}{i}.\n" for i in range(n))

    def test_six_rows_are_a_caption_and_five_foils(self, tmp_path):
        text = "video_id,sentence\n" + self.block("v1") + self.block("v2")
        first, second = read_feint(tmp_path, text, dataset="VATEX")
        assert first == ItemRecord(
            id="vatex:v1",
            subtest="vatex",
            video=VideoRecord(key="VATEX/v1", file="v1", source_dataset="VATEX", source_id="v1"),
            caption="a man does 0.",
            foils=tuple(f"a man does {i}." for i in range(1, 6)),
        )
        assert (second.id, second.line) == ("vatex:v2", 8)

    def test_a_video_may_have_several_blocks(self, tmp_path):
        text = "video_id,sentence\n" + self.block("v1") + self.block("v1", mark="b") + self.block("v2")
        text += self.block("v1", mark="c") + self.block("v1")
        *items, again = read_feint(tmp_path, text)
        assert [item.id for item in items] == ["vatex:v1", "vatex:v1#2", "vatex:v2", "vatex:v1#3"]
        assert complaint(again, tmp_path) == ("vatex.csv:26: record: repeats the record on line 2; remove it")

    @pytest.mark.parametrize("n", [1, 5, 7, 11])
    def test_a_block_of_another_size_is_bad_and_the_next_video_is_read(self, tmp_path, n):
        bad, item = read_feint(tmp_path, "video_id,sentence\n" + self.block("v1", n) + self.block("v2"))
        assert complaint(bad, tmp_path) == (
            f"vatex.csv:2: video_id: 'v1' has {n} rows together, not 6: one caption and its five foils; "
            "correct the line"
        )
        assert item.id == "vatex:v2"

    def test_a_block_is_bad_where_one_sentence_is(self, tmp_path):
        text = "video_id,sentence\n" + self.block("v1", 2) + "v1,\n" + self.block("v1", 3)
        (bad,) = read_feint(tmp_path, text)
        assert complaint(bad, tmp_path) == "vatex.csv:2: sentence: on line 4 is missing; give the text"

    def test_rows_that_name_no_video_are_bad(self, tmp_path):
        bad, item = read_feint(tmp_path, "video_id,sentence\n" + self.block("", 2) + self.block("v2"))
        assert complaint(bad, tmp_path) == "vatex.csv:2: video_id: is missing; correct the line"
        assert item.id == "vatex:v2"

    def test_a_file_that_is_cut_short_names_its_last_block(self, tmp_path):
        text = "video_id,sentence\n" + self.block("v1") + self.block("v2", 3) + "v2"
        item, short, cut = read_feint(tmp_path, text)
        assert item.id == "vatex:v1"
        assert "'v2' has 3 rows together" in short.problem
        assert complaint(cut, tmp_path) == "vatex.csv:11: row: has 1 cells where the header has 2; correct the line"
