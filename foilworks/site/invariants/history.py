"""The audit trail leads to each row's state by legal moves only (docs/reference/states.md#state-machines)."""

from collections.abc import Iterator

from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import CANDIDATE_MOVES, ITEM_MOVES, Move, current_word
from foilworks.core.projects.audit_trail.sealing import check_trail
from foilworks.core.projects.models import AuditEvent, AuditSeal
from foilworks.site.invariants.violation import InvariantViolation, name_of
from generation.models import Candidate

# The item's row is deleted; its trail ends there.
DELETED = "take_apart"


def candidates_came_by_legal_moves() -> Iterator[InvariantViolation]:
    yield from _walk(Candidate, CANDIDATE_MOVES)


def items_came_by_legal_moves() -> Iterator[InvariantViolation]:
    yield from _walk(Item, ITEM_MOVES)


def sealed_audit_rows_are_unchanged() -> Iterator[InvariantViolation]:
    if difference := check_trail().difference:
        yield InvariantViolation(AuditSeal._meta.label_lower, difference)


def _walk(model: type[Candidate] | type[Item], moves: dict[str, Move]) -> Iterator[InvariantViolation]:
    legal = {(origin, target) for move in moves.values() for origin in move.origins for target in move.to}
    states = {str(pk): state for pk, state in model.objects.values_list("pk", "state").iterator()}
    last: dict[str, str] = {}
    trail = AuditEvent.objects.filter(target_type=model._meta.label_lower).exclude(action=DELETED).order_by("pk")
    for pk, *words in trail.values_list("target_id", "from_state", "to_state").iterator():
        origin, target = map(current_word, words)
        if pk not in states:
            continue
        if origin and (origin, target) not in legal:
            yield InvariantViolation(name_of(model, pk), f"went from {origin} to {target}, which is not a legal move")
        if pk in last and origin != last[pk]:
            yield InvariantViolation(name_of(model, pk), f"left {origin or 'nothing'}, but was in {last[pk]}")
        last[pk] = target
    for pk, target in last.items():
        if states[pk] != target:
            yield InvariantViolation(name_of(model, pk), f"is {states[pk]}; its trail ends in {target}")
