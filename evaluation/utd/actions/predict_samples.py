"""A model to answer the samples of a bias run: a classifier on a frozen backbone, or an image-text model zero-shot."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import check_device
from evaluation.utd.ablation import ZERO_SHOT
from evaluation.utd.actions.describe_videos import checked_model
from evaluation.utd.actions.import_benchmark import MAX_LABEL_LENGTH, wanted_ids
from evaluation.utd.models import BenchmarkedModel, BiasRun
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher
from projects.models import User

JOB = "evaluation.utd.jobs.answer_samples"
MAX_EPOCHS = 1000


@transaction.atomic
def predict_samples(
    person: User | None,
    run: BiasRun,
    model: str,
    *,
    zero_shot: bool = False,
    label: str = "",
    epochs: int = 50,
    augment: bool = True,
    device: str = "auto",
) -> BenchmarkedModel:
    """Store the row and queue its job (`row.job`); a model of the same label is replaced.

    `model`: a backbone that a classifier is trained on, or with `zero_shot` an adapter such as clip:ID. AccessDenied
    without the researcher's role; EvaluationError, GenerationError: what cannot be asked for.
    """
    project = run.project
    require_researcher(person, project)
    if run.descriptions is None:
        raise EvaluationError(_("The samples of this run came as a file: bring a model's answers as a file, too."))
    wanted_ids(run)
    check_device(device)
    if not 1 <= epochs <= MAX_EPOCHS:
        raise EvaluationError(f"{epochs} epochs are not possible; give 1 to {MAX_EPOCHS}")
    spec = checked_model(model.strip(), person)
    shown = (label.strip() or spec.rpartition("/")[2])[:MAX_LABEL_LENGTH]
    values = {
        "source": f"{ZERO_SHOT if zero_shot else ''}{spec}"[:500],
        "right": {},
        "details": {"device": device} if zero_shot else {"device": device, "epochs": epochs, "augment": augment},
        "scored_at": None,
        "created_by": person,
    }
    row, _created = BenchmarkedModel.objects.update_or_create(run=run, label=shown, defaults=values)
    title = _("%(label)s on %(run)s") % {"label": shown, "run": run.name}
    row.job = enqueue(JOB, row.pk, queue="gpu", title=title, project_id=project.pk)
    row.save(update_fields=["job"])
    details = {"model": spec, "zero_shot": zero_shot, "run": run.pk, "label": shown}
    audit.record(audit.event(project, person, "evaluation.answer_samples", row, **details))
    return row
