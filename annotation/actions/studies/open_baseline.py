"""A researcher opens the human baseline: people choose the caption among the texts of an item."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import Stage, Task, TaskState
from annotation.rules.baseline import MAX_TEXTS, drawn
from annotation.transactions import lock_rows, run_in_transaction, serialize_writes
from corpus.models import DROPPED_OUT, WATCHABLE, Foil, Item, Release, ReleaseItem, Subtest
from corpus.rules.states import ItemState
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User

MAX_OVERLAP = 15


def open_baseline(
    person: User,
    project: Project,
    *,
    release: Release | None = None,
    subtest: Subtest | None = None,
    size: int | None = None,
    overlap: int = 1,
    seed: int = 0,
    now: datetime | None = None,
) -> int:
    """Ask for the human baseline on `size` items (all without it) drawn by `seed`; how many are asked for anew.

    The items are those of the release, or the project's valid ones; without a subtest those of its main subtests.
    Each is asked of `overlap` people (3 for a majority), with the foils that it has now, in the release or by its
    verdicts: a choice among two to nine texts, the same for all of them. Items asked for before stay as they are.
    AnnotationError where there is nothing to ask for.
    """
    require_role(person, project, Role.RESEARCHER)
    if (size is not None and size < 1) or not 1 <= overlap <= MAX_OVERLAP:
        raise AnnotationError(
            _("Ask for at least one item, and for 1 to %(most)s people an item.") % {"most": MAX_OVERLAP}
        )
    if any(each is not None and each.project_id != project.pk for each in (release, subtest)):
        raise AnnotationError(_("Choose a release and a subtest of this project."))
    items = baseline_items(project, release, subtest)
    return run_in_transaction(
        lambda: _open(person, project, items, size, overlap, seed, now or timezone.now(), release)
    )


def baseline_items(project: Project, release: Release | None, subtest: Subtest | None) -> QuerySet[Item]:
    """The items that can be asked about: accepted, with a video to watch."""
    items = Item.objects.filter(subtest__project=project, video__media_state__in=WATCHABLE)
    if release is not None:
        items = items.filter(released_as__release=release).exclude(state__in=[ItemState.RETRACTED, ItemState.REQUEUED])
    else:
        items = items.filter(state=ItemState.VALID)
    return items.filter(subtest=subtest) if subtest else items.filter(subtest__kind=Subtest.Kind.MAIN)


def _open(
    person: User,
    project: Project,
    items: QuerySet[Item],
    size: int | None,
    overlap: int,
    seed: int,
    now: datetime,
    release: Release | None,
) -> int:
    serialize_writes(project)
    sample = drawn(list(items.order_by("pk").values_list("pk", flat=True)), size, seed)
    if not sample:
        raise AnnotationError(_("There is no valid item with a video to ask about; have items validated first."))
    asked = Task.objects.filter(stage=Stage.BASELINE, project=project).exclude(state=TaskState.CANCELLED)
    known = set(asked.values_list("item_id", flat=True))
    fresh = [pk for pk in sample if pk not in known]
    # Who takes one of them out waits, and calls off what is stored here; or was waited for, and it is no longer there.
    lock_rows(Item.objects.filter(pk__in=fresh))
    rows = items.in_bulk(fresh)
    foils = _foils_asked([pk for pk in fresh if pk in rows], release)
    tasks = [
        Task(
            project=project,
            stage=Stage.BASELINE,
            video_id=rows[pk].video_id,
            item=rows[pk],
            overlap=overlap,
            foils_asked=foils[pk],
        )
        for pk in fresh
        if 1 <= len(foils[pk]) < MAX_TEXTS
    ]
    task_slots.store(tasks)
    details = {"sample": len(sample), "overlap": overlap, "seed": seed, "release": release.pk if release else None}
    audit.record(audit.event(project, person, "open_baseline", project, opened=len(tasks), **details))
    return len(tasks)


def _foils_asked(items: Sequence[int], release: Release | None) -> dict[int, list[int]]:
    """The foils of each that the release holds, whatever was voted since; without one those that stand now."""
    foils = Foil.objects.filter(item__in=items).order_by("item_id", "position")
    frozen: dict[int, list[int]] = {}
    if release is None:
        foils = foils.exclude(DROPPED_OUT)
    else:
        members = ReleaseItem.objects.filter(release=release, item__in=items)
        frozen = dict(members.values_list("item_id", "record__foil_positions"))
    found: dict[int, list[int]] = defaultdict(list)
    for item, position, pk in foils.values_list("item_id", "position", "pk"):
        if release is None or position in frozen[item]:
            found[item].append(pk)
    return found
