"""A text-to-text model tuned on a project's train captions, queued."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from corpus.models import Split
from generation.errors import GenerationError
from generation.model_paths import with_paths
from generation.models.side_work import Tuning
from generation.run_captions import captions_to_use
from generation.tuning.parameters import TUNING
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User
from text.registry import parse_params

JOB = "generation.jobs.run_tuning"
FROM_ONE = ("epochs", "batch", "checkpoint_every")
MAX_NAME_LENGTH = 300


@transaction.atomic
def start_tuning(
    person: User | None, project: Project, *, params: Mapping[str, Any] | None = None, seed: int = 0
) -> Tuning:
    """Store what is tuned on what and queue the job. `person` None is the operator of the command line.

    AccessDenied; RegistryError (unknown parameter); GenerationError: nothing is in the train split, a value that no
    training has, or a model's folder that a page may not name.
    """
    require_researcher(person, project)
    chosen = parse_params(TUNING, params or {})
    _check(chosen)
    chosen = with_paths(chosen, only_below=None if person is None else Path(settings.MODEL_ROOT))
    train = captions_to_use(project).filter(video__split=Split.TRAIN).order_by("-pk")
    last = train.values_list("pk", flat=True).first()
    if last is None:
        raise GenerationError(_("No caption is in the train split; what learns reads that one only. Import splits."))
    tuning = Tuning.objects.create(
        project=project,
        base_model=chosen["model"][:MAX_NAME_LENGTH],
        params=chosen,
        seed=seed,
        last_caption=last,
        created_by=person,
    )
    title = _("Tuning %(model)s") % {"model": Path(tuning.base_model).name}
    tuning.job = enqueue(JOB, tuning.pk, queue="gpu", title=title, project_id=project.pk)
    tuning.save(update_fields=["job"])
    audit.record(audit.event(project, person, "generation.start_tuning", tuning, params=chosen, seed=seed))
    return tuning


def _check(chosen: Mapping[str, Any]) -> None:
    for name in FROM_ONE:
        if chosen[name] < 1:
            raise GenerationError(_("%(name)s is a whole number from 1.") % {"name": name})
    if not (0 < chosen["learning_rate"] <= 1 and 0 < chosen["density"] < 1 and chosen["mean_span"] >= 1):
        raise GenerationError(_("learning_rate and density lie between 0 and 1, mean_span is at least 1."))
    if not 0 <= chosen["verb_share"] <= 1:
        raise GenerationError(_("verb_share is a share from 0 to 1."))
