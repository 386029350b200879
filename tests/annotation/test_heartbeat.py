from datetime import timedelta

import pytest
from django.http import Http404
from django.utils import timezone

from annotation.actions.leases.leasing import heartbeat
from annotation.errors import LeaseEnded
from annotation.models import Slot, Stage
from tests.annotation.world import later


def test_a_heartbeat_moves_the_end_of_the_lease(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    now = timezone.now() + timedelta(seconds=60)
    expected = now + timedelta(seconds=world.project.lease_seconds)
    assert heartbeat(world.ann, work.token, now=now) == expected
    assert Slot.objects.get(pk=work.slot_id).expires_at == expected


def test_a_lease_that_nobody_has_freed_is_renewed_even_after_its_end(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    heartbeat(world.ann, work.token, now=later(hours=2))
    assert world.claim("abe", Stage.EDIT, now=later(hours=2)) is None


def test_a_heartbeat_reports_a_slot_taken_by_somebody_else(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    world.claim("abe", Stage.EDIT, now=later(hours=2))
    with pytest.raises(LeaseEnded, match="can still submit"):
        heartbeat(world.ann, work.token)


def test_another_persons_token_does_not_exist(world):
    world.group()
    work = world.claim("ann", Stage.EDIT)
    with pytest.raises(Http404):
        heartbeat(world.abe, work.token)
    with pytest.raises(Http404):
        heartbeat(world.ann, "")
