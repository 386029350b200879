import pytest

from foilworks.core.corpus.import_formats.parsing.warnings import warnings_of
from foilworks.core.corpus.records import ItemRecord, PairRecord, VideoRecord, VoteCounts


def warned(caption, *foils, **fields):
    item = ItemRecord("a", "s", VideoRecord("v"), caption, foils, **fields)
    return [(warning.field, warning.problem) for warning in warnings_of("f:1", item)]


@pytest.mark.parametrize(
    ("foils", "problem"),
    [
        (("a dog bites a man",), "a foil is equal to the caption"),
        (("a cat", "a cat"), "two foils are equal"),
        (("a man bites a dog",), "'a man bites a dog' has the words of the caption in another order"),
        (("A dog bites a man!",), "'A dog bites a man!' has the words of the caption in another order"),
    ],
)
def test_foils_that_say_too_little_are_named(foils, problem):
    ((field, words),) = warned("a dog bites a man", *foils)
    assert field == "foils"
    assert words.startswith(problem)


def test_counts_of_zero_are_reported_in_the_pair_too():
    pair = PairRecord("a dog", ("a cat",), VoteCounts(0, 0, 0))
    assert [field for field, _ in warned("x y", "x z", votes=VoteCounts(0, 0, 0), proficiency=pair)] == [
        "votes",
        "proficiency.votes",
    ]


@pytest.mark.parametrize(
    ("caption", "foil", "extra", "field"),
    [
        ("a man jumps", "a man sits", {"class": "run"}, "class"),
        ("a man jumps", "a man sits", {"class": "jump", "classes_foil": ["sit", "lie on"]}, "classes_foil"),
        ("he jumps 3 times", "he jumps 4 times", {"class": 5, "template": "he jumps <number> times"}, "class"),
    ],
)
def test_a_class_that_no_word_says_is_named(caption, foil, extra, field):
    ((found, _problem),) = warned(caption, foil, extra=extra)
    assert found == field


@pytest.mark.parametrize(
    ("caption", "foil", "extra"),
    [
        ("he tidied the room up", "he was drying it", {"class": "tidy up", "classes_foil": ["dry"]}),
        ("she is shedding leaves", "it dries", {"class": "shed", "classes_foil": "dry"}),
        ("he jumps three times", "he jumps 9 times", {"class": 3, "classes_foil": [9], "template": "<number>"}),
        ("there is nobody", "there are people", {"class": 0, "classes_foil": [2, 1]}),  # an answer, no count
        ("一只狗咬人", "一个人", {}),
        ("…", "!", {}),
        ("no foils here", None, {"class": "run", "classes_foil": ["x"]}),
    ],
)
def test_correct_records_give_no_warning(caption, foil, extra):
    assert [w for w in warned(caption, *([foil] if foil else []), extra=extra) if w[0] != "class" or foil] == []
