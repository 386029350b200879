"""Decide who may adjudicate a disputed item, and word the reason. Pure.

An uninvolved person adjudicates: nobody who made, reviewed or judged anything on the video.
"""

from annotation.rules.eligibility import PersonFacts, PriorInvolvement, Refusal

REASONS = ("foil_false", "foil_true", "caption_false", "not_visible", "wording", "other")
MAX_REASON = 500


def why_not_settle(person: PersonFacts, hand: PriorInvolvement, scope: str) -> Refusal | None:
    """Return why the person may not adjudicate an item behind `hand`, or None. `scope`: "video" or "item"."""
    hands = (
        (Refusal.MADE_IT, person.made),
        (Refusal.REVIEWED_IT, person.reviewed),
        (Refusal.JUDGED_IT, person.judged),
    )
    for refusal, involvements in hands:
        if any(
            involvement == hand if scope == "item" else involvement.video == hand.video for involvement in involvements
        ):
            return refusal
    return None


def settled_because(reasons: list[str], comment: str) -> str:
    """Return the stored reason: codes that reports can count, in the order of REASONS, then free text.

    >>> settled_because(["wording", "foil_true"], "it does both")
    'foil_true, wording: it does both'
    """
    codes = ", ".join(code for code in REASONS if code in reasons)
    return ": ".join(text for text in (codes, comment.strip()) if text)[:MAX_REASON]
