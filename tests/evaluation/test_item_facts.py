"""What a valid item is told of with, where some of its foils dropped out."""

from dataclasses import replace

from evaluation.analyses.records import ItemFacts, valid_part

WHOLE = ItemFacts("i1", "s", "a dog runs.", ("a cat runs.", "a dog sits."), tallies=((3, 0, 0), (0, 3, 0)), valid=True)


def test_a_valid_item_is_told_of_with_the_foils_that_it_is_left_with():
    left = replace(WHOLE, kept=("a cat runs.",), kept_tallies=((3, 0, 0),))
    (found,) = valid_part([left])
    assert (found.foils, found.tallies) == (("a cat runs.",), ((3, 0, 0),))


def test_an_item_without_dropped_foils_is_told_of_whole_and_others_not_at_all():
    assert valid_part([WHOLE, replace(WHOLE, valid=False), replace(WHOLE, valid=None)]) == [WHOLE]
