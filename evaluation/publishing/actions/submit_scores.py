"""Scores that a stranger sends by the public page of a release: checked, kept, and shown to nobody until accepted."""

import hashlib
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.publishing.models import PublicPage, Submission
from evaluation.publishing.submitted import check_scores
from evaluation.score_files.received import safe_name, write_file
from evaluation.scoring.queries import records_of
from projects import audit

ABOUT = ("label", "sent_by", "contact", "url", "notes")


def submit_scores(page: PublicPage, scores: UploadedFile, about: Mapping[str, str]) -> Submission:
    """Keep the file and what was said of it; a researcher decides.

    EvaluationError: the page takes no scores, the file is too large or was sent before, no room on the disk;
    BadScoresError names what is wrong in which line. Nothing is kept then.
    """
    if not (page.is_open and page.takes_scores):
        raise EvaluationError(_("This release takes no scores."))
    if (scores.size or 0) > settings.SUBMISSION_MAX_BYTES:
        most = settings.SUBMISSION_MAX_BYTES // 1024**2
        raise EvaluationError(_("The file is larger than %(most)d MB.") % {"most": most})
    folder = Path(settings.UPLOAD_ROOT) / f"submission-{secrets.token_hex(8)}"
    path = folder / safe_name(scores.name or "")
    kept = False
    try:
        folder.mkdir(parents=True, mode=0o700)
        write_file(scores, path)
        submission = _checked(page, path, about)
        kept = True
        return submission
    except OSError as error:
        raise EvaluationError(_("The file cannot be kept here just now; send it again later.")) from error
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def _checked(page: PublicPage, path: Path, about: Mapping[str, str]) -> Submission:
    n_items = check_scores(path, records_of(page.release))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    fields = {"file_name": path.name, "path": str(path.relative_to(settings.UPLOAD_ROOT)), "n_items": n_items}
    fields |= {name: about[name] for name in ABOUT}
    with transaction.atomic():
        submission, made = Submission.objects.get_or_create(release=page.release, sha256=digest, defaults=fields)
        if not made:
            raise EvaluationError(_("This very file was sent before."))
        details = {"release": page.release_id, "n_items": n_items, "sha256": digest}
        audit.record(audit.event(page.release.project, None, "evaluation.submit_scores", submission, **details))
    return submission
