from hypothesis import given
from hypothesis import strategies as st

from text.storable import plain_cell, safe_cell, safe_row


@given(st.text(alphabet="'=+-@\t\ra1", max_size=6))
def test_no_cell_starts_like_a_formula_and_every_text_comes_back(text):
    cell = safe_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert plain_cell(cell) == text


def test_numbers_and_harmless_text_stay_as_they_are():
    assert safe_row([-1, 2.5, None, "a - b", "don't", "-1", "'=x"]) == [-1, 2.5, None, "a - b", "don't", "'-1", "''=x"]
