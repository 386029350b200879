"""Decide who is notified of what: each rule reads a window of the audit trail, and some tables, and yields drafts.

Nobody learns from a notification how an item was labelled or judged, or by whom (docs/workflow.md#rule-1): drafts
contain numbers of rows and names of things, and each is for a role whose pages show them anyway.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.apps import apps
from django.db import transaction
from django.utils import timezone

from annotation.actions.submissions.reviews import author_of
from annotation.models import ItemComment, Review, ReviewDecision, Slot, SlotState, Stage
from annotation.queries.crowd import places_left
from annotation.queries.decision_queues import adjudicable
from foilworks.core.corpus.models import Item, Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, CrowdStudy, Membership, Project, Role, User, Webhook
from foilworks.core.projects.notifications.actions import Draft
from foilworks.core.rooms import declared

# Leases of the last moments that are looked at for queues that they have emptied.
MAX_LEASES = 500
# Part of the key of what repeats: one notification per day.
DAY = "%Y-%m-%d"
ENDED = (JobState.DONE, JobState.PARTLY, JobState.FAILED, JobState.CANCELLED)
# The stages of the queues, each with those whose tasks become its tasks.
FED_BY: dict[str, tuple[str, ...]] = {
    Stage.EDIT: (Stage.REVIEW,),
    Stage.REVIEW: (Stage.EDIT,),
    Stage.VALIDATION: (Stage.EDIT, Stage.REVIEW),
    Stage.BASELINE: (),
    Stage.UNSEEN: (),
    Stage.OBJECTS: (),
}


@dataclass(frozen=True)
class Window:
    """What happened since the last look. `events`: of ACTIONS, of projects in use; `leases`: ids of leased slots.

    `since`: rows of other tables that ended before then were read already.
    """

    events: Sequence[AuditEvent]
    leases: Sequence[int]
    since: datetime
    now: datetime

    def of(self, action: str) -> list[AuditEvent]:
        return [event for event in self.events if event.action == action]

    @cached_property
    def ended_runs(self) -> list[tuple[str, Any]]:
        """Return (kind, run) of each run whose job ended, with its job."""
        ended_filter = {"job__state__in": ENDED, "job__finished_at__gte": self.since}
        return [
            (run_kind, run)
            for run_kind, kind in declared("RUNS").items()
            for run in apps.get_model(kind.table)
            ._default_manager.filter(**ended_filter)
            .select_related("job")
            .order_by("pk")
        ]

    @cached_property
    def _people(self) -> dict[int, dict[int, set[str]]]:
        return {}

    def people(self, project: int) -> dict[int, set[str]]:
        """Return person -> roles, of open accounts; nobody in an archived or deleted project."""
        if project not in self._people:
            roles_of_person = self._people[project] = {}
            rows = Membership.objects.filter(project=project, person__is_active=True)
            open_memberships = rows.filter(project__archived_at=None, project__deleted_at=None)
            for person, role in open_memberships.order_by("person").values_list("person", "role"):
                roles_of_person.setdefault(person, set()).add(role)
        return self._people[project]

    def has(self, project: int, person: int | None, role: str) -> bool:
        return person is not None and role in self.people(project).get(person, set())

    def researchers(self, project: int) -> list[int]:
        return [person for person, roles in self.people(project).items() if Role.RESEARCHER in roles]

    def reviewers(self, project: int) -> list[int]:
        """Return reviewers who neither judge nor are researchers."""
        barred_roles = {Role.VALIDATOR, Role.RESEARCHER}
        people = self.people(project).items()
        return [person for person, roles in people if Role.REVIEWER in roles and not roles & barred_roles]


Rule = Callable[[Window], Iterator[Draft]]


def returned_foils(window: Window) -> Iterator[Draft]:
    """Notify the author of a returned foil, unless the reviewer has undone the return."""
    sent_back = [e for e in window.of("submit_review") if e.reason == ReviewDecision.SEND_BACK]
    numbers = [int(event.target_id) for event in sent_back if event.to_state == "counted"]
    reviews = Review.objects.filter(pk__in=numbers, undone_at=None)
    for review in reviews.select_related("candidate__author", "candidate__group__run"):
        project, author = review.candidate.group.run.project_id, author_of(review.candidate)
        if author is not None and window.has(project, author.pk, Role.ANNOTATOR):
            yield Draft(author.pk, project, Role.ANNOTATOR, "returned", str(review.pk), {"stage": Stage.EDIT.value})


def comments(window: Window) -> Iterator[Draft]:
    """Notify researchers, and reviewers who commented before and may still decide the item; never the commenter."""
    for event in window.of("add_comment"):
        project, item = event.project_id, event.details.get("item")
        facts = Item.objects.filter(pk=item).values("key").first()
        before = set(ItemComment.objects.filter(item=item).values_list("author", flat=True))
        commenters = [person for person in window.reviewers(project) if person in before]
        people = [(person, Role.RESEARCHER) for person in window.researchers(project)]
        people += [(person, Role.REVIEWER) for person in _adjudicators(project, commenters, item)]
        for person, role in people:
            if facts is not None and person != event.actor_id:
                yield Draft(person, project, role, "comment", event.target_id, {"item": item, **facts})


def disputes(window: Window) -> Iterator[Draft]:
    """Notify those who may decide disputed items; at most one notification per project and day."""
    moved_events = [e for e in window.events if e.target_type == "corpus.item" and e.to_state == ItemState.DISPUTED]
    ids = [event.target_id for event in moved_events if event.from_state != event.to_state]
    still = set(Item.objects.filter(pk__in=ids, state=ItemState.DISPUTED).values_list("pk", flat=True))
    days = {(event.project_id, event.at.strftime(DAY)) for event in moved_events if int(event.target_id) in still}
    for project, day in sorted(days):
        people = [(person, Role.RESEARCHER) for person in window.researchers(project)]
        people += [(reviewer, Role.REVIEWER) for reviewer in _adjudicators(project, window.reviewers(project))]
        for person, role in people:
            yield Draft(person, project, role, "dispute", f"{project}:{day}")


def _adjudicators(project: int, people: Sequence[int], item: int | None = None) -> list[int]:
    """Return those of the people who may decide the item; without one, any item of the project."""
    if not people:
        return []
    item_filter, project_row = ({} if item is None else {"pk": item}), Project.objects.get(pk=project)
    rows = User.objects.filter(pk__in=people).order_by("pk")
    return [account.pk for account in rows if adjudicable(account, project_row).filter(**item_filter).exists()]


def ended_runs(window: Window) -> Iterator[Draft]:
    """Notify the person who started a run that is done or has failed."""
    for run_kind, run in window.ended_runs:
        job = run.job
        if job.state != JobState.CANCELLED and window.has(job.project_id or 0, run.created_by_id, Role.RESEARCHER):
            key = f"{run_kind}:{run.pk}:{job.finished_at:%Y-%m-%dT%H:%M:%S}"
            facts = {"what": run_kind, "n": run.pk, "failed": job.state == JobState.FAILED}
            facts |= {"partly": True} if job.state == JobState.PARTLY else {}
            yield Draft(run.created_by_id, job.project_id, Role.RESEARCHER, "run_ended", key, facts)


def announce_ended_runs(window: Window) -> None:
    """Record the end of each run once, which fires the webhook event `run.ended`."""
    for run_kind, run in window.ended_runs:
        job = run.job
        with transaction.atomic():
            rows = Job.objects.filter(pk=job.pk, finished_at=job.finished_at, announced_at=None)
            if rows.update(announced_at=timezone.now()):
                why = {"why": job.error or job.message} if job.state != JobState.DONE else {}
                facts = {"kind": run_kind, "run": run.pk, "state": job.state, **why}
                project = Project.objects.get(pk=job.project_id)
                audit.record(audit.event(project, None, "projects.end_run", run, to_state=job.state, **facts))


def empty_queues(window: Window) -> Iterator[Draft]:
    """Notify researchers when a queue runs dry; at most one notification per queue and day."""
    claimed_slots = Slot.objects.filter(pk__in=window.leases)
    queues = claimed_slots.order_by("project", "stage").values_list("project", "stage").distinct()
    for project, stage in queues:
        if stage in FED_BY and not _has_work(project, stage):
            key = f"{project}:{stage}:{window.now.strftime(DAY)}"
            for person in window.researchers(project):
                yield Draft(person, project, Role.RESEARCHER, "queue_empty", key, {"stage": stage})


def _has_work(project: int, stage: str) -> bool:
    """Return whether a task is free, or unfinished in a stage that brings new ones."""
    slots = Slot.objects.filter(project=project)
    before = slots.filter(stage__in=FED_BY[stage], state__in=(SlotState.FREE, SlotState.LEASED))
    return slots.filter(stage=stage, state=SlotState.FREE).exists() or before.exists()


def full_studies(window: Window) -> Iterator[Draft]:
    """Notify researchers when all places of a crowd study are taken; at most one notification per study and day."""
    days = {event.details.get("study"): event.at.strftime(DAY) for event in window.of("enter_study")}
    for study in CrowdStudy.objects.filter(pk__in=days, is_open=True):
        if not places_left(study):
            facts = {"study": study.pk, "name": study.name}
            for person in window.researchers(study.project_id):
                key = f"{study.pk}:{days[study.pk]}"
                yield Draft(person, study.project_id, Role.RESEARCHER, "study_full", key, facts)


def visitors_reports(window: Window) -> Iterator[Draft]:
    """Notify researchers of reports on a public page; one per release and day, because a visitor can send many."""
    days = {event.details.get("release"): event.at.strftime(DAY) for event in window.of("evaluation.report_item")}
    for release in Release.objects.filter(pk__in=days):
        facts = {"release": release.pk, "name": release.name}
        for person in window.researchers(release.project_id):
            key = f"{release.pk}:{days[release.pk]}"
            yield Draft(person, release.project_id, Role.RESEARCHER, "report", key, facts)


def stopped_webhooks(window: Window) -> Iterator[Draft]:
    """Notify researchers of a webhook to which nothing is sent any more."""
    for hook in Webhook.objects.filter(stopped_at__gte=window.since):
        for person in window.researchers(hook.project_id):
            key = f"{hook.pk}:{hook.stopped_at:%Y-%m-%dT%H:%M:%S}"
            yield Draft(person, hook.project_id, Role.RESEARCHER, "webhook_stopped", key, {"webhook": hook.pk})


RULES: tuple[Rule, ...] = (
    returned_foils,
    comments,
    disputes,
    ended_runs,
    empty_queues,
    full_studies,
    visitors_reports,
    stopped_webhooks,
)
# What the rules read of the audit trail, beside items that become disputed.
ACTIONS = ("submit_review", "undo_review", "add_comment", "enter_study", "evaluation.report_item")
