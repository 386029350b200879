"""Getters that know the person: leases, slots and work are reached through here, never by id alone."""

from typing import TypeVar

from django.db.models import BigIntegerField, Case, Q, When
from django.http import Http404
from django.utils.translation import gettext as _

from annotation.models import (
    Attempt,
    CheckedFrame,
    Edit,
    GoldPair,
    Lease,
    ObjectAnswer,
    ObjectCheck,
    PracticeCaption,
    Review,
    Vote,
)
from corpus.models import Caption, Item, Subtest
from projects.access import or_404, require_role, roles_in
from projects.models import CrowdPlace, CrowdStudy, PlaceState, Project, Role, User
from projects.sql.prepared_queries import Prepared

Work = TypeVar("Work", Edit, Review, Vote, ObjectAnswer)
_OF_JUDGED = ("slot__project", "slot__video", "task__gold", "task__item__candidate_group", "task__item__subtest")
_LEASE = Prepared(
    lambda token, person: Lease.objects.select_related("slot__project", "slot__video", "task").filter(
        token=token, person=person
    )
)
_JUDGED_LEASE = Prepared(
    lambda token, person: Lease.objects.select_related(*_OF_JUDGED).filter(token=token, person=person)
)


def _records(model: type[Work], *also: str) -> "Prepared[Work]":
    rows = model.objects.select_related("slot__project", "slot__task", *also)
    return Prepared(lambda pk, person: rows.filter(pk=pk, person=person))


_EDIT, _REVIEW, _VOTE = _records(Edit), _records(Review, "candidate", "child"), _records(Vote)
_OBJECT_ANSWER = _records(ObjectAnswer)


def lease_for(person: User, token: str) -> Lease:
    """The person's own lease, running or ended, with slot, task and project; Http404 for anything else."""
    return or_404(_LEASE.first(token=token, person=person.pk), _("Task not found."))


def judged_lease_for(person: User, token: str) -> Lease:
    """The same of a lease on an item, with all that its submit asks of it: one query."""
    lease = or_404(_JUDGED_LEASE.first(token=token, person=person.pk), _("Task not found."))
    if lease.task.item_id:
        lease.task.item.subtest.project = lease.slot.project
    return lease


def edit_for(person: User, pk: int) -> Edit:
    """The person's own edit with its slot; Http404 for anybody else's."""
    return _own(_EDIT, person, pk)


def review_for(person: User, pk: int) -> Review:
    """The person's own review with its slot; Http404 for anybody else's."""
    return _own(_REVIEW, person, pk)


def vote_for(person: User, pk: int) -> Vote:
    """The person's own vote with its slot; Http404 for anybody else's."""
    return _own(_VOTE, person, pk)


def object_answer_for(person: User, pk: int) -> ObjectAnswer:
    """The person's own answer on a frame with its slot; Http404 for anybody else's."""
    return _own(_OBJECT_ANSWER, person, pk)


def checked_frame_for(person: User, project: Project, pk: int, *roles: str) -> CheckedFrame:
    """A frame of the project's object checks, for who holds one of `roles` (any, without) in it; else Http404."""
    require_role(person, project, *roles)
    return or_404(
        CheckedFrame.objects.select_related("check_of").filter(pk=pk, check_of__project=project).first(),
        _("Frame not found."),
    )


def object_check_for(person: User, project: Project, pk: int) -> ObjectCheck:
    """An object check of the project, for its researchers; Http404 for another project's."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(ObjectCheck.objects.filter(pk=pk, project=project).first(), _("Object check not found."))


def item_for(person: User, pk: int, *roles: str) -> Item:
    """An item of a project in which the person holds one of `roles`; strangers get Http404, members AccessDenied."""
    item = or_404(
        Item.objects.select_related("subtest__project", "caption").filter(pk=pk).first(), _("Item not found.")
    )
    project: Project = item.subtest.project
    if not roles_in(person, project):
        raise Http404(_("Item not found."))
    require_role(person, project, *roles)
    return item


def caption_for(person: User, pk: int, *roles: str) -> Caption:
    """A caption of a project in which the person holds one of `roles`; strangers get Http404, members AccessDenied."""
    caption = or_404(Caption.objects.select_related("video__project").filter(pk=pk).first(), _("Caption not found."))
    project: Project = caption.video.project
    if not roles_in(person, project):
        raise Http404(_("Caption not found."))
    require_role(person, project, *roles)
    return caption


def subtest_for(project: Project, pk: int) -> Subtest:
    """A subtest of a project that the person may already see; Http404 for another project's."""
    return or_404(Subtest.objects.filter(project=project, pk=pk).first(), _("Subtest not found."))


def member_for(person: User, project: Project, pk: int) -> User:
    """A member of the project, for its researchers; Http404 for who is none."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(User.objects.filter(pk=pk, memberships__project=project).first(), _("Member not found."))


def attempt_for(person: User, pk: int) -> Attempt:
    """The person's own go at practice or the qualification; Http404 for anybody else's."""
    return or_404(
        Attempt.objects.select_related("project").filter(pk=pk, person=person).first(),
        _("Exercise not found."),
    )


def pair_for(actor: User, project: Project, pk: int) -> GoldPair:
    """A gold pair of the project, for its researchers."""
    require_role(actor, project, Role.RESEARCHER)
    return or_404(
        GoldPair.objects.select_related("video__project", "subtest").filter(pk=pk, project=project).first(),
        _("Pair not found."),
    )


def practice_for(actor: User, project: Project, pk: int) -> PracticeCaption:
    """A caption to practise on, for the project's researchers."""
    require_role(actor, project, Role.RESEARCHER)
    return or_404(PracticeCaption.objects.filter(pk=pk, project=project).first(), _("Caption not found."))


def validator_for(actor: User, project: Project, pk: int) -> User:
    """Somebody who validates in the project, or did; for its researchers. Http404 for anybody else."""
    require_role(actor, project, Role.RESEARCHER)
    belongs = Q(memberships__project=project) | Q(standings__policy__project=project) | Q(slots__project=project)
    return or_404(User.objects.filter(belongs, pk=pk).distinct().first(), _("Validator not found."))


def crowd_study_for(person: User, project: Project, pk: int) -> CrowdStudy:
    """A crowd study of the project, for its researchers; Http404 for another project's."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(
        CrowdStudy.objects.select_related("project").filter(pk=pk, project=project).first(),
        _("Study not found."),
    )


def crowd_place_for(person: User, project: Project, pk: int | None = None) -> CrowdPlace:
    """The person's own place in the project's crowd studies: that of the key, else one that is active, else the last.

    A completed one is theirs to look at.
    """
    places = CrowdPlace.objects.filter(person=person, study__project=project).select_related("study__project", "person")
    first = Case(When(pk=pk or 0, then=0), When(state=PlaceState.ACTIVE, then=1), default=2)
    return or_404(places.order_by(first, "-pk").first(), _("You have no place in a study of this project."))


def _own(rows: Prepared[Work], person: User, pk: int) -> Work:
    # An address may hold a number that is larger than any column's.
    return or_404(
        rows.first(pk=pk, person=person.pk) if pk <= BigIntegerField.MAX_BIGINT else None,
        _("Task not found."),
    )
