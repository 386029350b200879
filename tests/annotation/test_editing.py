import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rules.editing import MAX_CHARACTERS, Finding, Problem, check_text, check_texts, errors, normalised
from annotation.rules.marking import marks_of

CAPTION = "A man folds a blue shirt."


def problems(text: str, others=(), dropped=(), caption=CAPTION) -> list[str]:
    return [finding.problem for finding in check_text(caption, text, others, dropped)]


def test_a_small_edit_has_nothing_against_it():
    assert problems("A man unfolds a blue shirt.") == []


@pytest.mark.parametrize("text", ["", "   ", "\t"])
def test_an_empty_text_is_an_error(text):
    assert problems(text) == [Problem.EMPTY]


@pytest.mark.parametrize(
    "text",
    [
        "A man folds a blue shirt.",
        "a man folds a blue shirt",
        "  A  man folds a blue   shirt !",
        "Ａ man folds a blue shirt.",
        "A man folds a blue shirt…",
    ],
)
def test_a_text_that_reads_like_the_caption_is_the_caption(text):
    assert problems(text) == [Problem.SAME_AS_CAPTION]


def test_captions_in_other_scripts_are_compared_as_well():
    assert problems("男人折叠衬衫。", caption="男人折叠衬衫") == [Problem.SAME_AS_CAPTION]
    assert problems("男人展开衬衫", caption="男人折叠衬衫") == []


def test_a_duplicate_of_another_foil_of_the_group_is_an_error():
    assert problems("a man unfolds a blue shirt", others=["A man unfolds a blue shirt."]) == [Problem.DUPLICATE]
    found = check_texts(CAPTION, ["A man tears a blue shirt.", "A man irons a blue shirt.", "a man tears a blue shirt"])
    assert found == [Finding(2, Problem.DUPLICATE)]


def test_a_dropped_text_does_not_come_back():
    assert problems("a man eats a blue shirt", dropped=["A man eats a blue shirt."]) == [Problem.DROPPED_BEFORE]


@pytest.mark.parametrize("character", ["\x00", "\n", "\r", "\x1b", "\x7f", "\ud800"])
def test_control_characters_and_line_breaks_are_errors(character):
    assert problems(f"A man unfolds{character} a shirt.") == [Problem.CONTROL_CHARACTER]


def test_emoji_marks_and_right_to_left_letters_are_text():
    assert problems("A man folds a 👩‍👩‍👧 shirt.") == []
    assert problems("A man folds a חולצה shirt.") == []


def test_the_length_is_bounded():
    assert problems("a" * MAX_CHARACTERS)[0] != Problem.TOO_LONG
    assert check_text(CAPTION, "a" * (MAX_CHARACTERS + 1)) == [Finding(0, Problem.TOO_LONG, MAX_CHARACTERS + 1)]


def test_many_changed_words_are_a_warning_with_their_number():
    """Six words of the caption, six others: all six changed, more than the four that any caption may."""
    (found,) = check_text(CAPTION, "Two dogs chase the red ball.")
    assert found == Finding(0, Problem.MANY_CHANGED_WORDS, 6)
    assert not found.is_error


def test_a_second_sentence_is_a_warning_unless_the_caption_has_two():
    assert problems("A man folds a shirt. It is red.") == [Problem.NOT_ONE_SENTENCE]
    assert problems("A man tears a shirt. It is blue.", caption="A man folds a shirt. It is blue.") == []


def test_warnings_do_not_stop_a_submit():
    found = check_texts(CAPTION, ["Two dogs chase the red ball.", ""])
    assert [finding.index for finding in errors(found)] == [1]


texts = st.text(max_size=40)


@given(texts)
def test_normalising_twice_changes_nothing_more_in_plain_text(text):
    assert normalised(f"  {text.upper()} ") == normalised(text.upper())


@given(texts, st.lists(texts, max_size=4))
def test_every_text_gets_at_most_one_error_and_findings_stay_in_order(caption, written):
    found = check_texts(caption, written)
    indices = [finding.index for finding in found]
    assert indices == sorted(indices)
    for index in range(len(written)):
        assert sum(finding.is_error for finding in found if finding.index == index) <= 1


@given(st.text(min_size=1, max_size=40))
def test_the_caption_itself_is_never_a_foil(caption):
    assert errors(check_text(caption, caption))


ACTION = marks_of(CAPTION)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A man irons a blue shirt.", []),
        ("A woman irons a blue shirt.", [(Problem.ENTITY_CHANGED, 1)]),
        ("A woman irons a red shirt.", [(Problem.ENTITY_CHANGED, 2)]),
        ("A man folds a blue SHIRT slowly.", [(Problem.SAME_ACTION, 0)]),
        ("A dog folds a blue shirt.", [(Problem.ENTITY_CHANGED, 1), (Problem.SAME_ACTION, 0)]),
    ],
)
def test_a_counterfactual_keeps_people_and_things_and_changes_what_happens(text, found):
    got = check_text(CAPTION, text, marks=ACTION)
    assert [(finding.problem, finding.number) for finding in got] == found
    assert errors(got) == []


def test_if_foils_may_change_anything_the_action_is_not_required():
    assert check_text(CAPTION, "A woman folds a blue shirt.") == []


def test_findings_cover_all_texts_and_have_a_number_only_if_countable():
    written = ["", CAPTION, "A man folds a\tshirt.", "A man eats a blue shirt.", "A man irons it.", "a man irons it"]
    found = check_texts(CAPTION, written, dropped=["a man eats a blue shirt"])
    assert found == [
        Finding(0, Problem.EMPTY, 0),
        Finding(1, Problem.SAME_AS_CAPTION, 0),
        Finding(2, Problem.CONTROL_CHARACTER, 0),
        Finding(3, Problem.DROPPED_BEFORE, 0),
        Finding(5, Problem.DUPLICATE, 0),
    ]


@pytest.mark.parametrize(("words", "changed", "warned"), [(6, 4, False), (6, 5, True), (16, 5, False), (16, 6, True)])
def test_four_words_may_change_or_a_third_of_a_long_caption(words, changed, warned):
    caption = " ".join(f"w{n}" for n in range(words))
    text = " ".join(f"{'x' if n < changed else 'w'}{n}" for n in range(words))
    assert (Problem.MANY_CHANGED_WORDS in problems(text, caption=caption)) is warned


def test_a_last_word_alone_is_a_sentence_and_a_letter_is_none():
    assert check_text(CAPTION, "A man folds a shirt. Twice.") == [Finding(0, Problem.NOT_ONE_SENTENCE, 0)]
    assert problems("A man folds shirt X twice.") == []
