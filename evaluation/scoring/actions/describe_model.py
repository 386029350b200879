"""A model's card, written or changed."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.model_cards import FIELDS
from evaluation.scoring.models import ModelCard, Run
from projects import audit
from projects.access import require_role
from projects.models import Role, User


@transaction.atomic
def describe_model(person: User, run: Run, **fields: Any) -> ModelCard:
    """Set the card of the model that `run` scored, in the run's project; fields of ModelCard by name.

    AccessDenied without the researcher's role; EvaluationError while the run has not said which model it is.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if not run.model_key:
        raise EvaluationError(_("The run has not loaded its model yet; describe it once the first scores are there."))
    unknown = set(fields) - set(FIELDS)
    if unknown:
        raise EvaluationError(f"a model card has no field {', '.join(sorted(unknown))}; it has: {', '.join(FIELDS)}")
    card, _made = ModelCard.objects.update_or_create(project=project, model_key=run.model_key, defaults=fields)
    audit.record(audit.event(project, person, "evaluation.describe_model", card, model_key=run.model_key))
    return card
