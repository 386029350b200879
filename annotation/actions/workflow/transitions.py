"""The only code that changes the state of a candidate or an item: guard, compare-and-swap, audit row."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from django.utils.translation import gettext as _

from annotation.errors import Conflict
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import next_candidate_state, next_item_state
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Project, User
from foilworks.core.projects.sql.prepared_queries import PreparedUpdate
from generation.models import Candidate

_DECISION = {"state", "decided_at", "unanimous"}


def move_candidates(
    candidates: Iterable[Candidate], move: str, project: Project, actor: User | None, reason: str = "", **also: Any
) -> None:
    """Move each candidate, in the table and in memory; `also` sets further columns. Raises IllegalMove or Conflict."""
    by_state: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_state.setdefault(candidate.state, []).append(candidate)
    events = []
    for old, group in by_state.items():
        new = next_candidate_state(old, move)
        if _store_candidates(group, old, {"state": new, **also}) != len(group):
            raise Conflict(_("Someone else has just changed this. Reload the page to see the current state."))
        for candidate in group:
            candidate.state = new
            for name, value in also.items():
                setattr(candidate, name, value)
            events.append(audit.event(project, actor, move, candidate, from_state=old, to_state=new, reason=reason))
    audit.record_many(events)


def _store_candidates(candidates: Sequence[Candidate], old: str, changes: dict[str, Any]) -> int:
    """Change the candidates that are still `old`; return their number. Most moves are of one, as in a review."""
    if len(candidates) == 1 and all(isinstance(value, str) for value in changes.values()):
        return _changed(tuple(changes))(candidate=candidates[0].pk, old=old, **changes)
    return Candidate.objects.filter(pk__in=[c.pk for c in candidates], state=old).update(**changes)


@cache
def _changed(columns: tuple[str, ...]) -> PreparedUpdate:
    return PreparedUpdate(
        lambda candidate, old, **changes: (
            Candidate.objects.filter(pk=candidate, state=old),
            {name: changes[name] for name in columns},
        )
    )


def move_items(items: Sequence[Item], move: str, project: Project, actor: User | None, reason: str = "") -> None:
    """Move items from one state to another, in the table and in memory. The caller has locked their rows."""
    if not items:
        return
    (old,) = {item.state for item in items}
    new = next_item_state(old, move)
    if Item.objects.filter(pk__in=[item.pk for item in items], state=old).update(state=new) != len(items):
        raise Conflict(_("Someone else has just changed one of these items. Try again."))
    for item in items:
        item.state = new
    audit.record_many(
        audit.event(project, actor, move, item, from_state=old, to_state=new, reason=reason) for item in items
    )


def move_item(
    item: Item,
    move: str,
    project: Project,
    actor: User | None,
    *,
    outcome: str | None = None,
    also: dict[str, Any] | None = None,
    events: Iterable[AuditEvent] = (),
    **details: Any,
) -> None:
    """Move the item, in the table and in memory; `also` sets further columns. Raises IllegalMove or Conflict.

    The caller has locked the item's row. `events`: audit rows that are stored together with this one.
    """
    old = item.state
    new = next_item_state(old, move, outcome)
    changes = {"state": new, **(also or {})}
    # If nothing changes, the caller's lock on the row is enough.
    if (new != old or also) and _store(item.pk, old, changes) != 1:
        raise Conflict(_("Someone else has just changed this item. Reload the page to see its current state."))
    for name, value in changes.items():
        setattr(item, name, value)
    moved = audit.event(project, actor, move, item, from_state=old, to_state=new, **details)
    audit.record(*events, moved)


def _store(item: int, old: str, changes: dict[str, Any]) -> int:
    """Change the item if its state is still `old`; return how many rows were changed.

    The decision by votes is by far the most frequent change.
    """
    if changes.keys() != _DECISION or changes["decided_at"] is None:
        return Item.objects.filter(pk=item, state=old).update(**changes)
    return _decided(changes["unanimous"])(item=item, old=old, new=changes["state"], at=changes["decided_at"])


@cache
def _decided(unanimous: bool | None) -> PreparedUpdate:
    return PreparedUpdate(
        lambda item, old, new, at: (
            Item.objects.filter(pk=item, state=old),
            {"state": new, "decided_at": at, "unanimous": unanimous},
        )
    )
