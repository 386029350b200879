"""Exports say which items alpha is of, if the number of votes depends on the votes."""

import pytest

from foilworks.core.corpus.export_formats.parts.facts import basis_of_alpha


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"n_items": 30}, ""),
        ({"n_items": 30, "n_judged_in_full": 3}, "alpha is of the 3 of 30 items that were judged in full"),
        ({"n_items": 30, "n_judged_in_full": 0}, "no item was judged in full, so alpha is too high"),
    ],
)
def test_the_basis_of_alpha_is_said_if_votes_stop(row, said):
    assert said in basis_of_alpha(row)
    assert bool(basis_of_alpha(row)) == bool(said)
