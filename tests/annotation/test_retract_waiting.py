"""An item in validation can be retracted with a reason, restored to where it was, and undone."""

import pytest

from annotation.actions.decisions.items import restore, retract
from annotation.actions.decisions.undo_decisions import undo_decision
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.errors import AnnotationError
from annotation.models import Slot, Vote
from foilworks.core.projects.models import AuditEvent
from tests.annotation.world import browser, make_world, url
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    made = make_world()
    made.item()
    make_tasks(made.project)
    made.vote("vera")
    made.claim("vic", "validation")
    return made


def test_its_tasks_end_and_its_votes_stay_until_it_is_restored(world):
    item = Vote.objects.get().item
    with pytest.raises(AnnotationError, match="reason"):
        retract(world.owner, item.pk, " ")
    retract(world.owner, item.pk, "imported by mistake")
    assert world.claim("val", "validation") is None
    assert sorted(Slot.objects.values_list("state", flat=True)) == ["cancelled", "cancelled", "done"]
    assert broken_invariants() == []
    restored = restore(world.owner, item.pk)
    assert restored.state == "in_validation"
    assert broken_invariants() == []
    world.vote("vic")
    world.vote("val")
    item.refresh_from_db()
    assert (item.state, item.votes.count()) == ("valid", 3)


def test_the_retraction_is_undone_to_where_it_was(world):
    item = Vote.objects.get().item
    retract(world.owner, item.pk, "a mistake")
    event = AuditEvent.objects.filter(action="retract").get()
    undo_decision(world.owner, event.pk)
    item.refresh_from_db()
    assert item.state == "in_validation"
    assert world.claim("val", "validation") is not None


def test_the_item_page_offers_it(world):
    item = Vote.objects.get().item
    page = browser(world.owner).get(f"/projects/{world.project.slug}/items/{item.pk}/").content.decode()
    assert "Retract item" in page


def test_back_after_a_submit_says_that_it_was_submitted(world):
    lease = world.vera.leases.get()
    page = browser(world.vera).get(url(world, "validation", lease.token), follow=True).content.decode()
    assert "You have already submitted your answer" in page
    assert "Your time for this task is up" not in page
