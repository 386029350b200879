"""Guidelines over HTTP: who may write them, what a new version says to work that has begun, what people see."""

import html

import pytest
from django.test import Client

from annotation.actions.settings.work_settings import publish_guideline
from annotation.errors import AnnotationError
from annotation.models import Edit, Guideline, Stage
from foilworks.core.projects.models import AuditEvent
from tests import factories
from tests.annotation.world import World, browser, make_world, url
from tests.pages import read_page


def test_only_researchers_see_and_write_them(world: World):
    of_one = url(world, "subtest_guideline", "edit", world.subtest.pk)
    pages = [url(world, "guidelines"), url(world, "guideline", "edit"), of_one]
    for page in pages:
        codes = {name: browser(world.people[name]).get(page).status_code for name in ("owner", "ann", "rita", "vera")}
        assert codes == {"owner": 200, "ann": 403, "rita": 403, "vera": 403}
        assert browser(factories.make_user()).get(page).status_code == 404
        assert Client().get(page).status_code == 302
    assert browser(world.ann).post(url(world, "guideline", "edit"), {"text": "mine"}).status_code == 403
    assert browser(world.ann).post(url(world, "guideline_preview"), {"text": "x"}).status_code == 403
    assert not Guideline.objects.exists()


def test_a_stage_or_subtest_that_is_not_there_is_not_found(world: World):
    elsewhere = make_world()
    client = browser(world.owner)
    assert client.get(url(world, "guideline", "nonsense")).status_code == 404
    assert client.get(url(world, "subtest_guideline", "edit", elsewhere.subtest.pk)).status_code == 404


def test_the_next_person_sees_the_published_guideline(world: World):
    sent = browser(world.owner).post(url(world, "guideline", "edit"), {"text": "Change **one** word.\n- <b>two</b>"})
    assert sent.status_code == 302
    world.group()
    claim = world.claim("ann", Stage.EDIT)
    page = browser(world.ann).get(url(world, "edit", claim.token)).content.decode()
    assert "Change <strong>one</strong> word." in page
    assert '<li class="example example-bad"><strong>Bad:</strong> &lt;b&gt;two&lt;/b&gt;</li>' in page


def test_a_new_version_warns_where_work_has_begun_and_reaches_not_back(world: World):
    first = publish_guideline(world.owner, world.project, Stage.EDIT, "Change one word.")
    world.group()
    world.group()
    world.edit("ann")
    client, page = browser(world.owner), url(world, "guideline", "edit")
    warned = client.post(page, {"text": "Change two words."})
    assert warned.status_code == 200
    assert "1 task was done or started" in html.unescape(warned.content.decode())
    assert read_page(warned).fields["text"] == "Change two words."
    assert Guideline.objects.count() == 1
    # Somebody has claimed one since: what was confirmed is no longer what is true.
    world.claim("abe", Stage.EDIT)
    assert client.post(page, {"text": "Change two words.", "begun": "1"}).status_code == 200
    assert client.post(page, {"text": "Change two words.", "begun": "2"}).status_code == 302
    assert Guideline.objects.latest("pk").version == 2
    assert Edit.objects.get().guideline == first
    assert AuditEvent.objects.filter(action="publish_guideline").latest("pk").details == {"begun": 2}


def test_other_subtests_work_is_none_of_its_business(world: World):
    other = factories.make_subtest(world.project)
    world.group()
    world.edit("ann")
    sent = browser(world.owner).post(url(world, "subtest_guideline", "edit", other.pk), {"text": "For this one."})
    assert sent.status_code == 302


def test_the_same_text_an_empty_one_and_one_too_long_are_refused(world: World):
    publish_guideline(world.owner, world.project, Stage.REVIEW, "Look well.")
    for text in ("Look well.", "  ", "x" * 50_001, "a\x00b"):
        with pytest.raises(AnnotationError):
            publish_guideline(world.owner, world.project, Stage.REVIEW, text)
    refused = browser(world.owner).post(url(world, "guideline", "review"), {"text": "Look well. "})
    assert refused.status_code == 400
    assert Guideline.objects.count() == 1


def test_the_preview_is_what_people_will_see(world: World):
    client = browser(world.owner)
    shown = client.post(url(world, "guideline_preview"), {"text": "+ <script>x</script>"}).content.decode()
    assert '<li class="example example-good"><strong>Good:</strong> &lt;script&gt;x&lt;/script&gt;</li>' in shown
    whole = client.post(url(world, "guideline", "edit"), {"text": "*so*", "preview": "1"}).content.decode()
    assert "<em>so</em>" in whole
    assert not Guideline.objects.exists()


def test_the_versions_take_a_steady_number_of_queries(world: World, django_assert_max_num_queries):
    for n in range(6):
        publish_guideline(world.owner, world.project, Stage.EDIT, f"Version {n}.")
    client = browser(world.owner)
    client.get(url(world, "guideline", "edit"))
    with django_assert_max_num_queries(9):
        client.get(url(world, "guideline", "edit"))
    with django_assert_max_num_queries(9):
        client.get(url(world, "guidelines"))
