"""Tables of somebody who had not read the list of names: ten styles, six languages, spreadsheets, all encodings."""

import io
import json
from pathlib import Path

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.any_rows import rows_of
from foilworks.core.corpus.import_formats.parsing.cell_lists import foils_in, options_in
from foilworks.core.corpus.import_formats.parsing.column_roles import guesses_of
from foilworks.core.corpus.import_formats.parsing.parquet_rows import TableLimits
from foilworks.core.corpus.import_formats.parsing.row_values import value_at
from foilworks.core.corpus.import_formats.parsing.sheets import is_sheet
from foilworks.core.corpus.import_formats.parsing.text_files import Source, read_texts
from foilworks.core.corpus.import_formats.parsing.text_lines import encoding_of
from foilworks.core.corpus.records import TextRecord
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
    records = [record for record, _fields in read_texts(source)]
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
    _roles, document = guesses_of(rows)
    caption = document["columns"].get("caption")
    if isinstance(caption, str) and TRUTH[name]["form"] == "pairs":
        assert texts_of([value_at(rows[0], caption)]) == texts_of([TRUTH[name]["true"]])
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
