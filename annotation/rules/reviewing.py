"""Why a reviewer returns or drops a foil, as codes that reports can count. Pure; the text is in annotation.messages."""

from collections.abc import Iterable

from annotation.rules.ordering import seeded_share

ACCEPT, SEND_BACK, DROP, FIX = "accept", "send_back", "drop", "fix"
DECISIONS = (ACCEPT, SEND_BACK, DROP, FIX)
# Rejected work is stored with a reason, so these decisions need one.
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
    """Return the codes that are not in REASONS, in the given order."""
    return [reason for reason in reasons if reason not in REASONS]


def in_table_order(reasons: Iterable[str]) -> list[str]:
    """Return the codes, each once, in the order of REASONS."""
    reason_set = set(reasons)
    return [reason for reason in REASONS if reason in reason_set]


def drawn_for_review(seed: object, candidate: int, rate: float) -> bool:
    """Return whether a reviewer sees the candidate, if `rate` of its author's work is reviewed (0..1).

    The seed is secret, or an author could tell which of their work nobody looks at. The same seed and candidate give
    the same answer, and a higher rate keeps what a lower one drew.
    """
    return seeded_share(seed, "reviewed", candidate) < rate


def drawn_for_a_second(seed: object, candidate: int, share: float) -> bool:
    """Return whether a second reviewer decides on the candidate as well, if `share` of the reviews is done twice."""
    return seeded_share(seed, "reviewed twice", candidate) < share
