"""Look up leases, slots and work for one person: never by id alone."""

from typing import TypeVar

from django.db.models import BigIntegerField, Case, Manager, Q, QuerySet, When
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
from foilworks.core.corpus.models import Caption, Item, Subtest
from foilworks.core.projects.access import or_404, require_role, roles_in
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, PlaceState, Project, Role, User
from foilworks.core.projects.sql.prepared_queries import Prepared

Work = TypeVar("Work", Edit, Review, Vote, ObjectAnswer)
_LEASE = Prepared(
    lambda token, person: Lease.objects.select_related("slot__project", "slot__video", "task").filter(
        token=token, person=person
    )
)


def lease_for(person: User, token: str) -> Lease:
    """Return the person's own lease, running or ended, with slot, task and project; Http404 for any other."""
    return or_404(_LEASE.first(token=token, person=person.pk), _("Task not found."))


def edit_for(person: User, pk: int) -> Edit:
    """Return the person's own edit with its slot; Http404 for anybody else's."""
    return _own(Edit.objects, person, pk)


def review_for(person: User, pk: int) -> Review:
    """Return the person's own review with its slot; Http404 for anybody else's."""
    return _own(Review.objects.select_related("candidate", "child"), person, pk)


def vote_for(person: User, pk: int) -> Vote:
    """Return the person's own vote with its slot; Http404 for anybody else's."""
    return _own(Vote.objects, person, pk)


def object_answer_for(person: User, pk: int) -> ObjectAnswer:
    """Return the person's own answer on a frame with its slot; Http404 for anybody else's."""
    return _own(ObjectAnswer.objects, person, pk)


def checked_frame_for(person: User, project: Project, pk: int, *roles: str) -> CheckedFrame:
    """Return a frame of the project's object checks if the person has one of `roles` (empty: any); else Http404."""
    require_role(person, project, *roles)
    return or_404(
        CheckedFrame.objects.select_related("check_of").filter(pk=pk, check_of__project=project).first(),
        _("Frame not found."),
    )


def object_check_for(person: User, project: Project, pk: int) -> ObjectCheck:
    """Return an object check of the project, for its researchers; Http404 for another project's."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(ObjectCheck.objects.filter(pk=pk, project=project).first(), _("Object check not found."))


def item_for(person: User, pk: int, *roles: str) -> Item:
    """Return an item if the person has one of `roles` in its project.

    Http404 for people outside the project, AccessDenied for members without the role.
    """
    item = or_404(
        Item.objects.select_related("subtest__project", "caption").filter(pk=pk).first(), _("Item not found.")
    )
    project: Project = item.subtest.project
    if not roles_in(person, project):
        raise Http404(_("Item not found."))
    require_role(person, project, *roles)
    return item


def commented_item_for(person: User, project: Project, pk: int) -> Item:
    """Return an item of the project for a person who may read and write its comments.

    Researchers, and reviewers who are not validators: a comment could tell a judge the answer.
    """
    item = item_for(person, pk, Role.RESEARCHER, Role.REVIEWER)
    if item.subtest.project_id != project.pk:
        raise Http404(_("Item not found."))
    if not may_comment(person, project):
        raise AccessDenied(_("Validators cannot read comments on items."), project)
    return item


def may_comment(person: User, project: Project) -> bool:
    roles = roles_in(person, project)
    return Role.RESEARCHER in roles or (Role.REVIEWER in roles and Role.VALIDATOR not in roles)


def caption_for(person: User, pk: int, *roles: str) -> Caption:
    """Return a caption if the person has one of `roles` in its project.

    Http404 for people outside the project, AccessDenied for members without the role.
    """
    caption = or_404(Caption.objects.select_related("video__project").filter(pk=pk).first(), _("Caption not found."))
    project: Project = caption.video.project
    if not roles_in(person, project):
        raise Http404(_("Caption not found."))
    require_role(person, project, *roles)
    return caption


def subtest_for(project: Project, pk: int) -> Subtest:
    """Return a subtest of a project that the person may already see; Http404 for another project's."""
    return or_404(Subtest.objects.filter(project=project, pk=pk).first(), _("Subtest not found."))


def member_for(person: User, project: Project, pk: int) -> User:
    """Return a member of the project, for its researchers; Http404 for anybody else."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(User.objects.filter(pk=pk, memberships__project=project).first(), _("Member not found."))


def attempt_for(person: User, pk: int) -> Attempt:
    """Return the person's own attempt at practice or the qualification; Http404 for anybody else's."""
    return or_404(
        Attempt.objects.select_related("project").filter(pk=pk, person=person).first(),
        _("Exercise not found."),
    )


def pair_for(actor: User, project: Project, pk: int) -> GoldPair:
    """Return a gold pair of the project, for its researchers."""
    require_role(actor, project, Role.RESEARCHER)
    return or_404(
        GoldPair.objects.select_related("video__project", "subtest").filter(pk=pk, project=project).first(),
        _("Pair not found."),
    )


def practice_for(actor: User, project: Project, pk: int) -> PracticeCaption:
    """Return a practice caption of the project, for its researchers."""
    require_role(actor, project, Role.RESEARCHER)
    return or_404(PracticeCaption.objects.filter(pk=pk, project=project).first(), _("Caption not found."))


def validator_for(actor: User, project: Project, pk: int) -> User:
    """Return a current or former validator of the project, for its researchers; Http404 for anybody else."""
    require_role(actor, project, Role.RESEARCHER)
    belongs = Q(memberships__project=project) | Q(standings__policy__project=project) | Q(slots__project=project)
    return or_404(User.objects.filter(belongs, pk=pk).distinct().first(), _("Validator not found."))


def crowd_study_for(person: User, project: Project, pk: int) -> CrowdStudy:
    """Return a crowd study of the project, for its researchers; Http404 for another project's."""
    require_role(person, project, Role.RESEARCHER)
    return or_404(
        CrowdStudy.objects.select_related("project__pay_policy").filter(pk=pk, project=project).first(),
        _("Study not found."),
    )


def crowd_place_for(person: User, project: Project, pk: int | None = None) -> CrowdPlace:
    """Return the person's place in the project's crowd studies: by key, else an active one, else the last.

    A completed place can still be viewed.
    """
    crowd_places = CrowdPlace.objects.filter(person=person, study__project=project).select_related(
        "study__project", "person"
    )
    first = Case(When(pk=pk or 0, then=0), When(state=PlaceState.ACTIVE, then=1), default=2)
    return or_404(crowd_places.order_by(first, "-pk").first(), _("You have no place in a study of this project."))


def _own(rows: QuerySet[Work] | Manager[Work], person: User, pk: int) -> Work:
    # An address can contain a number that is too large for the column.
    own = rows.select_related("slot__project", "slot__task").filter(pk=pk, person=person)
    return or_404(own.first() if pk <= BigIntegerField.MAX_BIGINT else None, _("Task not found."))
