"""The spread of filter scores on a run's page."""

import re

import pytest
from django.urls import reverse

from foilworks.core.projects.models import Role
from generation.thresholds.histograms import BINS, score_histograms
from tests.factories import make_candidate, make_group, make_member, make_project, make_run, make_score, make_subtest

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    project = make_project()
    return make_run(make_subtest(project), method="number")


def scored(run, filter_slug, scores, bar):
    for score in scores:
        candidate = make_candidate(make_group(run))
        passed = score is None or score < bar
        make_score(candidate, filter_slug, score=score, passed=passed)


def test_scores_are_counted_per_bin_passed_and_rejected_separately(run):
    """From 0 to 12 in 12 bins: a score s stands in bin floor(s), 12 itself in the last; None has no place."""
    scored(run, "nli", [0, 0.5, 3, 3.25, 11.5, 12, None], bar=3.1)
    (found,) = score_histograms(run)
    assert (found.low, found.high, found.judged, len(found.bars)) == (0, 12, 6, BINS)
    assert [(at, bar.passed, bar.rejected) for at, bar in enumerate(found.bars) if bar.passed + bar.rejected] == [
        (0, 2, 0),
        (3, 1, 1),
        (11, 0, 2),
    ]
    # The tallest bars (2) fill the drawing; half of bin 3 is rejected and stands on what passed.
    assert (found.bars[0].passed_y, found.bars[0].passed_height) == (0, 60)
    assert (found.bars[3].rejected_y, found.bars[3].rejected_height, found.bars[3].passed_y) == (0, 30, 30)


def test_one_value_is_one_bar_and_without_scores_there_is_no_drawing(run):
    scored(run, "duplicate", [0.0, 0.0], bar=1)
    scored(run, "identical", [None], bar=1)
    (found,) = score_histograms(run)
    assert (found.slug, [(bar.passed, bar.rejected) for bar in found.bars]) == ("duplicate", [(2, 0)])


@pytest.mark.parametrize("span", [(-1e-9, 1e-9), (-5.5, 0.3), (1e6, 1e6 + 1)])
def test_every_score_is_counted_once_for_any_range(run, span):
    low, high = span
    scored(run, "perplexity", [low + (high - low) * at / 40 for at in range(41)], bar=high)
    (found,) = score_histograms(run)
    assert sum(bar.passed + bar.rejected for bar in found.bars) == 41


def test_the_page_shows_a_drawing_and_a_table(run, client):
    scored(run, "nli", [0.1, 0.2, 0.9], bar=0.5)
    owner = make_member(run.project, Role.RESEARCHER)
    client.force_login(owner)
    html = " ".join(client.get(reverse("generation:run", args=[run.project.slug, run.pk])).content.decode().split())
    assert "Entailment: 3 scores, range 0.1 – 0.9" in html
    assert len(re.findall(r'<rect class="passed"', html)) == 2
    assert len(re.findall(r'fill="url\(#hatch-nli\)"', html)) == 1
    assert html.count('<tr> <th scope="row">0.1 – 0.167') == 1
    assert "style=" not in html


def test_the_number_of_queries_does_not_grow_with_the_scores(run, django_assert_num_queries):
    scored(run, "nli", [0.1 * at for at in range(30)], bar=1)
    scored(run, "perplexity", [0.1 * at for at in range(30)], bar=1)
    with django_assert_num_queries(3):
        score_histograms(run)
