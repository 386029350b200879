"""Items that were imported as published, which are valid until votes decide.

See docs/workflow.md#as-published.
"""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.actions.workflow import task_slots
from annotation.actions.workflow.transitions import move_items
from annotation.errors import AnnotationError
from annotation.models import Lease, Slot, Stage, Task, Vote, VoteState
from annotation.rules.baseline import drawn
from annotation.transactions import lock_rows, run_in_transaction, serialize_writes
from foilworks.core.corpus.models import PUBLISHERS_WORD, WATCHABLE, Foil, Item, Subtest
from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

CHUNK = 500


def mark_as_published(project: Project, actor: User | None, items: Sequence[Item]) -> None:
    """Mark items as those of a published set; the caller has locked their rows.

    Decisions by votes stay. An item that waits for votes leaves validation, unless somebody has already seen it.
    """
    for start in range(0, len(items), CHUNK):
        batch = items[start : start + CHUNK]
        marked = Item.objects.filter(pk__in=[item.pk for item in batch])
        marked.update(as_published=True)
        votes = Vote.objects.filter(item=OuterRef("pk"), stage=Stage.VALIDATION, state=VoteState.COUNTED)
        # The subtest asks for no votes.
        marked.filter(~Exists(votes), state=ItemState.VALID).update(decided_at=None)
        waiting_items = [item for item in batch if item.state == ItemState.IN_VALIDATION]
        slots = Slot.objects.filter(item__in=waiting_items, stage=Stage.VALIDATION)
        # A parallel claim has its lease before this returns.
        lock_rows(slots)
        seen_item_ids = set(Lease.objects.filter(slot__in=slots).values_list("slot__item", flat=True))
        unseen_items = [item for item in waiting_items if item.pk not in seen_item_ids]
        Task.objects.filter(item__in=unseen_items, stage=Stage.VALIDATION).delete()
        Foil.objects.filter(item__in=unseen_items).update(verdict=FoilVerdict.VALID)
        move_items(unseen_items, "take_publishers_word", project, actor)


def items_without_votes(subtest: Subtest) -> QuerySet[Item]:
    """Return the subtest's items that `collect_votes` could ask about."""
    rows = Item.objects.filter(PUBLISHERS_WORD, subtest=subtest, state=ItemState.VALID)
    return rows.filter(video__media_state__in=WATCHABLE)


def collect_votes(person: User | None, subtest: Subtest, *, size: int | None = None, seed: int = 0) -> int:
    """Collect votes on items that were imported as published; return how many items.

    `size`: the size of a sample drawn by `seed`; None: all items. They count as valid until their votes decide.
    `person` None is the operator. AccessDenied without the researcher's role; AnnotationError: the subtest asks for no
    votes, or no item has a clip that people can watch.
    """
    if person is not None:
        require_role(person, subtest.project, Role.RESEARCHER)
    if size is not None and size < 1:
        raise AnnotationError(_("Choose at least one item."))
    return run_in_transaction(lambda: _collect(person, subtest, size, seed))


def _collect(person: User | None, unlocked_subtest: Subtest, size: int | None, seed: int) -> int:
    project = unlocked_subtest.project
    serialize_writes(project)
    subtest = Subtest.objects.select_for_update(of=("self",), no_key=True).get(pk=unlocked_subtest.pk)
    if not subtest.votes_wanted:
        raise AnnotationError(
            _("This subtest requires no votes. Require at least one vote per pair, then collect votes.")
        )
    keys = drawn(list(items_without_votes(subtest).values_list("pk", flat=True)), size, seed)
    if not keys:
        raise AnnotationError(_("No item that was imported as published has a clip to watch. Attach the videos first."))
    for start in range(0, len(keys), CHUNK):
        batch = Item.objects.filter(PUBLISHERS_WORD, pk__in=keys[start : start + CHUNK], state=ItemState.VALID)
        lock_rows(batch)
        items = list(batch.prefetch_related("foils").order_by("pk"))
        Foil.objects.filter(item__in=items).update(verdict=FoilVerdict.PENDING)
        move_items(items, "collect_votes", project, person)
        pairs = (task_slots.validation_tasks(project, item, item.foils.all(), subtest.votes_wanted) for item in items)
        task_slots.store([task for tasks in pairs for task in tasks])
    details = {"items": len(keys), "size": size, "seed": seed}
    audit.record(audit.event(project, person, "collect_votes", subtest, **details))
    return len(keys)
