import pytest
from django.http import Http404

from annotation.actions.leases.leasing import release
from annotation.errors import AnnotationError
from annotation.models import Lease, Slot, SlotState, Stage
from annotation.queries.paid_work import skips_of
from foilworks.core.projects.models import AuditEvent
from generation.models import Candidate
from tests.pages import read_page


def test_a_released_slot_is_free_and_its_suggestions_are_queued_again(world):
    world.group("a man unfolds a shirt.", "a man tears a shirt.")
    work = world.claim("ann", Stage.EDIT)
    release(world.ann, work.token)
    slot = Slot.objects.get()
    assert (slot.state, slot.person, slot.token, slot.expires_at) == (SlotState.FREE, None, "", None)
    assert set(Candidate.objects.values_list("state", flat=True)) == {"queued"}
    assert (Lease.objects.get().ending, Lease.objects.get().skip_reason) == ("skipped", "")
    assert AuditEvent.objects.filter(action="end_lease", actor=world.ann, reason="skipped").count() == 1
    assert world.claim("abe", Stage.EDIT)


def test_the_reason_of_a_skip_is_stored_and_no_other_words_are(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(AnnotationError, match="Choose one of: playback, unclear"):
        release(world.ann, work.token, reason="<b>bored</b>")
    release(world.ann, work.token, reason="unclear")
    assert (Lease.objects.get().ending, Lease.objects.get().skip_reason) == ("skipped", "unclear")
    # The lease is over: what comes later changes nothing.
    release(world.ann, work.token, reason="other")
    assert Lease.objects.get().skip_reason == "unclear"


def test_researchers_read_how_often_tasks_were_skipped_and_why(world, client):
    for name, reason in (("ann", "unclear"), ("abe", "unclear"), ("ann", "")):
        world.group()
        release(getattr(world, name), world.claim(name, Stage.EDIT).token, reason=reason)
    assert skips_of(world.project) == [("edit", "unclear", 2), ("edit", "", 1)]
    client.force_login(world.owner)
    read_page(client.get(f"/projects/{world.project.slug}/people/figures/")).check(
        "A sentence is unclear", "No reason given"
    )


def test_releasing_twice_or_after_somebody_else_took_it_harms_nothing(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    release(world.ann, work.token)
    other = world.claim("abe", Stage.EDIT)
    release(world.ann, work.token)
    assert Slot.objects.get().token == other.token


def test_nobody_releases_the_work_of_another(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(Http404):
        release(world.abe, work.token)
    assert Slot.objects.get().state == SlotState.LEASED
