"""A researcher sets the votes of a validator aside, as a whole."""

from datetime import datetime

from django.utils import timezone

from annotation.access import validator_for
from annotation.actions.quality import recounts
from annotation.actions.quality.standings import standing_of
from annotation.models import VoteState
from annotation.transactions import run_in_transaction
from projects import audit
from projects.models import Project, User


def exclude_votes(
    actor: User, project: Project, person_id: int, reason: str = "", *, now: datetime | None = None
) -> int:
    """Every counted vote of the person counts no longer; how many did.

    Their places are free for others, decided items are in validation again, reports that read them are stale. The votes
    stay and can be brought back.
    """
    return run_in_transaction(lambda: _exclude(actor, project, person_id, reason.strip(), now or timezone.now()))


def _exclude(actor: User, project: Project, person_id: int, reason: str, now: datetime) -> int:
    person = validator_for(actor, project, person_id)
    standing = standing_of(person, project)
    votes = recounts.votes_of(person, project, VoteState.COUNTED)
    moved = sum(recounts.exclude_vote(vote, project, actor, reason, now) for vote in votes)
    standing.set_aside_at = now
    standing.save(update_fields=["set_aside_at"])
    audit.record(audit.event(project, actor, "set_votes_aside", standing, reason=reason, votes=moved))
    return moved
