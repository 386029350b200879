"""A model's own code and weights that are no safetensors, allowed or not, for one model in one project."""

from django.db import transaction

from evaluation.scoring.actions.start_run import checked_spec
from evaluation.scoring.models import ModelTrust
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User
from text.registry import Entry, load

# By its path: actions must not import hub, and its table of adapters loads no model library.
TRUSTED_NAME = Entry("what a permission is for", "hub.adapters.registry:trusted_name")


@transaction.atomic
def trust_model(
    person: User | None, project: Project, spec: str, *, remote_code: bool = False, other_weights: bool = False
) -> ModelTrust:
    """Allow exactly what is named for the model of `spec`, and nothing else; `person` None is the operator.

    AccessDenied without the researcher's role; HubError for a spec that names no model.
    """
    require_researcher(person, project)
    # As a run stores it: a local folder by its whole path.
    name = load(TRUSTED_NAME)(":".join(checked_spec(spec, from_page=person is not None)))
    allows = {"remote_code": remote_code, "other_weights": other_weights}
    found, _made = ModelTrust.objects.update_or_create(
        project=project, name=name, defaults={**allows, "changed_by": person}
    )
    audit.record(audit.event(project, person, "evaluation.trust_model", found, model=name, **allows))
    return found
