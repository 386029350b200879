"""What a valid item is told of with, where some of its foils dropped out."""

from dataclasses import replace

from evaluation.analyses.analysis_inputs import ItemFacts, valid_part

WHOLE = ItemFacts("i1", "s", "a dog runs.", ("a cat runs.", "a dog sits."), tallies=((3, 0, 0), (0, 3, 0)), valid=True)


def test_facts_of_a_valid_item_have_its_remaining_foils():
    left = replace(WHOLE, kept=("a cat runs.",), kept_tallies=((3, 0, 0),))
    (found,) = valid_part([left])
    assert (found.foils, found.tallies) == (("a cat runs.",), ((3, 0, 0),))


def test_facts_of_an_item_without_dropped_foils_are_complete():
    assert valid_part([WHOLE, replace(WHOLE, valid=False), replace(WHOLE, valid=None)]) == [WHOLE]
