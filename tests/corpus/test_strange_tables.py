"""Tables of somebody who had not read the list of names: ten styles, six languages, spreadsheets, all encodings."""

import io
import json
from pathlib import Path

import pytest

from evaluation.audit.audit import Options, audit
from evaluation.audit.without_video import note
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.any_rows import rows_of
from foilworks.core.corpus.import_formats.parsing.cell_lists import foils_in, options_in
from foilworks.core.corpus.import_formats.parsing.column_roles import guesses_of, unsure
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.records import RawRecord
from foilworks.core.corpus.import_formats.parsing.row_values import exploded, value_at
from foilworks.core.corpus.import_formats.parsing.sheets import is_sheet
from foilworks.core.corpus.import_formats.parsing.text_files import Source, read_texts, with_roles
from foilworks.core.corpus.import_formats.parsing.text_items import read_text_items
from foilworks.core.corpus.import_formats.parsing.text_lines import encoding_of, guessed_encoding
from foilworks.core.corpus.records import RecordWarning, TextRecord
from foilworks.core.text.markup import without_markup
from foilworks.core.text.tokens import words
from tests.rows import for_each

FOLDER = Path(__file__).with_name("strange_tables")
TRUTH = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
# The label of this annotation tool is five levels deep; the table of captions has nothing to compare.
UNREAD = {"s06a_annotation_tool.json", "s01d_caps.parquet"}


def texts_of(values):
    return sorted(" ".join(words(str(value))) for value in values)


@for_each("name", sorted(TRUTH))
def test_each_table_is_read_as_its_author_meant_it(name):
    row, source = TRUTH[name], Source(FOLDER / name)
    if row["must_ask"] or name in UNREAD:
        with pytest.raises(CorpusError, match="column"):
            list(read_texts(source))
        return
    # A row of totals, or one cut short, is named as such, and no record.
    records = [outcome[0] for outcome in read_texts(source) if not isinstance(outcome, RawRecord)]
    first = records[0]
    assert isinstance(first, TextRecord)
    assert len(records) == row["rows"]
    if row["form"] == "labels" and first.is_label and first.question not in {row["true"], *row["false"]}:
        assert first.right == row["true"].casefold()
    elif row["form"] == "labels":
        assert (first.right == "true") == (first.question == row["true"])
    else:
        assert texts_of([first.right]) == texts_of([row["true"]])
        assert texts_of(first.wrongs) == texts_of(row["false"])


@for_each("name", sorted(TRUTH.keys() - UNREAD))
def test_no_false_text_becomes_the_caption_of_an_import(name):
    """The caption that the page of an import fills in is never a false text."""
    rows = [raw.value for raw in rows_of(FOLDER / name, TableLimits())]
    roles, document = guesses_of(rows)
    if unsure(roles):
        # The page asks before anything is imported.
        return
    caption = document["columns"].get("caption")
    if isinstance(caption, str) and TRUTH[name]["form"] == "pairs":
        first = next(exploded(rows[0], document["explode"])) if "explode" in document else rows[0]
        assert texts_of([without_markup(value_at(first, caption))]) == texts_of([TRUTH[name]["true"]])
    if isinstance(caption, str) and TRUTH[name]["form"] == "labels":
        assert document.get("where")


def test_cells_with_several_texts():
    assert options_in("a carrot|an onion") == ["a carrot", "an onion"]
    assert options_in("A) six B) five") == ["A. six", "B. five"]
    assert options_in("red, green", ["green"]) == ["red", "green"]
    assert options_in("red, green", ["blue"]) is None
    assert options_in('["x", "y"]') == ["x", "y"]
    assert options_in("one text") is None
    assert foils_in("runs; jumps", "sits") == ["runs", "jumps"]
    assert foils_in("he runs; she jumps", "he sits; she jumps") == ["he runs; she jumps"]


def test_an_encoding_needs_evidence():
    german = "Ein Mädchen läuft über die Straße und öffnet eine Tür, die grün ist. Dann hört sie Musik."
    assert encoding_of(german.encode("cp1252")) in {"cp1252", "cp1250"}
    # Of eight characters, Chinese and Korean look alike.
    assert encoding_of("一个人打开了门。".encode("gb18030")) == ""
    assert encoding_of(b"id,video\na,\xff\n") == ""


@for_each("content, name", [(b"PK\3\4 no archive", "a.xlsx"), (b"\xd0\xcf\x11\xe0junk", "a.xls")])
def test_a_damaged_spreadsheet_is_one_line(tmp_path, content, name):
    (path := tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=r"is a spreadsheet that cannot be read; save the sheet as CSV$"):
        list(read_texts(Source(path)))


def test_an_archive_is_not_a_spreadsheet():
    assert not is_sheet(io.BytesIO(b"PK\3\4 no archive"), "a.zip")


def test_markup_of_tools_does_not_belong_to_a_text():
    assert without_markup("<p>The baker&#x27;s <b>son</b>&nbsp;sits.</p>") == "The baker's son sits."
    for text in ("a < b & c", "AT&T", "<person> opens it", "R&D; then lunch", "  two  blanks "):
        assert without_markup(text) == text


