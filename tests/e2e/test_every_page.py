"""Every page of the URL table: few requests, few bytes, nothing that jumps or scrolls sideways, axe.

The pages that a project has by its name alone are in test_craft.py; those of bias runs and trainings, with data, in
test_bias.py and test_teacher_pages.py.
"""

from collections.abc import Iterator

import pytest
from django.test import Client

from foilworks.core.corpus.models import Video
from tests.e2e.conftest import OpenTab, SignIn, assert_accessible, moving_dot, with_film
from tests.e2e.tabs import Tabs
from tests.e2e.test_craft import MAX_BYTES, MAX_REQUESTS, MAX_SHIFT, SHIFTS, visit, widths_that_scroll_sideways
from tests.test_access_matrix import RULES, World, address, make_world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full, pytest.mark.slow(seconds=60)]
# Roles in the order in which they are tried: the first that may open a page looks at it.
PEOPLE = ("researcher", "reviewer", "validator", "annotator", "stranger", "anonymous", "superuser")
ELSEWHERE = ("utd:", "teacher:")


@pytest.fixture
def world() -> World:
    """The world of the access matrix, with a clip that plays."""
    made = make_world()
    with_film(Video.objects.get(pk=made.values["video"]), moving_dot(), 12.0)
    return made


def pages_of(world: World) -> Iterator[tuple[str, str]]:
    """Yield (person, address) of each whole page whose address names a thing, or no project."""
    for name, rule in RULES.items():
        if (rule.slug and not rule.args) or rule.get != 200 or name.startswith(ELSEWHERE):
            continue
        person = next(each for each in PEOPLE if each in rule.may)
        client, there = Client(), address(name, world)
        if person != "anonymous":
            client.force_login(world.people[person])
        answer = client.get(there)
        if answer.status_code == 200 and not answer.streaming and b"<html" in answer.content:
            yield person, there
        answer.close()


def test_every_page_is_light_and_accessible(world: World, sign_in: SignIn, open_tab: OpenTab, tabs: Tabs) -> None:
    pages, found, seen = {}, {}, 0
    for person, there in pages_of(world):
        if person not in pages:
            signed = person != "anonymous"
            pages[person] = sign_in(world.people[person], narrow=True, alone=True) if signed else open_tab(alone=True)
            pages[person].add_init_script(SHIFTS)
        page, seen = pages[person], seen + 1
        tabs.forget(page)
        requests, size, shifted = visit(page, there)
        if requests > MAX_REQUESTS or size > MAX_BYTES or shifted > MAX_SHIFT:
            found[there] = (requests, size, shifted)
        if sideways := widths_that_scroll_sideways(page):
            found[f"{there}, sideways"] = sideways
        assert_accessible(page)
    assert found == {}
    assert seen > 40
