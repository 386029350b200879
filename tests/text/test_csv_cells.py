import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.text.storable import mark, plain_cell, safe_cell, safe_row, unmark

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
TEXTS = st.text(alphabet="'=+-@＝＋－＠\t\r\n;, \"a1", max_size=8)


@given(TEXTS)
def test_no_cell_starts_like_a_formula_and_every_text_is_recovered(text):
    cell = safe_cell(text)
    assert not cell.startswith((*SIGNS, "\t", "\r", "\n"))
    assert plain_cell(cell) == text
    assert unmark(mark(text)) == text


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_no_cell_is_a_formula_to_a_reader_that_splits_at_other_signs(texts):
    out = io.StringIO()
    csv.writer(out).writerow(safe_row(["id", *texts]))
    for separator in (";", "\t"):
        # One that knows quotes, and one that does not.
        cells = [cell for line in out.getvalue().splitlines() for cell in line.split(separator)]
        cells += [
            cell for row in csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=separator) for cell in row
        ]
        assert [cell for cell in cells if cell.strip(" ").startswith(SIGNS)] == []


def test_numbers_and_harmless_text_stay_as_they_are():
    harmless = ["a - b", "don't", "a; b", "a, -b", "'tis; -o", "x\ny"]
    assert safe_row([-1, 2.5, None]) == [-1, 2.5, None]
    assert safe_row(["-1", "'=x", ";=1"]) == ["'-1", "''=x", "';'=1"]
    assert [plain_cell(text) for text in harmless] == harmless
    assert safe_row(["a - b", "don't", "a; b", "a, -b", "x\ny"]) == ["a - b", "don't", "a; b", "a, -b", "x\ny"]
