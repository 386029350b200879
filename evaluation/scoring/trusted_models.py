"""Return what a project's owner permits for a model, as loading takes it."""

from evaluation.scoring.models import ModelTrust
from foilworks.core.hub.catalogue.specs import trusted_name
from foilworks.core.hub.interfaces import Trust
from foilworks.core.projects.models import Project


def trust_of(project: Project, spec: str) -> Trust:
    """Return an empty set if nobody permitted anything."""
    permission = ModelTrust.objects.filter(project=project, name=trusted_name(spec)).first()
    return Trust(permission.remote_code, permission.other_weights) if permission is not None else Trust()
