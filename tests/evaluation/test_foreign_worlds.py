"""The evidence ladder on benchmarks that were made up by somebody who had not seen how it reads them."""

import numpy as np
import pytest

from benchmarks.ladder_needs import data_of, measure
from evaluation.metrics import needs
from tests.evaluation.foreign_worlds import make_world

PROJECTS = range(200)


@pytest.mark.full
@pytest.mark.slow(seconds=60)
def test_shares_cover_and_supported_items_need_the_order():
    results = [measure(make_world, seed) for seed in PROJECTS]
    covers = [row["covers"] for result in results for row in result["rows"]]
    assert np.mean(covers) >= 0.9
    enough = [result for result in results if result["enough"]]
    wrong = [result["n_false"] / max(1, result["n_supported"]) for result in enough]
    assert len(enough) >= 50
    assert np.mean(wrong) <= 0.15


@pytest.mark.full
def test_nothing_is_declared_where_nothing_is_needed():
    parts = [needs.shares(data_of(make_world(seed, needs_nothing=True)))["parts"] for seed in PROJECTS]
    assert np.mean([any(part["shown"] for part in of_project) for of_project in parts]) <= 0.064
