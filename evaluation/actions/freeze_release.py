"""A release: the valid items of a project as they are now, frozen under the hash of their content."""

from django.db import transaction
from django.utils.translation import gettext as _

from corpus.models import Item, Release, ReleaseItem, Subtest
from corpus.release_records import hash_of
from corpus.rules.states import ItemState
from evaluation.errors import EvaluationError
from evaluation.snapshot import FrozenItem, frozen_items
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User

LONGEST_NAME = 120
ROWS_A_QUERY = 500


@transaction.atomic
def freeze_release(person: User | None, project: Project, *, name: str = "") -> Release:
    """Freeze all valid main items with their proficiency pairs. `person` None is the operator of the command line.

    The same content has the same hash: where it was frozen before, that release is the answer and nothing is stored.
    AccessDenied without the researcher's role; EvaluationError when nothing is valid yet or the name is taken.
    """
    if person is not None:
        require_role(person, project, Role.RESEARCHER)
    # Two freezes of one project queue up here, so that the second one finds the first.
    Project.objects.select_for_update().get(pk=project.pk)
    valid = Item.objects.filter(subtest__kind=Subtest.Kind.MAIN, state=ItemState.VALID)
    frozen = frozen_items(project, valid)
    if not frozen:
        raise EvaluationError(_("No item is valid yet, so there is nothing to release; let validators finish first."))
    content_hash = hash_of(one.record for one in frozen)
    known = Release.objects.filter(project=project, content_hash=content_hash).first()
    if known is not None:
        return known
    release = Release.objects.create(
        project=project,
        name=_checked_name(project, name),
        content_hash=content_hash,
        n_items=len(frozen),
        created_by=person,
    )
    ReleaseItem.objects.bulk_create(_members(release, frozen), batch_size=ROWS_A_QUERY)
    details = {"name": release.name, "content_hash": content_hash, "n_items": len(frozen)}
    audit.record(audit.event(project, person, "evaluation.freeze_release", release, **details))
    return release


def _members(release: Release, frozen: list[FrozenItem]) -> list[ReleaseItem]:
    return [
        ReleaseItem(release=release, item=one.item, video=one.item.video, position=position, record=one.record)
        for position, one in enumerate(frozen)
    ]


def _checked_name(project: Project, name: str) -> str:
    taken = set(Release.objects.filter(project=project).values_list("name", flat=True))
    wanted = name.strip()
    if not wanted:
        number = len(taken) + 1
        while f"release {number}" in taken:
            number += 1
        return f"release {number}"
    if len(wanted) > LONGEST_NAME or not wanted.isprintable():
        raise EvaluationError(
            _("The name of a release has at most %(most)d printable characters; shorten it.") % {"most": LONGEST_NAME}
        )
    if wanted in taken:
        raise EvaluationError(
            _("There is a release '%(name)s' with other content already; choose another name.") % {"name": wanted}
        )
    return wanted
