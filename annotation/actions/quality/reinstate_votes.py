"""A researcher brings the votes of a validator back that were set aside."""

from collections import Counter
from datetime import datetime

from django.utils import timezone

from annotation.access import validator_for
from annotation.actions.quality import recounts
from annotation.actions.quality.standings import standing_of
from annotation.models import VoteState
from annotation.transactions import run_in_transaction
from projects import audit
from projects.models import Project, User


def reinstate_votes(
    actor: User, project: Project, person_id: int, reason: str = "", *, now: datetime | None = None
) -> tuple[int, int]:
    """(how many count again, how many came too late and are surplus): a vote counts only where a place is free."""
    return run_in_transaction(lambda: _reinstate(actor, project, person_id, reason.strip(), now or timezone.now()))


def _reinstate(actor: User, project: Project, person_id: int, reason: str, now: datetime) -> tuple[int, int]:
    person = validator_for(actor, project, person_id)
    standing = standing_of(person, project)
    votes = recounts.votes_of(person, project, VoteState.SET_ASIDE)
    states = Counter(recounts.reinstate_vote(vote, project, actor, reason, now) for vote in votes)
    counted, surplus = states[VoteState.COUNTED], states[VoteState.SURPLUS]
    standing.set_aside_at = None
    standing.save(update_fields=["set_aside_at"])
    audit.record(
        audit.event(project, actor, "bring_votes_back", standing, reason=reason, counted=counted, surplus=surplus)
    )
    return counted, surplus
