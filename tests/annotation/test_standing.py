"""Pausing, resuming, setting votes aside and bringing them back."""

import pytest
from django.http import Http404

from annotation.actions.quality.validators import exclude_votes, pause_validator, reinstate_votes, resume_validator
from annotation.actions.submissions.judgements import submit_vote
from annotation.errors import AnnotationError, NotAdmitted
from annotation.models import Lease, Slot, SlotState, Stage, Standing, Vote
from evaluation.reports.reports import project_report
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from tests import factories
from tests.annotation.crowd import open_policy
from tests.annotation.world import new_key
from tests.invariants import broken_invariants

pytestmark = pytest.mark.django_db


def test_a_pause_frees_the_leases_and_refuses_claims(world):
    world.item()
    work = world.claim("vera", Stage.VALIDATION)
    assert pause_validator(world.owner, world.project, world.vera.pk, "looks odd") == 1
    assert not Slot.objects.filter(state=SlotState.LEASED).exists()
    assert Lease.objects.get().ending == "cancelled"
    with pytest.raises(NotAdmitted, match="work is paused"):
        world.claim("vera", Stage.VALIDATION)
    with pytest.raises(AnnotationError, match="already paused"):
        pause_validator(world.owner, world.project, world.vera.pk)
    # What they had open still comes in: kept, and counted in nothing until somebody brings it back.
    vote = submit_vote(world.vera, work.token, "k", 1)
    assert (vote.state, vote.slot) == ("set_aside", None)
    assert AuditEvent.objects.filter(action="pause", reason="looks odd", actor=world.owner).exists()
    assert broken_invariants() == []
    assert reinstate_votes(world.owner, world.project, world.vera.pk) == (1, 0)
    assert Vote.objects.get().slot is not None
    resume_validator(world.owner, world.project, world.vera.pk)
    world.item()
    assert world.claim("vera", Stage.VALIDATION) is not None
    assert broken_invariants() == []


def test_after_a_resume_the_counts_restart(world):
    open_policy(world.project)
    world.item()
    world.vote("vera")
    standing = Standing.objects.get(person=world.vera)
    assert standing.first + standing.second == 1
    pause_validator(world.owner, world.project, world.vera.pk)
    standing = resume_validator(world.owner, world.project, world.vera.pk)
    assert (standing.first, standing.second, standing.paused_why, standing.paused_at) == (0, 0, "", None)
    with pytest.raises(AnnotationError, match="not paused"):
        resume_validator(world.owner, world.project, world.vera.pk)
    assert broken_invariants() == []


def test_excluded_votes_reopen_items_and_return_if_a_slot_is_free(world):
    first, second = world.item(), world.item()
    for name in ("vera", "vic", "val"):
        world.vote(name)
        world.vote(name)
    for item in (first, second):
        item.refresh_from_db()
        assert (item.state, item.unanimous) == ("valid", True)
    assert exclude_votes(world.owner, world.project, world.vera.pk, "spam") == 2
    for item in (first, second):
        item.refresh_from_db()
        assert (item.state, item.unanimous, item.decided_at) == ("in_validation", None, None)
    assert project_report(world.project, "agreement")["n_votes"] == 4
    assert broken_invariants() == []
    # Somebody else takes one of the two places; they never get the person's own again.
    other = factories.make_member(world.project, "validator")
    world.people["other"] = other
    assert world.claim("vera", Stage.VALIDATION) is None
    taken = world.vote("other", "foil").item
    assert reinstate_votes(world.owner, world.project, world.vera.pk) == (1, 1)
    surplus = Vote.objects.get(person=world.vera, item=taken)
    assert (surplus.state, surplus.slot) == ("surplus", None)
    taken.refresh_from_db()
    assert (taken.state, taken.unanimous) == ("valid", False)
    untouched = first if taken == second else second
    untouched.refresh_from_db()
    assert (untouched.state, untouched.unanimous) == ("valid", True)
    assert project_report(world.project, "agreement")["n_votes"] == 6
    assert broken_invariants() == []


def test_a_second_exclusion_or_reinstatement_changes_nothing(world):
    world.item()
    world.vote("vera")
    assert exclude_votes(world.owner, world.project, world.vera.pk) == 1
    assert exclude_votes(world.owner, world.project, world.vera.pk) == 0
    assert reinstate_votes(world.owner, world.project, world.vera.pk) == (1, 0)
    assert reinstate_votes(world.owner, world.project, world.vera.pk) == (0, 0)


def test_votes_on_an_item_that_is_gone_change_and_nothing_else_does(world):
    item = world.item()
    for name in ("vera", "vic", "val"):
        world.vote(name)
    item.refresh_from_db()
    type(item).objects.filter(pk=item.pk).update(state="retracted")
    assert exclude_votes(world.owner, world.project, world.vera.pk) == 1
    item.refresh_from_db()
    assert item.state == "retracted"
    assert reinstate_votes(world.owner, world.project, world.vera.pk) == (1, 0)


@pytest.mark.parametrize("action", [pause_validator, resume_validator, exclude_votes, reinstate_votes])
def test_only_a_researcher_does_it_and_only_to_people_of_the_project(world, action):
    with pytest.raises(AccessDenied):
        action(world.vic, world.project, world.vera.pk)
    with pytest.raises(Http404):
        action(world.owner, world.project, factories.make_user().pk)


def test_eleven_answers_in_the_same_position_pause(world):
    open_policy(world.project, fast_share=0)
    for _ in range(12):
        world.item()
    with pytest.raises(NotAdmitted):
        for _ in range(12):
            work = world.claim("vera", Stage.VALIDATION)
            submit_vote(world.vera, work.token, new_key(), "second")
    assert Standing.objects.get(person=world.vera).paused_why == "position"
    assert Vote.objects.count() == 11
    assert broken_invariants() == []
