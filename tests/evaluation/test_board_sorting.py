"""Leaderboards sort by any column, by links; intervals are drawn in the rows."""

import re

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import reverse

from evaluation.board.leaderboard import board
from evaluation.board.sorting import sorted_board
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Role
from foilworks.site.publishing.actions.set_public_page import set_public_page
from tests.evaluation.ranked import make_release, score
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(tmp_path) -> Release:
    """Two scored models, of which the weaker one has the first name, and one that waits for its scores."""
    release = make_release(make_project())
    score(release, tmp_path, "strong", lambda k: k > 3)
    score(release, tmp_path, "a weak one", lambda k: k > 9)
    start_run(None, release, RunRequest("fake:1", label="in progress"))
    return release


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        ("", ["strong", "a weak one", "in progress"]),
        ("rank", ["strong", "a weak one", "in progress"]),
        ("-rank", ["a weak one", "strong", "in progress"]),
        ("T", ["strong", "a weak one", "in progress"]),
        ("-T", ["a weak one", "strong", "in progress"]),
        ("model", ["a weak one", "in progress", "strong"]),
        ("-model", ["strong", "in progress", "a weak one"]),
        # Equal numbers stay in the order of ranks.
        ("items", ["strong", "a weak one", "in progress"]),
        ("-items", ["strong", "a weak one", "in progress"]),
        ("nonsense", ["strong", "a weak one", "in progress"]),
    ],
)
def test_rows_are_sorted_and_those_without_a_value_are_last(release, asked, labels):
    assert [row.run.label for row in sorted_board(board(release), asked).rows] == labels


def test_links_turn_the_order_round_and_keep_the_rest_of_the_address(release):
    shown = sorted_board(board(release), "T", {"column": "T"})
    found = {name: (each.query, each.order) for name, each in shown.headings.items()}
    assert found["T"] == ("column=T&sort=-T", "descending")
    assert found["model"] == ("column=T&sort=model", "")
    assert sorted_board(board(release), "-T").headings["T"].query == "sort=T"
    assert sorted_board(board(release), "-T").headings["T"].order == "ascending"
    assert sorted_board(board(release), "").headings["rank"].order == "ascending"


def test_both_pages_sort_within_one_query_budget(release, client, django_assert_max_num_queries):
    owner = make_member(release.project, Role.RESEARCHER)
    client.force_login(owner)
    public = set_public_page(owner, release, is_open=True, offers_export=False, takes_scores=False)
    researchers = reverse("board:leaderboard", args=[release.project.slug, release.pk])
    visitors = reverse("publishing:public_leaderboard", args=[public.key])
    for person, address, most in ((client, researchers, 15), (Client(), visitors, 12)):
        person.get(address)
        for asked, first in (("T", "strong"), ("-T", "a weak one")):
            with django_assert_max_num_queries(most):
                body = person.get(address, {"sort": asked}).content.decode()
            names = re.findall(r"strong|a weak one", body[body.index("<tbody") :])
            assert names[0] == first
            assert body.count("aria-sort") == 1
            # Two models with T, P and P+T.
            assert body.count('class="ci-line"') == 6
            assert " style=" not in body


def test_an_interval_is_drawn_on_a_line_from_0_to_100():
    drawn = Template("{% load charts %}{% interval_bar value ci chance %}")
    svg = drawn.render(Context({"value": 0.5, "ci": [0.25, 0.755], "chance": 0.0}))
    assert 'x1="25.0" x2="75.5"' in svg
    assert 'cx="50.0"' in svg
    assert 'class="ci-chance" x1="0.0"' in svg
    assert "ci-line" not in drawn.render(Context({"value": 0.0, "ci": None, "chance": None}))
    assert drawn.render(Context({"value": None, "ci": None, "chance": None})).strip() == ""
