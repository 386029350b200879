"""Pause and resume a validator, exclude and reinstate their votes."""

from collections import Counter
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import validator_for
from annotation.actions.quality import recounts, standings
from annotation.actions.quality.standings import COUNTS, standing_of
from annotation.errors import AnnotationError
from annotation.models import Standing, VoteState
from annotation.rules.pausing import Reason
from annotation.transactions import run_in_transaction
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User


def pause_validator(
    actor: User, project: Project, person_id: int, note: str = "", *, now: datetime | None = None
) -> int:
    """Free the person's leases and refuse claims until a researcher resumes them; return how many were freed.

    AnnotationError if they are already paused.
    """
    return run_in_transaction(lambda: _pause(actor, project, person_id, note.strip(), now or timezone.now()))


def _pause(actor: User, project: Project, person_id: int, note: str, now: datetime) -> int:
    standing = standing_of(validator_for(actor, project, person_id), project)
    if standing.state == Standing.State.PAUSED:
        raise AnnotationError(_("This person is already paused."))
    return standings.pause(standing, Reason.RESEARCHER, now, actor, note)


def resume_validator(
    actor: User, project: Project, person_id: int, note: str = "", *, now: datetime | None = None
) -> Standing:
    """Resume the person; the running counts restart, so that the same answers do not pause them again.

    AnnotationError if they are not paused.
    """
    return run_in_transaction(lambda: _resume(actor, project, person_id, note.strip(), now or timezone.now()))


def _resume(actor: User, project: Project, person_id: int, note: str, now: datetime) -> Standing:
    standing = standing_of(validator_for(actor, project, person_id), project)
    if standing.state != Standing.State.PAUSED:
        raise AnnotationError(_("This person is not paused."))
    standing.state, standing.counted_from = Standing.State.ACTIVE, now
    standing.paused_at = standing.paused_by = None
    standing.paused_why = standing.paused_note = ""
    for name in COUNTS:
        setattr(standing, name, 0)
    standing.save()
    audit.record(audit.event(project, actor, "resume", standing, from_state="paused", to_state="active", reason=note))
    return standing


def exclude_votes(
    actor: User, project: Project, person_id: int, reason: str = "", *, now: datetime | None = None
) -> int:
    """Exclude every counted vote of the person; return how many.

    Their slots are free for others, decided items return to validation, and reports that use them are stale. The votes
    stay and can be reinstated.
    """
    return run_in_transaction(lambda: _exclude(actor, project, person_id, reason.strip(), now or timezone.now()))


def _exclude(actor: User, project: Project, person_id: int, reason: str, now: datetime) -> int:
    person = validator_for(actor, project, person_id)
    standing = standing_of(person, project)
    votes = recounts.votes_of(person, project, VoteState.COUNTED)
    n_excluded = sum(recounts.exclude_vote(vote, project, actor, reason, now) for vote in votes)
    standing.set_aside_at = now
    standing.save(update_fields=["set_aside_at"])
    audit.record(audit.event(project, actor, "set_votes_aside", standing, reason=reason, votes=n_excluded))
    return n_excluded


def reinstate_votes(
    actor: User, project: Project, person_id: int, reason: str = "", *, now: datetime | None = None
) -> tuple[int, int]:
    """Return (how many count again, how many are surplus): a vote counts only if a slot is free."""
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
