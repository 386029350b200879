"""List the members of a project that match the filters, and describe one of them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from annotation.models import Slot, SlotState, Stage, Standing
from annotation.models.stages import public_stage
from foilworks.core.projects.actions.members import unused_accounts
from foilworks.core.projects.listing.keyset import Order
from foilworks.core.projects.models import Membership, Project, User

# Of the index of (project, person): people are numbered in the order in which their accounts were created.
MEMBER_ORDERS = (
    Order("newest", _("Newest account"), ("person_id",), descending=True),
    Order("oldest", _("Oldest account"), ("person_id",)),
)


def narrowed_members(project: Project, chosen: Mapping[str, Any]) -> QuerySet[Membership]:
    """Return one membership per person of the project that matches MemberFilter."""
    here = Membership.objects.filter(project=project)
    if role := chosen.get("role"):
        members = here.filter(role=role)
    else:
        # Of a person's roles, the first one.
        members = here.exclude(Exists(here.filter(person=OuterRef("person"), role__lt=OuterRef("role"))))
    if text := chosen.get("q"):
        names = ("username", "first_name", "last_name")
        members = members.filter(Q.create([(f"person__{name}__icontains", text) for name in names], connector=Q.OR))
    if chosen.get("paused"):
        members = members.filter(Exists(_standings(project).filter(state=Standing.State.PAUSED)))
    return members


def shown_members(project: Project, members: QuerySet[Membership]) -> QuerySet[Membership]:
    """Add what a row shows: the person with all roles, tasks, gold so far, pauses and unused accounts.

    The numbers are those of the project. `gold_seen` and `gold_right` count since the last pause.
    """
    slots = Slot.objects.filter(project=project, person=OuterRef("person"))
    roles = Membership.objects.filter(project=project).order_by("pk")
    return (
        members.select_related("person")
        .prefetch_related(Prefetch("person__memberships", roles, to_attr="here"))
        .annotate(
            in_hand=_number(slots.filter(state=SlotState.LEASED)),
            n_done=_number(slots.filter(state=SlotState.DONE)),
            last_active=Subquery(slots.order_by().values("person").values(at=Max("leased_at"))),
            gold_seen=_standing(project, "gold_seen"),
            gold_right=_standing(project, "gold_right"),
            standing=_standing(project, "state"),
            may_renew=Exists(unused_accounts(project).filter(pk=OuterRef("person"))),
        )
    )


def tasks_by_stage(project: Project, person: User) -> list[tuple[Any, int]]:
    """Return (stage, completed tasks) in the order of the stages, without those at which the person did nothing."""
    done = Slot.objects.filter(project=project, person=person, state=SlotState.DONE).order_by()
    counts: dict[str, int] = {}
    for stage, n in done.values_list("stage").annotate(n=Count("pk")):
        counts[public_stage(stage)] = counts.get(public_stage(stage), 0) + n
    return [(stage.label, counts[stage]) for stage in Stage if stage in counts]


def _standings(project: Project) -> QuerySet[Standing]:
    return Standing.objects.filter(policy__project=project, person=OuterRef("person"))


def _standing(project: Project, name: str) -> Subquery:
    return Subquery(_standings(project).values(name)[:1])


def _number(slots: QuerySet[Slot]) -> Coalesce:
    return Coalesce(Subquery(slots.order_by().values("person").values(n=Count("pk"))), 0)
