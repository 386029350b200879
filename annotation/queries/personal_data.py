"""All stored data of a person, for that person: the rows, by their own ids."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from annotation.models import (
    Assignment,
    Attempt,
    DeclinedVideo,
    Draft,
    Edit,
    ItemComment,
    Lease,
    ObjectAnswer,
    PayEntry,
    Review,
    Vote,
    VoteState,
)
from annotation.models.stages import public_stage
from annotation.queries.own_answers import answer_of_choice
from annotation.rules.voting import answer_of
from foilworks.core.projects.models import (
    AuditEvent,
    Consent,
    CrowdPlace,
    CrowdWorker,
    InvitationUse,
    Membership,
    Notification,
    NotificationSettings,
    User,
)

ACCOUNT = ("username", "first_name", "last_name", "email", "date_joined", "last_login")
# A judgement's effect on its item: gold has none, so a missing row would reveal gold.
OF_ITEMS = ("vote", "recount")
# Votes of a paused person are excluded, but gold is surplus: one word for both.
APART = (VoteState.SURPLUS, VoteState.SET_ASIDE)


def own_data(person: User) -> dict[str, Any]:
    """Return table -> rows.

    Gold answers are among the judgements and look the same, because others still answer that gold.
    """
    mine = {"person": person}
    tables = {
        "memberships": Membership.objects.filter(**mine).values("project__slug", "role", "created_at"),
        "consents": Consent.objects.filter(**mine).values(
            "text__project__slug", "text__version", "given_at", "withdrawn_at", "refused"
        ),
        "invitations_used": InvitationUse.objects.filter(**mine).values("invitation__project__slug", "at"),
        "crowd_ids": CrowdWorker.objects.filter(**mine).values("project__slug", "platform", "worker", "removed_at"),
        "crowd_places": CrowdPlace.objects.filter(**mine).values("study__name", "session", "state", "entered_at"),
        "edits": Edit.objects.filter(**mine).values("texts", "watch", "seconds_spent", "created_at"),
        "reviews": Review.objects.filter(**mine).values(
            "decision", "reasons", "comment", "watch", "seconds_spent", "created_at"
        ),
        "comments": ItemComment.objects.filter(author=person).values("text", "created_at", "resolved_at"),
        "judgements": _judgements(Vote.objects.filter(**mine).order_by("pk")),
        "object_answers": ObjectAnswer.objects.filter(**mine).values("visible", "seconds_spent", "created_at"),
        "pay": PayEntry.objects.filter(**mine).values(
            "project__slug", "stage", "reason", "unit", "rate", "amount", "currency", "created_at"
        ),
        "assignments": Assignment.objects.filter(**mine).values(
            "project__slug", "stage", "team", "quota", "due", "created_at", "ended_at"
        ),
        "exercises": Attempt.objects.filter(**mine).values("stage", "started_at", "finished_at", "passed"),
        "declined_videos": DeclinedVideo.objects.filter(**mine).values("video__project__slug", "created_at"),
        "drafts": Draft.objects.filter(**mine).values("payload", "updated_at"),
        "notifications": Notification.objects.filter(**mine).values(
            "project__slug", "kind", "facts", "created_at", "read_at", "mailed_at"
        ),
        "notification_settings": NotificationSettings.objects.filter(**mine).values("mail", "channels"),
        "leases": _leases(Lease.objects.filter(**mine)),
        "audit": _audit(AuditEvent.objects.filter(actor=person)),
    }
    account = {name: getattr(person, name) for name in ACCOUNT}
    return {"account": account, **{name: list(rows) for name, rows in tables.items()}}


def _judgements(votes: QuerySet[Vote]) -> Iterable[dict[str, Any]]:
    """Return judgements as given, without which text was the caption: a judgement may still be undone."""
    for vote in votes:
        several = answer_of_choice(vote) if vote.order_shown else None
        yield {
            "answer": int(several)
            if several and several.isdecimal()
            else several or answer_of(vote.choice, bool(vote.caption_first)),
            "watch": vote.watch,
            "seconds_spent": vote.seconds_spent,
            "created_at": vote.created_at,
        }


def _leases(leases: QuerySet[Lease]) -> Iterable[dict[str, Any]]:
    for row in leases.values("task__stage", "leased_at", "ended_at", "ending", "skip_reason"):
        yield {**row, "task__stage": public_stage(row["task__stage"])}


def _audit(events: QuerySet[AuditEvent]) -> Iterable[dict[str, Any]]:
    rows = events.exclude(action__in=OF_ITEMS).order_by("pk")
    for row in rows.values("action", "at", "from_state", "to_state", "reason"):
        apart = row["action"] == "submit_vote" and row["to_state"] in APART
        yield {**row, "to_state": "kept apart"} if apart else row
