import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.text.tokens import unseen_by_words, whole_words, word_features, word_spans, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("A man's dog.", ["a", "man's", "dog"]),
        ("push-ups, 3x", ["push", "ups", "3x"]),
        # The apostrophe joins letters only: "'90s" and a trailing quote stay outside.
        ("the '90s 'quoted'", ["the", "90s", "quoted"]),
        ("don't''t", ["don't", "t"]),
        ("naïve café cafe\u0301", ["naïve", "café", "café"]),
        ("Der Mann öffnet, sie schließt die Tür", ["der", "mann", "öffnet", "sie", "schließt", "die", "tür"]),
        ("İstanbul’da", ["i̇stanbul'da"]),
        ("she don’t — the 90's", ["she", "don't", "the", "90's"]),
        ("a_b, ü_ö", ["a", "b", "ü", "ö"]),
        ("一个男人打开门", ["一个", "男人", "打开", "门"]),
        ("person0打开thing0", ["person0", "打开", "thing0"]),
        ("コーヒーを飲む", ["コーヒー", "を", "飲む"]),
        ("ผู้ชายเปิดประตู", ["ผู้ชาย", "เปิด", "ประตู"]),
        ("남자가 문을 연다", ["남자가", "문을", "연다"]),
        ("الرجل يفتح الباب", ["الرجل", "يفتح", "الباب"]),
        ("पुरुष दरवाज़ा खोलता है", ["पुरुष", "दरवाज़ा", "खोलता", "है"]),
        ("שלום 🙂", ["שלום"]),
        ("🙂 … 。", []),
        ("half \ud800 of é", ["half", "of", "é"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_spans_point_into_the_text_as_given():
    assert word_spans("A Man's") == [(0, 1, "a"), (2, 7, "man's")]
    # Lower-cased, the dotted capital I takes two characters; the offsets behind it must not shift.
    assert word_spans("İstanbul on") == [(0, 8, "i̇stanbul"), (9, 11, "on")]
    # Two lone surrogates stay two characters, and an emoji outside the first plane stays one.
    assert word_spans("\ud800\udc00 🙂 tür don’t") == [(5, 8, "tür"), (9, 14, "don't")]


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("the dog's 3x", []),
        ("schließt die Tür", []),
        ("打开门", ["打", "开"]),
        ("飛行機", ["飛", "行", "機", "飛行", "行機"]),
        # Vowel signs stay with their consonant.
        ("ประตู", ["ป", "ร", "ะ", "ตู", "ปร", "ระ", "ะตู"]),
    ],
)
def test_features_add_the_characters_of_words_in_scripts_without_spaces(text, grams):
    assert word_features(text) == [*words(text), *grams]


@pytest.mark.parametrize(
    ("a", "b", "unseen"),
    [
        ("a dog", "a cat", False),
        ("a dog bites a man", "a man bites a dog", False),
        ("a dog", "a dog", False),
        ("🙂", "🙁", True),
        ("a dog", "…", True),
        ("a dog 🙂", "a dog 🙁", True),
        ("5 °C", "-5 °C", True),
        ("门开了", "门关了", False),
    ],
)
def test_pairs_that_words_cannot_distinguish_are_found(a, b, unseen):
    assert unseen_by_words(a, b) is unseen


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ann and Anna", ["ann"]),
        ("ANN's, Ann-B", ["ANN", "Ann"]),
        ("Jürg, Jürgen and 张伟说Ann来了", ["Jürg", "张伟", "Ann"]),
        ("ann.b", ["ann.b"]),
        ("ünn", []),
    ],
)
def test_phrases_are_found_as_whole_words_in_every_script(text, found):
    assert whole_words(["ann.b", "ann", "jürg", "张伟"]).findall(text) == found


@given(st.text(st.characters(max_codepoint=127)), st.text(st.characters(max_codepoint=127)))
def test_ascii_words_match_published_results(before, after):
    plain = [re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower()) for text in (before, after)]
    assert words(before) == plain[0]
    # The same words beside any other script.
    assert words(f"{before} — öffnet 门 {after}") == [*plain[0], "öffnet", "门", *plain[1]]


@given(st.text(st.characters(exclude_categories=())))
def test_spans_and_words_agree_on_any_text(text):
    spans = word_spans(text)
    assert [word for _, _, word in spans] == words(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
