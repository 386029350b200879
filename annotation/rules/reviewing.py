"""Why a reviewer returns or drops a foil, as codes that reports can count. Pure; words are in annotation.messages."""

from collections.abc import Iterable

ACCEPT, SEND_BACK, DROP, FIX = "accept", "send_back", "drop", "fix"
DECISIONS = (ACCEPT, SEND_BACK, DROP, FIX)
# Rejected work stays, with the reason: these decisions need one.
NEED_REASONS = frozenset({SEND_BACK, DROP})

REASONS = (
    "still_true",
    "not_minimal",
    "implausible",
    "grammar",
    "other_entity_changed",
    "off_guideline",
    "other",
)
MAX_COMMENT = 2_000


def unknown_reasons(reasons: Iterable[str]) -> list[str]:
    """The codes that are not in REASONS, in the order given."""
    return [reason for reason in reasons if reason not in REASONS]


def in_table_order(reasons: Iterable[str]) -> list[str]:
    """The codes once each, in the order of REASONS."""
    given = set(reasons)
    return [reason for reason in REASONS if reason in given]
