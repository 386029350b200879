"""Change the roles of members, remove them, and withdraw their work.

Assign a number of tasks to members, and end assignments.
"""

from collections.abc import Sequence
from datetime import date, datetime

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import member_for
from annotation.actions import ledger
from annotation.actions.claims.claim import ROLE_OF_STAGE, end_leases_of_roles
from annotation.actions.crowd import end_place
from annotation.actions.quality import recounts
from annotation.errors import AnnotationError
from annotation.models import (
    Assignment,
    Attempt,
    Draft,
    Edit,
    Ending,
    ExpertLabel,
    Lease,
    ObjectAnswer,
    PayEntry,
    Review,
    ReviewRate,
    Slot,
    SlotState,
    Stage,
    Standing,
    Task,
    TaskState,
    Vote,
    VoteState,
)
from annotation.models.stages import CHOICES
from annotation.transactions import lock_rows, run_in_transaction, serialize_writes
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import WITHDRAWN
from foilworks.core.projects.access import checked_roles, require_role
from foilworks.core.projects.actions.consent import on_withdrawal, refuse_consent
from foilworks.core.projects.actions.members import leave_project, set_roles
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import CrowdPlace, Membership, OnWithdrawal, PlaceState, Project, Role, User

# Edits and reviews stay, because others' work depends on them; personal data is removed from their rows.
ANSWERS = (Stage.VALIDATION, Stage.GOLD, *CHOICES, Stage.OBJECTS)


def change_roles(
    actor: User, project: Project, person_id: int, roles: Sequence[str], *, now: datetime | None = None
) -> int:
    """Set the member's roles (one or more); return how many leases in stages that they lost were freed.

    ProjectError: no role, an unknown one, the last researcher. Http404 for somebody who is not a member.
    """
    new_roles = checked_roles(roles)
    return run_in_transaction(lambda: _change(actor, project, person_id, new_roles, now or timezone.now()))


def _change(actor: User, project: Project, person_id: int, roles: Sequence[str], now: datetime) -> int:
    person = member_for(actor, project, person_id)
    lost_roles = set_roles(actor, project, person, roles)
    return end_leases_of_roles(project, person, lost_roles, actor, now)


def remove_member(actor: User, project: Project, person_id: int, *, now: datetime | None = None) -> int:
    """Remove the person from the project; return how many of their leases were freed.

    ProjectError for the last researcher, Http404 for somebody who is not a member.
    """
    return run_in_transaction(lambda: _remove(actor, project, person_id, now or timezone.now()))


def _remove(actor: User, project: Project, person_id: int, now: datetime) -> int:
    person = member_for(actor, project, person_id)
    lost_roles = set_roles(actor, project, person, ())
    return end_leases_of_roles(project, person, lost_roles, actor, now)


def withdraw(person: User, project: Project, work: str, *, now: datetime | None = None) -> int:
    """Let the person leave the project; return how many answers were removed.

    `work`: "keep" or "remove", if the consent lets them choose. Drafts are deleted, places in crowd studies freed.
    ProjectError for the last researcher, AnnotationError for a choice that the consent does not offer.
    """
    return run_in_transaction(lambda: withdraw_in_transaction(person, project, work, person, now or timezone.now()))


def withdraw_in_transaction(person: User, project: Project, work: str, actor: User, now: datetime) -> int:
    """Do the same within the caller's transaction."""
    rule = on_withdrawal(person, project)
    if work not in (OnWithdrawal.KEEP, OnWithdrawal.REMOVE) or rule not in (OnWithdrawal.CHOOSE, work):
        raise AnnotationError(_("The consent text does not offer this choice. Reload the page."))
    for crowd_place in CrowdPlace.objects.filter(person=person, study__project=project, state=PlaceState.ACTIVE):
        end_place(crowd_place, PlaceState.RETURNED, actor, now)
    refuse_consent(person, project, now)
    leave_project(person, project, actor, now=now)
    end_leases_of_roles(project, person, Role.values, actor, now)
    Draft.objects.filter(person=person, task__project=project).delete()
    ReviewRate.objects.filter(person=person, project=project).delete()
    removed = remove_answers(person, project, actor, now) if work == OnWithdrawal.REMOVE else 0
    audit.record(audit.event(project, actor, "withdraw", person, to_state=work, removed=removed))
    return removed


