"""Everything that is stored of a person, for themselves: rows as they stand, by their own ids."""

from typing import Any

from django.db.models import F

from annotation.models import Attempt, Draft, Edit, Lease, ObjectAnswer, Review, Vote
from projects.models import AuditEvent, Consent, CrowdPlace, CrowdWorker, InvitationUse, Membership, User

ACCOUNT = ("username", "first_name", "last_name", "email", "date_joined", "last_login")


def own_data(person: User) -> dict[str, Any]:
    """Table -> rows. Answers to gold stand among the judgements and are not told apart: others still answer them."""
    mine = {"person": person}
    judged = Vote.objects.filter(**mine).order_by("pk")
    tables = {
        "memberships": Membership.objects.filter(**mine).values("project__slug", "role", "created_at"),
        "consents": Consent.objects.filter(**mine).values(
            "text__project__slug", "text__version", "given_at", "withdrawn_at"
        ),
        "invitations_used": InvitationUse.objects.filter(**mine).values("invitation__project__slug", "at"),
        "crowd_ids": CrowdWorker.objects.filter(**mine).values("project__slug", "platform", "worker", "removed_at"),
        "crowd_places": CrowdPlace.objects.filter(**mine).values("study__name", "session", "state", "entered_at"),
        "edits": Edit.objects.filter(**mine).values("texts", "watch", "seconds_spent", "created_at"),
        "reviews": Review.objects.filter(**mine).values(
            "decision", "reasons", "comment", "watch", "seconds_spent", "created_at"
        ),
        "judgements": judged.values("choice", "watch", "seconds_spent", "created_at", shown_first=F("caption_first")),
        "object_answers": ObjectAnswer.objects.filter(**mine).values("visible", "seconds_spent", "created_at"),
        "exercises": Attempt.objects.filter(**mine).values("stage", "started_at", "finished_at", "passed"),
        "drafts": Draft.objects.filter(**mine).values("payload", "updated_at"),
        "leases": Lease.objects.filter(**mine).values("task__stage", "leased_at", "ended_at", "ending"),
        "audit": AuditEvent.objects.filter(actor=person).values("action", "at", "from_state", "to_state", "reason"),
    }
    account = {name: getattr(person, name) for name in ACCOUNT}
    return {"account": account, **{name: list(rows) for name, rows in tables.items()}}
