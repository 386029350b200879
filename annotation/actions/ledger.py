"""Add entries to the ledger of pay: for submitted work, and to reverse them. No entry changes."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet

from annotation.models import Edit, ObjectAnswer, PayEntry, Review, Vote
from annotation.models.stages import public_stage
from annotation.queries.paid_work import rate_for
from annotation.rules.pay import Rate, Unit, amount_of
from foilworks.core.projects.models import Project
from foilworks.core.projects.sql.bulk_writes import insert_many
from foilworks.core.projects.sql.fast_inserts import insert


def book(work: Edit | Review | Vote | ObjectAnswer, project: Project, stage: str) -> None:
    """Add the entry of submitted work, at the rate that holds for its author now."""
    insert(_entry(work, project, stage, rate_for(project, work.person_id, str(public_stage(stage)), work.created_at)))


def book_many(works: Sequence[Review], project: Project, stage: str) -> None:
    """Add the entries of work that one person submitted at one moment."""
    rate = rate_for(project, works[0].person_id, str(public_stage(stage)), works[0].created_at)
    insert_many([_entry(work, project, stage, rate) for work in works])


def _entry(work: Edit | Review | Vote | ObjectAnswer, project: Project, stage: str, rate: Rate | None) -> PayEntry:
    return PayEntry(
        project=project,
        person_id=work.person_id,
        stage=str(public_stage(stage)),
        key=work.idempotency_key,
        unit=rate.unit if rate else Unit.PIECE.value,
        rate=rate and rate.amount,
        seconds=work.seconds_spent,
        amount=amount_of(rate, work.seconds_spent),
        currency=project.pay_policy.currency if rate else "",
        created_at=work.created_at,
    )


def reverse_work(work: Edit | Review | Vote | ObjectAnswer, stage: str, reason: str, now: datetime) -> int:
    """Reverse the entry of one submission."""
    own = PayEntry.objects.filter(person=work.person_id, stage=public_stage(stage), key=work.idempotency_key)
    return reverse(own, reason, now)


def reverse(entries: QuerySet[PayEntry], reason: str, now: datetime) -> int:
    """Add a reversing entry for each entry of work that has none yet; return how many."""
    copied = ("project_id", "person_id", "stage", "key", "unit", "rate", "seconds", "currency")
    rows = [
        PayEntry(
            reason=reason,
            reverses=entry,
            amount=-entry.amount,
            created_at=now,
            **{name: getattr(entry, name) for name in copied},
        )
        for entry in entries.filter(reverses=None, reversal=None)
    ]
    return len(PayEntry.objects.bulk_create(rows))
