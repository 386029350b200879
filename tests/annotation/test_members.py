"""Roles change and members leave; what was in their hands is free for others at once, what they did stays."""

import pytest
from django.http import Http404

from annotation.actions.people import change_roles, remove_member
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Edit, Ending, Lease, Slot, Stage
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import AuditEvent, Membership, User
from generation.models import Candidate
from tests.annotation.world import new_key
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def roles(world, person) -> set[str]:
    return set(Membership.objects.filter(project=world.project, person=person).values_list("role", flat=True))


def test_a_removed_members_lease_is_free_at_once_and_the_next_person_gets_it(world):
    group = world.group()
    work = world.claim("ann", Stage.EDIT)
    assert remove_member(world.owner, world.project, world.ann.pk) == 1
    assert roles(world, world.ann) == set()
    assert Lease.objects.get(token=work.token).ending == Ending.CANCELLED
    assert Candidate.objects.get(group=group).state == "queued"
    assert world.claim("abe", Stage.EDIT).task_id == work.task_id
    event = AuditEvent.objects.get(action="projects.remove_member")
    assert event.details == {"before": "annotator", "after": ""}
    with pytest.raises(AccessDenied):
        submit_edit(User.objects.get(pk=world.ann.pk), work.token, new_key(), ["a man tears a shirt."])


def test_what_a_removed_member_did_stays(world):
    world.group()
    edit = world.edit("ann")
    assert remove_member(world.owner, world.project, world.ann.pk) == 0
    assert Edit.objects.get() == edit


def test_a_lost_role_frees_the_leases_of_its_stage_alone(world):
    change_roles(world.owner, world.project, world.ann.pk, ["annotator", "validator"])
    world.group()
    world.item()
    edit, vote = world.claim("ann", Stage.EDIT), world.claim("ann", Stage.VALIDATION)
    assert change_roles(world.owner, world.project, world.ann.pk, ["validator", "reviewer"]) == 1
    assert roles(world, world.ann) == {"validator", "reviewer"}
    endings = dict(Lease.objects.values_list("token", "ending"))
    assert endings == {edit.token: "cancelled", vote.token: ""}


def test_a_returned_foil_is_not_reserved_for_an_author_who_has_left(world):
    world.group()
    world.edit("ann", "a man tears a shirt.")
    world.review("rita", "send_back", reasons=["grammar"])
    assert world.claim("abe", Stage.EDIT) is None
    remove_member(world.owner, world.project, world.ann.pk)
    assert not Slot.objects.filter(reserved_for=world.ann).exists()
    assert world.claim("abe", Stage.EDIT) is not None


def test_the_last_researcher_neither_leaves_nor_gives_up_the_role(world):
    for write in (
        lambda: remove_member(world.owner, world.project, world.owner.pk),
        lambda: change_roles(world.owner, world.project, world.owner.pk, ["annotator"]),
    ):
        with pytest.raises(
            ProjectError, match=r"is the last researcher of this project\. Give someone else this role first"
        ):
            write()
    assert roles(world, world.owner) == {"researcher"}
    change_roles(world.owner, world.project, world.rita.pk, ["reviewer", "researcher"])
    remove_member(world.owner, world.project, world.owner.pk)
    assert roles(world, world.owner) == set()


def test_a_researcher_whose_account_is_closed_does_not_count(world):
    change_roles(world.owner, world.project, world.rita.pk, ["researcher"])
    world.rita.is_active = False
    world.rita.save()
    with pytest.raises(ProjectError, match="last researcher"):
        remove_member(world.owner, world.project, world.owner.pk)


def test_roles_cannot_be_changed_to_none(world):
    with pytest.raises(ProjectError, match="Choose at least one role"):
        change_roles(world.owner, world.project, world.ann.pk, [])
    assert roles(world, world.ann) == {"annotator"}


def test_only_researchers_change_roles_of_members(world):
    with pytest.raises(Http404):
        remove_member(world.owner, world.project, make_user().pk)
    for name in ("ann", "rita", "vera"):
        with pytest.raises(AccessDenied):
            change_roles(getattr(world, name), world.project, world.ann.pk, ["researcher"])
        with pytest.raises(AccessDenied):
            remove_member(getattr(world, name), world.project, world.abe.pk)
