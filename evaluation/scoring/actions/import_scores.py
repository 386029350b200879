"""Import scores of a model that ran elsewhere: store the uploaded files in their own folder, for a run to read."""

import secrets
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.score_files.score_readers import FORMS
from evaluation.score_files.uploaded_files import safe_name, write_file
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import require_role
from foilworks.core.projects.models import Role, User
from foilworks.core.text.quoting import quoted


def import_scores(
    person: User,
    release: Release,
    scores: UploadedFile,
    *,
    form: str,
    proficiency: UploadedFile | None = None,
    protocol: str = "foilworks",
    label: str = "",
    columns: Mapping[str, str] | None = None,
) -> Run:
    """Store the files and queue the run that reads them; ids on one side only are listed on its page.

    AccessDenied without the researcher's role; EvaluationError: an unknown format or protocol, no room on the disk.
    """
    require_role(person, release.project, Role.RESEARCHER)
    if form not in FORMS:
        raise EvaluationError(f"unknown form {quoted(form)}; choose one of: {', '.join(FORMS)}")
    folder = Path(settings.UPLOAD_ROOT) / f"scores-{secrets.token_hex(8)}"
    path = folder / safe_name(scores.name or "")
    params = {"form": form}
    try:
        folder.mkdir(parents=True, mode=0o700)
        write_file(scores, path)
        if proficiency is not None:
            able = folder / "proficiency" / safe_name(proficiency.name or "")
            able.parent.mkdir()
            write_file(proficiency, able)
            params["proficiency"] = str(able)
    except OSError as error:
        raise EvaluationError(
            _("The files cannot be stored (%(why)s). Free some disk space.") % {"why": error.strerror}
        ) from error
    return start_run(
        person, release, RunRequest(f"file:{path}", protocol=protocol, label=label, kept_file=params, columns=columns)
    )