def test_a_header_below_a_title_or_comments(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("# run 7\nClips of May,,\nvideo,caption,foil\na.mp4,He sits.,He stands.\n", encoding="utf-8")
    (record, _fields), *others = read_texts(Source(path))
    assert (record.right, record.wrongs, record.video, others) == ("He sits.", ("He stands.",), "a.mp4", [])


def test_commas_in_captions_make_no_header(tmp_path):
    """Of a table of one column, a row with more cells is a fault of this row."""
    path = tmp_path / "table.csv"
    path.write_text("caption\nHe sits, eats, and sleeps.\nShe runs, then stops.\n", encoding="utf-8")
    raw = list(rows_of(path, TableLimits()))
    assert [record.problem for record in raw] == [
        "has 3 cells where the header has 1", "has 2 cells where the header has 1",
    ]  # fmt: skip


def test_a_video_written_once_holds_for_the_rows_below(tmp_path):
    path = tmp_path / "table.csv"
    rows = ["video,caption,foil", "a.mp4,He sits.,He stands.", ",He eats.,He drinks.", "b.mp4,She runs.,She walks."]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert [record.video for record, _fields in read_texts(Source(path))] == ["a.mp4", "a.mp4", "b.mp4"]
    # A forgotten cell makes no group.
    path.write_text("\n".join([*rows[:2], *(f"{n}.mp4,He sits.,He stands." for n in range(9)), rows[2]]) + "\n")
    assert [record.video for record, _fields in read_texts(Source(path))][-1] == ""


def test_letters_are_labels_only_among_labels(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("question,answer\nIs it red?,Y\nIs it blue?,no\nIs it old?,0\n", encoding="utf-8")
    assert [record.right for record, _fields in read_texts(Source(path))] == ["yes", "no", "no"]
    path.write_text("question,answer\nWhich letter is it?,Y\nWhich letter is it?,N\n", encoding="utf-8")
    assert not [outcome for outcome in read_texts(Source(path)) if not isinstance(outcome, RawRecord)]


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "table.csv"
    rows = [
        f"{n}.mp4,Ein Mädchen läuft über die Straße und öffnet eine Tür.,Ein Mädchen schließt die Tür über der Straße."
        for n in range(30)
    ]
    path.write_text("video,caption,foil\n" + "\n".join(rows), encoding="cp1252")
    assert guessed_encoding(path) in {"cp1252", "cp1250"}
    warnings = [outcome for outcome in read_text_items(path, {}) if isinstance(outcome, RecordWarning)]
    assert [warning.field for warning in warnings] == ["encoding"]
    document = audit([Source(path)], Options())
    assert document["files"][0]["encoding"] == guessed_encoding(path)
    assert guessed_encoding(path) in note(document)
    path.write_text("video,caption,foil\n" + "\n".join(rows), encoding="utf-8")
    assert "encoding" not in audit([Source(path)], Options())["files"][0]


def test_one_row_per_option_is_one_question(tmp_path):
    path = tmp_path / "long.csv"
    lines = [
        f"q{n},{n}.mp4,Which lid is lifted in part {n}?,lid {lid},{int(lid == n % 3)}"
        for n in range(6)
        for lid in range(3)
    ]
    path.write_text("\n".join(["qid,video,question,option,is_correct", *lines]), encoding="utf-8")
    records = [record for record, _fields in read_texts(Source(path))]
    assert [record.right for record in records] == [f"lid {n % 3}" for n in range(6)]
    assert {len(record.wrongs) for record in records} == {2}
    assert [record.video for record in records] == [f"{n}.mp4" for n in range(6)]


def test_one_row_per_sentence_is_one_item_by_their_roles(tmp_path):
    path = tmp_path / "long.csv"
    texts = (("drops", "edited"), ("lifts", "original"), ("kicks", "edited"))
    lines = [f"{n}.mp4,The man {verb} box {n}.,{role}" for n in range(6) for verb, role in texts]
    path.write_text("\n".join(["video,sentence,kind", *lines]), encoding="utf-8")
    records = [record for record, _fields in read_texts(Source(path))]
    assert [record.right for record in records] == [f"The man lifts box {n}." for n in range(6)]
    assert {len(record.wrongs) for record in records} == {2}
    # Kinds that do not say which is true are no roles.
    path.write_text(path.read_text("utf-8").replace("original", "verb").replace("edited", "noun"), encoding="utf-8")
    with pytest.raises(CorpusError, match="nothing to compare"):
        list(read_texts(Source(path)))


@for_each(
    "name, columns",
    [
        ("t03d_verneint.tsv", {"right": "im Film zu sehen"}),
        ("u11_pairs_export.json", {"right": "captionA"}),
        ("u12_frases_edicao.tsv", {"right": "frase 1"}),
        ("u15_.csv", {"answer": "الجواب الصحيح"}),
        ("u18_cau_mo_ta.xlsx", {"right": "Câu đúng"}),
        ("u27___.json", {"answer": "відповідь учасника"}),
    ],
)
def test_a_table_that_asks_needs_one_answer(name, columns):
    records = list(read_texts(with_roles(Source(FOLDER / name, columns=columns))))
    assert not [row for row in records if isinstance(row, RawRecord)][1:]
    assert sum(not isinstance(row, RawRecord) for row in records) >= TRUTH[name]["rows"] - 1
