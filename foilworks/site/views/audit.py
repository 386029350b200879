"""Audit a benchmark file that a visitor uploads. Nothing of it is stored.

The file is read in a child process with limits on memory and time, one file at a time per web process.
"""

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from evaluation.audit.file_reader import formats
from evaluation.audit.pages import page_of
from evaluation.audit.visitor_file import audit_uploaded
from evaluation.errors import EvaluationError
from evaluation.score_files.uploaded_files import safe_name, write_file
from foilworks.core.media.child import ChildLimits, LimitError, run
from foilworks.core.projects.forms.registry_entry import choices_of
from foilworks.core.projects.limits.upload_limits import texts_fit
from foilworks.core.text.errors import ActionableError

# Beyond what the libraries need; seconds of a processor.
LIMITS = ChildLimits(memory=1536 * 1024**2, seconds=40)
# They need a folder, or parameters.
NOT_HERE = frozenset({"hf", "table"})
_running = BoundedSemaphore(1)


class AuditForm(forms.Form):
    """A benchmark file, by somebody without an account."""

    file = forms.FileField(
        label=gettext_lazy("Benchmark file"),
        max_length=200,
        help_text=gettext_lazy(
            "JSON, JSON lines, CSV or TSV in UTF-8, Parquet, or the archive of a release. The file is read once and "
            "not stored."
        ),
    )
    form = forms.ChoiceField(
        label=gettext_lazy("Format"),
        required=False,
        help_text=gettext_lazy("The names of the columns show which texts are right. Choose a format if they do not."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        format_choices = choices_of({slug: entry for slug, entry in formats().items() if slug not in NOT_HERE})
        self.fields["form"].choices = [("", _("Detect by columns")), *format_choices]

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > settings.AUDIT_MAX_BYTES:
            most = settings.AUDIT_MAX_BYTES // 1024**2
            raise forms.ValidationError(
                _("The file is larger than %(most)d MB. Run `foilworks audit FILE` on your own computer instead."),
                params={"most": most},
            )
        return file


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def audit(request: HttpRequest) -> HttpResponse:
    posted = request.method == "POST"
    if posted and not texts_fit(request):
        raise EvaluationError(_("The text fields of the form are too long. Shorten them."))
    form = AuditForm(*((request.POST, request.FILES) if posted else ()))
    context: dict[str, Any] = {
        "form": form,
        "most": settings.AUDIT_MAX_BYTES // 1024**2,
        "most_pairs": settings.AUDIT_MAX_PAIRS,
    }
    if posted and form.is_valid():
        try:
            context |= page_of(audit_upload(form.cleaned_data["file"], form.cleaned_data["form"]))
        except ActionableError as error:
            form.add_error("file", str(error))
    return render(request, "evaluation/audit.html", context, status=422 if form.errors else 200)


def audit_upload(file: UploadedFile, form: str) -> Mapping[str, Any]:
    """Return the audit of the file. EvaluationError: the file is unusable, or too much for this page."""
    if not _running.acquire(blocking=False):
        raise EvaluationError(_("Another file is being audited. Try again in a minute."))
    folder = Path(settings.UPLOAD_ROOT) / f"audit-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, mode=0o700)
        path = folder / safe_name(file.name or "")
        write_file(file, path)
        result: Mapping[str, Any] = run(LIMITS, audit_uploaded, path, form, settings.AUDIT_MAX_PAIRS)
    except LimitError as error:
        raise EvaluationError(
            _("The file needs too much time or memory. Run `foilworks audit FILE` on your own computer instead.")
        ) from error
    except OSError as error:
        raise EvaluationError(_("The server cannot store the file now. Try again later.")) from error
    except ActionableError as error:
        raise EvaluationError(str(error).replace(f"{folder}/", "")) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _running.release()
    return result
