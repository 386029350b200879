"""Who may settle what validators left open, and how the reason is kept."""

import pytest

from annotation.rules.adjudication import MAX_REASON, settled_because, why_not_settle
from annotation.rules.eligibility import PersonFacts, PriorInvolvement, Refusal

HERE, BESIDE, ELSEWHERE = PriorInvolvement(1, 10), PriorInvolvement(1, 11), PriorInvolvement(2, 12)


@pytest.mark.parametrize(
    ("kind", "refusal"),
    [("made", Refusal.MADE_IT), ("reviewed", Refusal.REVIEWED_IT), ("judged", Refusal.JUDGED_IT), ("settled", None)],
)
def test_a_person_involved_in_the_video_may_not_adjudicate(kind, refusal):
    def said(hand: PriorInvolvement, scope: str) -> Refusal | None:
        return why_not_settle(PersonFacts(person=1, **{kind: frozenset({hand})}), HERE, scope)

    assert (said(HERE, "video"), said(HERE, "item")) == (refusal, refusal)
    assert (said(BESIDE, "video"), said(BESIDE, "item")) == (refusal, None)
    assert (said(ELSEWHERE, "video"), said(ELSEWHERE, "item")) == (None, None)


def test_one_involvement_among_several_is_enough():
    person = PersonFacts(person=1, reviewed=frozenset({ELSEWHERE, HERE}))
    assert why_not_settle(person, HERE, "video") == Refusal.REVIEWED_IT


def test_a_reason_is_its_codes_in_their_order_and_the_words():
    assert settled_because(["wording", "foil_true", "nonsense"], " it does both ") == "foil_true, wording: it does both"
    assert settled_because(["other"], "  ") == "other"
    assert settled_because([], "words alone") == "words alone"
    assert len(settled_because(["other"], "x" * 600)) == MAX_REASON == 500
