"""Say what a person did in one phrase per action of the audit trail, to read after the person's name.

Each room declares the phrases of its actions in its `declarations.py`.
"""

from collections.abc import Collection
from functools import cache
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _now

from foilworks.core.rooms import declared


@cache
def _sentences() -> dict[str, Promise]:
    """Return what each room declares in SENTENCES and WORK_SENTENCES."""
    return {**declared("WORK_SENTENCES"), **declared("SENTENCES")}


def phrase(action: str) -> str | Promise:
    """Return what the person did, after their name; an empty string if the action has no phrase."""
    return _sentences().get(action, "")


def work_actions() -> Collection[str]:
    """Return the actions that are work on a single item; the trail has many such rows for each change of a setting."""
    return declared("WORK_SENTENCES").keys()


def actions_said_with(text: str) -> list[str]:
    """Return the actions whose phrase contains the text, in the reader's language."""
    return [action for action, words in _sentences().items() if text.casefold() in str(words).casefold()]


def detail_words(details: dict[str, Any]) -> str:
    """Return the facts of a row in short: what changed as "before → after", then the other facts."""
    other_facts = {name: value for name, value in details.items() if name not in {"before", *AFTER}}
    before, after = details.get("before"), next((details[name] for name in AFTER if name in details), other_facts)
    changed = ""
    if isinstance(before, dict) and isinstance(after, dict):
        other_facts = {name: value for name, value in other_facts.items() if name not in before}
        pairs = [(name, old, after[name]) for name, old in before.items() if name in after and after[name] != old]
        changed = ", ".join(
            ONE_CHANGE.format(_field_words(name), _value_words(old), _value_words(new)) for name, old, new in pairs
        )
    elif before is not None and after is not other_facts:
        changed = CHANGE.format(_value_words(before), _value_words(after))
    facts = ", ".join(
        FACT.format(_field_words(name), _value_words(value))
        for name, value in other_facts.items()
        if not _is_empty(value)
    )
    return "; ".join(phrase for phrase in (changed, facts) if phrase)


# Where a row holds what replaced "before"; the other facts else.
AFTER = ("after", "rules", "rule")
CHANGE, ONE_CHANGE, FACT = "{} → {}", "{}: {} → {}", "{}: {}"


def _field_words(name: str) -> str:
    return name.replace("_", " ")


def _is_empty(value: Any) -> bool:
    return value in ("", None, [], {}, [""])


def _value_words(value: Any) -> str:
    if isinstance(value, bool):
        return _now("yes") if value else _now("no")
    if isinstance(value, dict):
        return ", ".join(FACT.format(_field_words(str(name)), _value_words(element)) for name, element in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value_words(element) for element in value)
    return "–" if value in ("", None) else str(value)
