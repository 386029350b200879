"""Accept scores that a visitor submitted, which creates a run, or reject them with a reason."""

from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.publishing.models import Submission, SubmissionState

FORM = "pairs"


@transaction.atomic
def accept_submission(person: User, submission: Submission) -> Submission:
    """Create a run from the scores, marked as an external submission on every board and in every export.

    AccessDenied without the researcher's role; EvaluationError if it was already decided or its file no longer exists.
    """
    fresh = _waiting(person, submission)
    path = Path(settings.UPLOAD_ROOT) / fresh.path
    if not path.is_file():
        raise EvaluationError(_("The submitted file no longer exists. Ask the sender to submit it again."))
    marks = {"form": FORM, "sent_by": fresh.sent_by}
    fresh.run = start_run(person, fresh.release, RunRequest(f"file:{path}", label=fresh.label, kept_file=marks))
    return _decided(person, fresh, SubmissionState.ACCEPTED, "")


@transaction.atomic
def refuse_submission(person: User, submission: Submission, reason: str) -> Submission:
    """Store the scores without showing them to anybody. EvaluationError without a reason."""
    if not reason.strip():
        raise EvaluationError(_("Enter a reason. It is stored with the rejection."))
    return _decided(person, _waiting(person, submission), SubmissionState.REFUSED, reason.strip()[:500])


def _waiting(person: User, submission: Submission) -> Submission:
    require_role(person, submission.release.project, Role.RESEARCHER)
    rows = Submission.objects.select_for_update(of=("self",), no_key=True).select_related("release__project")
    fresh = rows.get(pk=submission.pk)
    if fresh.state != SubmissionState.WAITING:
        raise EvaluationError(_("This submission was already accepted or rejected."))
    return fresh


def _decided(person: User, fresh: Submission, state: SubmissionState, reason: str) -> Submission:
    before, fresh.state, fresh.reason = fresh.state, state, reason
    fresh.decided_by, fresh.decided_at = person, timezone.now()
    fresh.save(update_fields=["state", "reason", "run", "decided_by", "decided_at"])
    name = "evaluation.accept_submission" if state == SubmissionState.ACCEPTED else "evaluation.refuse_submission"
    event = audit.event(
        fresh.release.project, person, name, fresh, from_state=before, to_state=state, reason=reason, run=fresh.run_id
    )
    audit.record(event)
    return fresh
