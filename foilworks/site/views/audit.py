"""Audit the files of a benchmark that a visitor uploads. Nothing of them is stored.

They are read in a child process with limits on memory and time, one benchmark at a time per web process.
"""

import secrets
import shutil
import zipfile
from collections.abc import Mapping, Sequence
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
from evaluation.audit.visitor_file import VisitorAudit, audit_uploaded
from evaluation.errors import EvaluationError
from foilworks.core.corpus.export_formats.parts.manifest import MANIFEST
from foilworks.core.corpus.import_formats.parsing.text_files import FIELD_OF_ROLE, are_whole, columns_of_roles
from foilworks.core.media.child import ChildLimits, LimitError, run
from foilworks.core.projects.forms.registry_entry import choices_of
from foilworks.core.projects.limits.upload_limits import texts_fit
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.registry import Entry
from foilworks.site.imports.archives import SUFFIX
from foilworks.site.imports.forms import RECORD_ENDINGS, FilesField, format_groups, members
from foilworks.site.imports.table_forms import TableForm
from foilworks.site.imports.uploads import write_files

# Beyond what the libraries need; seconds of a processor.
LIMITS = ChildLimits(memory=1536 * 1024**2, seconds=40)
# Texts in an archive take so many times its bytes at most.
EXPANSION = 8
# They need a folder, or parameters.
NOT_HERE = frozenset({"hf", "table"})
_running = BoundedSemaphore(1)


def _formats() -> dict[str, Entry]:
    return {slug: entry for slug, entry in formats().items() if slug not in NOT_HERE}


class AuditForm(forms.Form):
    """The files of a benchmark, by somebody without an account."""

    file = FilesField(
        label=gettext_lazy("Files"),
        unpacks=False,
        max_length=200,
        help_text=gettext_lazy(
            "JSON, JSON lines, CSV, TSV, spreadsheets, Parquet, a ZIP archive of them, or that of a release. The files "
            "are read once and not stored. Several files are one benchmark."
        ),
    )
    form = forms.ChoiceField(
        label=gettext_lazy("Format"),
        required=False,
        help_text=gettext_lazy("The columns show which texts are right. Choose a format if they do not."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["form"].choices = [("", _("Detect by columns")), *choices_of(_formats())]
        self.fields["file"].widget.attrs["accept"] = ",".join((SUFFIX, *RECORD_ENDINGS))

    def clean_file(self) -> list[UploadedFile]:
        files: list[UploadedFile] = self.cleaned_data["file"]
        if not files:
            raise forms.ValidationError(_("Choose the files of the benchmark."))
        if sum(file.size or 0 for file in files) > settings.AUDIT_MAX_BYTES:
            most = settings.AUDIT_MAX_BYTES // 1024**2
            raise forms.ValidationError(
                _("The file is larger than %(most)d MB. Run `foilworks audit FILE` on your own computer instead."),
                params={"most": most},
            )
        if len(files) == 1 and _is_release(files[0]):
            return files
        return members(files, EXPANSION * settings.AUDIT_MAX_BYTES)


def _is_release(file: UploadedFile) -> bool:
    """Report whether the archive is that of a release, which is read as a whole."""
    try:
        with zipfile.ZipFile(file.file) as archive:
            return any(name.rpartition("/")[2] == MANIFEST for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError):
        return False


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def audit(request: HttpRequest) -> HttpResponse:
    posted = request.method == "POST"
    if posted and not texts_fit(request):
        raise EvaluationError(_("The text fields of the form are too long. Shorten them."))
    form = AuditForm(*((request.POST, request.FILES) if posted else ()), initial={"form": request.GET.get("format")})
    context: dict[str, Any] = {
        "form": form,
        "format_groups": format_groups(_formats()),
        "record_endings": RECORD_ENDINGS,
        "most": settings.AUDIT_MAX_BYTES // 1024**2,
        "most_pairs": settings.AUDIT_MAX_PAIRS,
    }
    if posted and form.is_valid():
        try:
            context |= _answer(request, form)
        except ActionableError as error:
            form.add_error("file", str(error))
    return render(request, "evaluation/audit.html", context, status=422 if form.errors else 200)


def _answer(request: HttpRequest, form: AuditForm) -> dict[str, Any]:
    """Return the audit, and the menus of the columns for a person. EvaluationError: as `audit_upload`."""
    files, chosen_format = form.cleaned_data["file"], form.cleaned_data["form"]
    names = "/".join(str(file.name) for file in files)
    is_answered = request.POST.get("columns_of") == names and "caption_is" not in request.POST
    columns = columns_of_roles(_columns_of(request.POST)) if is_answered else {}
    is_asking = bool({"choose_columns", "caption_is"} & request.POST.keys()) or (is_answered and not are_whole(columns))
    reply = audit_upload(files, chosen_format, None if is_asking else columns)
    columns = {FIELD_OF_ROLE.get(role, role): column for role, column in reply.columns.items() if column}
    context = {"columns": columns, "columns_of": names, **(page_of(reply.result) if reply.result else {})}
    if is_answered and is_asking:
        form.add_error(
            None, _("Choose the caption and its foils, or all candidates and the column with the right one.")
        )
    elif reply.problem:
        form.add_error("file", _for_the_page(reply.problem) if reply.rows else reply.problem)
    if reply.rows and (is_answered or not reply.result):
        known = {"caption": [caption]} if (caption := request.POST.get("caption_is", "")) else None
        data = request.POST if is_answered else None
        context["table_form"] = TableForm(data, rows=reply.rows, explode="", known=known)
    return context


def _columns_of(query: Any) -> dict[str, Any]:
    """Return field -> column of the menus; the texts are foils, or the candidates of an answer."""
    names = ("caption", "video", "source_id", "id", "question", "answer", "split", "subtest")
    columns: dict[str, Any] = {name: query[name] for name in names if query.get(name)}
    if texts := query.getlist("texts"):
        columns["candidates" if "answer" in columns else "foils"] = texts
    return columns


def _for_the_page(problem: str) -> str:
    """Return the problem with what to do on this page, if it names an option of the command."""
    what, _fix, todo = problem.rpartition("; ")
    return f"{what}. {_('Choose the columns below.')}" if "--column" in todo else problem


def audit_upload(files: Sequence[UploadedFile], form: str, columns: Mapping[str, str] | None) -> VisitorAudit:
    """Return the audit of the files. EvaluationError: they are too much for this page."""
    if not _running.acquire(blocking=False):
        raise EvaluationError(_("Another file is being audited. Try again in a minute."))
    folder = Path(settings.UPLOAD_ROOT) / f"audit-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, mode=0o700)
        paths = write_files(files, folder)
        reply = run(LIMITS, audit_uploaded, paths, form, columns, settings.AUDIT_MAX_PAIRS)
    except LimitError as error:
        raise EvaluationError(
            _("The file needs too much time or memory. Run `foilworks audit FILE` on your own computer instead.")
        ) from error
    except OSError as error:
        raise EvaluationError(_("The server cannot store the file now. Try again later.")) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _running.release()
    return reply._replace(problem=reply.problem.replace(f"{folder}/", ""))
