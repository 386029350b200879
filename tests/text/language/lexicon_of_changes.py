"""Check the rows of the lexicon of changes of state."""

from foilworks.core.text.language.change_of_state import BOTH, INTRANSITIVE, TRANSITIVE, TUPLES, StateChange
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.verb_forms import verb_readings

OBJECT_TYPES = frozenset(
    {
        "opening",
        "container",
        "garment",
        "cloth",
        "device",
        "connector",
        "fastener",
        "food",
        "liquid",
        "surface",
        "thing",
        "person",
        "structure",
        "inflatable",
        "vehicle",
        "rope",
        "part",
        "insertable",
        "spreadable",
    }
)
# Adjectives that the lexicon does not list as adjectives.
MORE_STATES = frozenset({"visible"})


def lint(entries: tuple[StateChange, ...] = TUPLES) -> list[str]:
    """Check the rows: return one sentence per problem."""
    rows = {(entry.pre, entry.verb, entry.post, entry.reverse) for entry in entries}
    problems = []
    for entry in entries:
        name = f"<{entry.pre}, {entry.verb}, {entry.post}, {entry.reverse or '-'}>"
        if entry.pre == entry.post:
            problems.append(f"{name}: the states before and after are the same")
        if entry.reverse == entry.verb:
            problems.append(f"{name}: the verb is its own reverse")
        problems += [
            f"{name}: {state!r} is not a participle, adjective or place"
            for state in (entry.pre, entry.post)
            if not _is_state(state)
        ]
        if entry.reverse and (entry.post, entry.reverse, entry.pre, entry.verb) not in rows:
            problems.append(f"{name}: its reverse is missing")
        if not entry.reverse and not entry.stand_in:
            problems.append(f"{name}: neither a reverse nor a stand-in")
        if entry.object_type not in OBJECT_TYPES:
            problems.append(f"{name}: {entry.object_type!r} is not a type of object")
        if entry.transitivity not in (TRANSITIVE, INTRANSITIVE, BOTH):
            problems.append(f"{name}: {entry.transitivity!r} is not a transitivity")
    return problems


def _is_state(state: str) -> bool:
    """Return whether it fits "it is …": an adjective, a participle or a place, but not another verb form."""
    first = state.partition(" ")[0]
    if first in ("in", "on", "off", "out", "under", "down", "up", "inside", "outside", "higher", "lower"):
        return True
    tags = {tag for _, tag in verb_readings(first)}
    lemmas_by_part = lemmas(first)
    if tags and "VBN" not in tags and "VBG" not in tags:
        return "ADJ" in lemmas_by_part
    return bool(tags) or "ADJ" in lemmas_by_part or not lemmas_by_part or first in MORE_STATES
