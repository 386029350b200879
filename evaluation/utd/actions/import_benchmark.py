"""Import a model's answers on the samples of a bias run from a file, to compare the model on the splits."""

from pathlib import Path

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.score_files.tables import Columns
from evaluation.utd.models import BenchmarkedModel, BiasRun
from evaluation.utd.predictions import read_model_answers
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User

MAX_LABEL_LENGTH = 120
MAX_LISTED = 100


@transaction.atomic
def import_benchmark(
    person: User | None, run: BiasRun, path: Path, *, label: str = "", columns: Columns | None = None
) -> list[BenchmarkedModel]:
    """Store one row per model of the file; a model of the same name is replaced. Ids on one side only are listed.

    AccessDenied without the researcher's role; EvaluationError: no samples to compare with, no id of them in the file,
    or an invalid file.
    """
    project = run.project
    require_researcher(person, project)
    sample_ids = expected_ids(run)
    answers_by_model, ignored = read_model_answers(path, columns)
    rows = []
    for model, right in answers_by_model.items():
        answers = {name: right[name] for name in sample_ids if name in right}
        if not answers:
            raise EvaluationError(
                _("%(file)s: none of its samples is in this run. Use the sample keys of this run.")
                % {"file": path.name}
            )
        model_label = label.strip() if label.strip() and len(answers_by_model) == 1 else model
        details = {
            "n_not_in_file": len(sample_ids) - len(answers),
            "not_in_file": [name for name in sample_ids if name not in right][:MAX_LISTED],
            "n_not_in_run": len(right) - len(answers),
            "ignored_columns": ignored,
        }
        rows.append(store_model(run, model_label[:MAX_LABEL_LENGTH], f"file:{path.name}", answers, details, person))
    labels = [row.label for row in rows]
    audit.record(audit.event(project, person, "evaluation.bring_benchmark", run, file=path.name, models=labels))
    return rows


def expected_ids(run: BiasRun) -> list[str]:
    if not run.predictions:
        raise EvaluationError(_("This run has no samples yet. Wait until the measurement is done."))
    return list(run.predictions["ids"])


def store_model(
    run: BiasRun, label: str, source: str, right: dict[str, float], details: dict[str, object], person: User | None
) -> BenchmarkedModel:
    values = {
        "source": source[:500],
        "right": right,
        "details": details,
        "scored_at": timezone.now(),
        "created_by": person,
    }
    return BenchmarkedModel.objects.update_or_create(run=run, label=label, defaults=values)[0]
