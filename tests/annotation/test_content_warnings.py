"""A warning before a clip, and the skip that gives the piece back and keeps the video from the person."""

import pytest
from django.urls import reverse

from annotation.actions.claims.claim import claim
from annotation.actions.leases.leasing import decline_video
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import DeclinedVideo, Lease, Slot, SlotState
from annotation.queries.queues import open_work, why_empty
from foilworks.core.corpus.actions.set_content_warning import set_content_warning
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from tests.annotation.world import make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    made = make_world()
    made.made = made.group()
    make_tasks(made.project)
    return made


def test_a_researcher_stores_the_warning_and_others_do_not(world):
    video = world.made.caption.video
    set_content_warning(world.owner, video, "  blood,\n an accident ")
    video.refresh_from_db()
    assert video.content_warning == "blood, an accident"
    assert AuditEvent.objects.filter(action="corpus.set_content_warning").count() == 1
    with pytest.raises(AccessDenied):
        set_content_warning(world.ann, video, "")
    with pytest.raises(CorpusError, match="300"):
        set_content_warning(world.owner, video, "x" * 301)


def test_the_page_shows_the_warning_before_the_clip_and_plays_nothing_by_itself(client, world, settings):
    settings.MEDIA_HOSTS = ("https://example.org",)
    video = world.made.caption.video
    video.url = "https://example.org/clip.mp4"
    video.save()
    client.force_login(world.ann)
    work = world.claim("ann", "edit")
    address = reverse("annotation:edit", args=[world.project.slug, work.token])
    assert "data-autoplay" in client.get(address).content.decode()
    set_content_warning(world.owner, video, "an <accident>")
    page = client.get(address).content.decode()
    assert "an &lt;accident&gt;" in page
    assert "data-autoplay" not in page
    assert page.index("player-gate") < page.index("<video")
    assert 'preload="none"' in page


def test_a_declined_task_goes_to_somebody_else_and_never_returns(world):
    work = world.claim("ann", "edit")
    decline_video(world.ann, work.token)
    slot = Slot.objects.get(stage="edit")
    assert (slot.state, slot.person) == (SlotState.FREE, None)
    assert Lease.objects.get().ending == "skipped"
    assert claim(world.ann, world.project, "edit") is None
    assert open_work(world.ann, world.project, "edit") == 0
    assert [reason.code for reason in why_empty(world.ann, world.project, "edit")] == ["declined"]
    assert world.claim("abe", "edit") is not None


def test_the_reason_of_a_skip_is_not_revealed(world):
    decline_video(world.ann, world.claim("ann", "edit").token)
    assert not AuditEvent.objects.filter(action__contains="decline").exists()


def test_declining_twice_or_too_late_does_no_harm(client, world):
    work = world.claim("ann", "edit")
    address = reverse("annotation:decline", args=[world.project.slug, work.token])
    client.force_login(world.ann)
    for _ in range(2):
        assert client.post(address).status_code == 302
    assert DeclinedVideo.objects.count() == 1
    client.force_login(world.abe)
    assert client.post(address).status_code == 404
