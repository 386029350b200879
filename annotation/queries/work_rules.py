"""Whether the rules of a project's work can still change."""

from django.db.models import Q
from django.utils.translation import gettext as _

from annotation.models import Lease, Vote
from annotation.queries.eligibility import JUDGING
from foilworks.core.projects.models import Project


def why_scope_fixed(project: Project) -> str:
    """Return why the scope of the leakage rule can no longer change, or "". At most two queries."""
    shown = Lease.objects.filter(slot__project=project, slot__stage__in=JUDGING)
    own = Q(item__project=project) | Q(gold__project=project)
    # Votes of a file were cast elsewhere, under rules that nobody here can change.
    voted = Vote.objects.filter(own, source=Vote.Source.PERSON)
    if shown.exists() or voted.exists():
        return _(
            "Someone has already seen or judged a pair of this project, so this rule is fixed. Votes under two rules "
            "could not be compared. To use another rule, create another project."
        )
    return ""
