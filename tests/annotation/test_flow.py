import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.flow import GroupFacts, NextWork, next_work, texts_wanted

CASES = {
    "suggestions wait": (GroupFacts(1, claimable=3, suggestions=3), NextWork(edit=True)),
    "one is in review": (GroupFacts(1, in_review=1, claimable=2, suggestions=3), NextWork(reviews=1)),
    "more are in review than are missing": (GroupFacts(1, in_review=4, suggestions=4), NextWork(reviews=1)),
    "the only one is accepted": (GroupFacts(1, accepted=1, suggestions=3), NextWork(assemble=True)),
    "two of five in review, one returned": (
        GroupFacts(5, accepted=2, in_review=2, claimable=1, suggestions=6),
        NextWork(reviews=2, edit=True),
    ),
    "somebody is editing": (GroupFacts(1, editing=2, suggestions=2), NextWork(edit=True)),
    "nothing survived the filters": (GroupFacts(1), NextWork()),
    "a person writes them all": (GroupFacts(5, by_person=True), NextWork(edit=True)),
    "fewer suggestions than foils": (GroupFacts(5, in_review=1, suggestions=1), NextWork(reviews=1, edit=True)),
    "all suggestions dropped": (GroupFacts(1, suggestions=2), NextWork()),
    "all suggestions dropped, as many as foils": (GroupFacts(2, suggestions=2), NextWork()),
    "one accepted, suggestions used up": (GroupFacts(5, accepted=1, suggestions=6), NextWork(edit=True)),
    "some accepted, suggestions used up": (GroupFacts(5, accepted=3, suggestions=6), NextWork(edit=True)),
    "the same without an edit stage": (GroupFacts(5, accepted=3, suggestions=6, edit_stage=False), NextWork()),
    "returned without an edit stage": (
        GroupFacts(1, claimable=1, suggestions=1, edit_stage=False),
        NextWork(edit=True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_group_needs_next(name):
    facts, expected = CASES[name]
    assert next_work(facts) == expected


def test_an_edit_brings_what_is_neither_accepted_nor_in_review():
    assert texts_wanted(GroupFacts(5, accepted=2, in_review=1)) == 2
    assert texts_wanted(GroupFacts(1, in_review=3)) == 0


counts = st.integers(0, 6)
facts = st.builds(
    GroupFacts,
    st.integers(1, 6),
    counts,
    counts,
    counts,
    counts,
    counts,
    by_person=st.booleans(),
    edit_stage=st.booleans(),
)


@given(facts)
def test_never_more_reviews_than_missing_foils_and_never_an_edit_that_brings_nothing(group):
    needed = next_work(group)
    assert needed.reviews <= max(0, group.wanted - group.accepted)
    assert needed.reviews <= group.in_review
    if needed.edit:
        assert texts_wanted(group) > 0
    assert needed.assemble == (group.accepted >= group.wanted)
