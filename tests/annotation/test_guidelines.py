from annotation.rules.guidelines import Block, parse_guideline

P, GOOD, BAD = Block.PARAGRAPH, Block.GOOD, Block.BAD


def test_lines_of_a_paragraph_are_joined_and_an_empty_line_ends_it():
    assert parse_guideline("Change as little\nas you can.\n\nKeep entities.") == [
        (P, "Change as little as you can."),
        (P, "Keep entities."),
    ]


def test_plus_and_minus_are_good_and_bad_examples():
    assert parse_guideline("Change the verb.\n+ folds: unfolds\n-folds: eats\nAfter them, text goes on.") == [
        (P, "Change the verb."),
        (GOOD, "folds: unfolds"),
        (BAD, "folds: eats"),
        (P, "After them, text goes on."),
    ]


def test_a_lone_sign_is_text_and_nothing_is_nothing():
    assert parse_guideline("-") == [(P, "-")]
    assert parse_guideline(" \n\n") == []
