"""Check scores that a visitor submits on a public page, and store their numbers, hidden until accepted.

Accept scores that a visitor submitted, which creates a run, or reject them with a reason.
"""

import hashlib
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.score_files.uploaded_files import safe_name, write_file
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.publishing.models import PublicPage, Submission, SubmissionState
from foilworks.site.publishing.submitted import canonical, check_scores

ABOUT = ("label", "sent_by", "contact", "url", "notes")
# Only the numbers of a file are stored.
STORED_NAME = "scores.jsonl"


def submit_scores(page: PublicPage, scores: UploadedFile, about: Mapping[str, str]) -> Submission:
    """Store the numbers of the file and the fields of the form; a researcher decides.

    EvaluationError: the page takes no scores, too many wait for a decision, the file is too large, its numbers were
    submitted before, no room on the disk; BadScoresError names what is wrong in which line. Nothing is stored then.
    """
    if not (page.is_open and page.takes_scores):
        raise EvaluationError(_("This release does not accept scores."))
    if (scores.size or 0) > settings.SUBMISSION_MAX_BYTES:
        most = settings.SUBMISSION_MAX_BYTES // 1024**2
        raise EvaluationError(_("The file is larger than %(most)d MB. Upload a smaller file.") % {"most": most})
    _require_room(page)
    folder = Path(settings.UPLOAD_ROOT) / f"submission-{secrets.token_hex(8)}"
    stored = False
    try:
        folder.mkdir(parents=True, mode=0o700)
        numbers = _numbers_of(page, scores)
        (folder / STORED_NAME).write_bytes(numbers)
        submission = _submit(page, folder / STORED_NAME, numbers, {**about, "file_name": safe_name(scores.name or "")})
        stored = True
        return submission
    except OSError as error:
        raise EvaluationError(_("The server cannot store the file now. Try again later.")) from error
    finally:
        if not stored:
            shutil.rmtree(folder, ignore_errors=True)


def _numbers_of(page: PublicPage, scores: UploadedFile) -> bytes:
    """Return only what the file says, without its padding, extra fields and spelling."""
    with tempfile.TemporaryDirectory(dir=settings.UPLOAD_ROOT, prefix="submission-") as folder:
        path = Path(folder) / safe_name(scores.name or "")
        write_file(scores, path)
        return canonical(check_scores(path, records_of(page.release)))


def _submit(page: PublicPage, path: Path, numbers: bytes, about: Mapping[str, str]) -> Submission:
    digest, n_items = hashlib.sha256(numbers).hexdigest(), numbers.count(b"\n")
    fields = {"file_name": about["file_name"], "path": str(path.relative_to(settings.UPLOAD_ROOT)), "n_items": n_items}
    fields |= {name: about[name] for name in ABOUT}
    with transaction.atomic():
        # Serialized: two concurrent submissions would both find the last free slot.
        _require_room(PublicPage.objects.select_for_update(no_key=True).get(pk=page.pk))
        submission, made = Submission.objects.get_or_create(release=page.release, sha256=digest, defaults=fields)
        if not made:
            raise EvaluationError(
                _("The same scores were already submitted. Submit different scores, or wait for the answer.")
            )
        details = {"release": page.release_id, "n_items": n_items, "sha256": digest}
        audit.record(audit.event(page.release.project, None, "evaluation.submit_scores", submission, **details))
    return submission


def _require_room(page: PublicPage) -> None:
    waiting = Submission.objects.filter(release=page.release_id, state=SubmissionState.WAITING).count()
    if settings.SUBMISSION_MAX_OPEN and waiting >= settings.SUBMISSION_MAX_OPEN:
        raise EvaluationError(_("Too many submissions are waiting for a decision. Try again later."))


def expire_submissions(*, now: datetime | None = None) -> int:
    """Delete submissions without a decision after SUBMISSION_KEEP_DAYS, with their numbers, and return how many.

    Written by the system.
    """
    if not settings.SUBMISSION_KEEP_DAYS:
        return 0
    end = (now or timezone.now()) - timedelta(settings.SUBMISSION_KEEP_DAYS)
    old = Submission.objects.filter(state=SubmissionState.WAITING, sent_at__lt=end).select_related("release__project")
    return sum(_expire(submission) for submission in old)


@transaction.atomic
def _expire(submission: Submission) -> int:
    folder, pk = (Path(settings.UPLOAD_ROOT) / submission.path).parent, submission.pk
    reason = f"not decided on for {settings.SUBMISSION_KEEP_DAYS} days"
    event = audit.event(submission.release.project, None, "evaluation.expire_submission", submission, reason=reason)
    if not Submission.objects.filter(pk=pk, state=SubmissionState.WAITING).delete()[0]:
        return 0
    audit.record(event)
    if folder.is_relative_to(settings.UPLOAD_ROOT) and folder != Path(settings.UPLOAD_ROOT):
        transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))
    return 1


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