def remove_answers(person: User, project: Project, actor: User, now: datetime) -> int:
    """Delete votes, choices and answers to gold, objects and exercises; return how many.

    Verdicts and items follow. Foils that the person wrote and reviews that they made stay, without comments, times and
    watch evidence: others' work depends on them.
    """
    # First, so that nobody changes one of them until their slots are free.
    answered = Vote.objects.filter(person=person, item__subtest__project=project)
    lock_rows(Item.objects.filter(pk__in=answered.values("item")))
    for vote in recounts.votes_of(person, project, VoteState.COUNTED):
        recounts.exclude_vote(vote, project, actor, "answers were removed", now)
    votes = Vote.objects.filter(Q(item__subtest__project=project) | Q(gold__project=project), person=person)
    answers = ObjectAnswer.objects.filter(frame__check_of__project=project, person=person)
    _free_slots(person, project, now)
    stages = (Stage.VALIDATION, *CHOICES, Stage.OBJECTS)
    paid = PayEntry.objects.filter(project=project, person=person, stage__in=stages)
    ledger.reverse(paid, PayEntry.Reason.WITHDRAWN, now)
    removed = votes.delete()[0] + answers.delete()[0]
    ExpertLabel.objects.filter(pair__project=project, person=person).delete()
    Attempt.objects.filter(project=project, person=person).delete()
    Standing.objects.filter(policy__project=project, person=person).delete()
    plain = {"watch": {}, "seconds_spent": None}
    Edit.objects.filter(group__run__project=project, person=person).update(**plain)
    Review.objects.filter(candidate__group__run__project=project, person=person).update(**plain, comment="")
    return removed


def _free_slots(person: User, project: Project, now: datetime) -> None:
    """Free the slots of the answers in studies; cancel them elsewhere and if the item is gone."""
    leases = Lease.objects.filter(person=person, task__project=project, task__stage__in=ANSWERS)
    leases.filter(ending=Ending.SUBMITTED).update(ending=Ending.CANCELLED, ended_at=now)
    done = Slot.objects.filter(project=project, person=person, state=SlotState.DONE, stage__in=ANSWERS)
    reopened_slots = done.filter(stage__in=(*CHOICES, Stage.OBJECTS)).exclude(task__state=TaskState.CANCELLED)
    reopened_slots = reopened_slots.exclude(item__state__in=WITHDRAWN)
    tasks = list(reopened_slots.values_list("task", flat=True))
    nobody = {"person": None, "token": "", "expires_at": None}
    reopened_slots.update(state=SlotState.FREE, **nobody)
    Task.objects.filter(pk__in=tasks, state=TaskState.DONE).update(state=TaskState.OPEN)
    done.update(state=SlotState.CANCELLED, **nobody)


def assign(
    actor: User,
    project: Project,
    people: Sequence[int],
    stage: str,
    quota: int,
    *,
    due: date | None = None,
    team: str = "",
    now: datetime | None = None,
) -> list[Assignment]:
    """Give each person a quota at the stage; it replaces their open one. AnnotationError without the stage's role."""
    require_role(actor, project, Role.RESEARCHER)
    role = ROLE_OF_STAGE[Stage(stage)]
    members = set(Membership.objects.filter(project=project, role=role).values_list("person", flat=True))
    if not people or not set(people) <= members:
        raise AnnotationError(_("Choose members who have the role of this stage: %(role)s.") % {"role": role.label})

    def write() -> list[Assignment]:
        serialize_writes(project)
        moment = now or timezone.now()
        Assignment.objects.filter(project=project, person__in=people, stage=stage, ended_at=None).update(
            ended_at=moment
        )
        fields = {"stage": stage, "quota": quota, "due": due, "team": team, "created_at": moment}
        rows = Assignment.objects.bulk_create(
            Assignment(project=project, person_id=pk, **fields) for pk in sorted(set(people))
        )
        audit.record_many(audit.event(project, actor, "assign", row, stage=stage, quota=quota) for row in rows)
        return rows

    return run_in_transaction(write)


def end_assignment(actor: User, project: Project, pk: int) -> bool:
    """End an open assignment: its person may take any number of tasks again. Return whether it was open."""
    require_role(actor, project, Role.RESEARCHER)

    def write() -> bool:
        row = Assignment.objects.filter(project=project, pk=pk, ended_at=None).first()
        if row is None:
            return False
        Assignment.objects.filter(pk=row.pk).update(ended_at=timezone.now())
        audit.record(audit.event(project, actor, "end_assignment", row))
        return True

    return run_in_transaction(write)
