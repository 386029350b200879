"""What a project's owner allowed for a model, as loading takes it."""

from evaluation.scoring.models import ModelTrust
from hub.adapters.registry import trusted_name
from hub.interfaces import Trust
from projects.models import Project


def trust_of(project: Project, spec: str) -> Trust:
    """Nothing where nobody allowed anything."""
    found = ModelTrust.objects.filter(project=project, name=trusted_name(spec)).first()
    return Trust(found.remote_code, found.other_weights) if found is not None else Trust()
