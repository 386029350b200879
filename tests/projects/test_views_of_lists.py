"""A view of a list is its address: filters, order and position come back with it, for every list."""

import html
import re

import pytest
from django.http import QueryDict

from foilworks.core.corpus.models import Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job
from tests.annotation.world import World, make_world
from tests.factories import make_candidate, make_group, make_item, make_member, make_run

pytestmark = pytest.mark.django_db
COPIED = re.compile(r'data-copy="(http://testserver[^"]+)"')
# Each filter and the last order of the lists, with their addresses in the project.
VIEWS = (
    ("items/", "q=item&state=valid&sort=key"),
    ("videos/", "q=clip&media=ready&split=test&sort=key-down"),
    ("captions/list/", "q=man&source=imported&items=yes&split=test&sort=video-down"),
    ("people/", "q=nora&role=validator&sort=oldest"),
    ("runs/", "state=done"),
    ("runs/{run}/", "state=queued"),
)


@pytest.fixture
def world() -> World:
    world = make_world()
    job = Job.objects.create(dotted="none", target_id=1, state="done")
    for n in range(30):
        make_item(world.subtest, key=f"item {n:02}", state=ItemState.VALID)
        make_member(world.project, "validator", name=f"nora-{n:02}")
        make_run(world.subtest, job=job)
        make_candidate(make_group(world.run))
    Video.objects.update(split="test")
    return world


@pytest.mark.parametrize(("path", "view"), VIEWS, ids=[path for path, _view in VIEWS])
def test_the_copied_address_of_the_second_page_shows_the_same_rows_and_filters(client, world, path, view):
    client.force_login(world.owner)
    url = f"/projects/{world.project.slug}/{path.format(run=world.run.pk)}"
    first = client.get(f"{url}?{view}")
    (copied,) = COPIED.findall(first.content.decode())
    assert QueryDict(html.unescape(copied).partition("?")[2]) == QueryDict(view)
    second = client.get(f"{url}?{view}&after={first.context['listing'].page.next}")
    assert second.context["listing"].page.first == 26
    (copied,) = COPIED.findall(second.content.decode())
    again = client.get(html.unescape(copied).removeprefix("http://testserver"))
    shown, stored = again.context["listing"], second.context["listing"]
    assert [row.pk for row in shown.page.rows] == [row.pk for row in stored.page.rows]
    assert (shown.order, shown.filters) == (stored.order, stored.filters)
    assert shown.filters


def test_a_list_without_filters_is_copied_without_a_query(client, world):
    client.force_login(world.owner)
    url = f"/projects/{world.project.slug}/items/"
    assert COPIED.findall(client.get(url, {"state": "nonsense", "undo": "x"}).content.decode()) == [
        f"http://testserver{url}"
    ]
