"""The project's rules of quality and a person's standing under them, made where they are missing."""

from annotation.actions.quality.standings import locked
from annotation.models import QualityPolicy, Standing
from annotation.transactions import serialize_writes
from projects.models import Project, User


def policy_of(project: Project) -> QualityPolicy:
    """The policy, locked; a new one asks for nothing."""
    pk = QualityPolicy.objects.get_or_create(project=project)[0].pk
    return QualityPolicy.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=pk)


def standing_of(person: User, project: Project) -> Standing:
    """The person's standing, locked, with its policy and project; what they send and undo waits."""
    serialize_writes(person)
    policy, _made = QualityPolicy.objects.get_or_create(project=project)
    standing, _made = Standing.objects.get_or_create(policy=policy, person=person)
    found = locked(standing.pk)
    assert found is not None
    return found
