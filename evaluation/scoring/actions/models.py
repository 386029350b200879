"""Describe a model on its card; trust a model's code."""

from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.model_cards import FIELDS
from evaluation.scoring.models import ModelCard, ModelTrust, Run
from evaluation.scoring.run_request import RUNS_OR_READS, checked_spec
from foilworks.core.hub.catalogue.specs import trusted_name
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

# A name that ends so is a file of weights, never a model on the Hugging Face Hub.
WEIGHT_FILES = ("*.bin", "*.bin.*", "*.pt", "*.safetensors")


@transaction.atomic
def describe_model(person: User, run: Run, **fields: Any) -> ModelCard:
    """Set the card of the model that `run` scored, in the run's project; fields of ModelCard by name.

    AccessDenied without the researcher's role; EvaluationError if the run has not loaded its model yet.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if not run.model_key:
        raise EvaluationError(_("The run has not loaded its model yet. Add the model card after the first scores."))
    unknown = set(fields) - set(FIELDS)
    if unknown:
        raise EvaluationError(f"a model card has no field {', '.join(sorted(unknown))}; it has: {', '.join(FIELDS)}")
    card, _made = ModelCard.objects.update_or_create(project=project, model_key=run.model_key, defaults=fields)
    audit.record(audit.event(project, person, "evaluation.describe_model", card, model_key=run.model_key))
    return card


@transaction.atomic
def trust_model(
    person: User | None, project: Project, spec: str, *, remote_code: bool = False, other_weights: bool = False
) -> ModelTrust:
    """Permit only the named actions for the model of `spec`; `person` None is the operator.

    AccessDenied without the researcher's role; HubError if the spec names no model; EvaluationError if it names a file
    or folder that does not exist, unless all permissions are withdrawn.
    """
    require_researcher(person, project)
    # As a run stores it: a local folder by its absolute path.
    slug, argument = checked_spec(spec, project if person is not None else None)
    if remote_code or other_weights:
        _require_existing(slug, argument.partition("?")[0])
    name = trusted_name(f"{slug}:{argument}")
    allows = {"remote_code": remote_code, "other_weights": other_weights}
    trust, _made = ModelTrust.objects.update_or_create(
        project=project, name=name, defaults={**allows, "changed_by": person}
    )
    audit.record(audit.event(project, person, "evaluation.trust_model", trust, model=name, **allows))
    return trust


def _require_existing(slug: str, name: str) -> None:
    """Raise EvaluationError for a path that leads nowhere. A Hub ID has at most one slash: OWNER/MODEL."""
    path = Path(name)
    is_path = slug in RUNS_OR_READS or name.startswith((".", "~", "/")) or name.count("/") > 1
    if (is_path or any(path.match(kind) for kind in WEIGHT_FILES)) and not path.exists():
        raise EvaluationError(
            f"{path.absolute()}: there is no such file or folder; check the path, and give the permission on the host "
            "that has the model"
        )
