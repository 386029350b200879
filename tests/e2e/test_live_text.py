"""What the browser says while a person types is what the server says afterwards: both are asked the same questions."""

import pytest
from django.templatetags.static import static
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from annotation.rules.editing import check_texts
from annotation.rules.marking import marks_of
from foilworks.core.text.diff import changed_words, diff_segments
from tests.e2e.conftest import SignIn
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCES = [
    ("A man folds a shirt.", "A man unfolds a shirt."),
    ("a red dot moves to the left", "a red dot moves to the right"),
    ("a b c d e", "e d c b a"),
    ("the dog barks", "The dog barks!"),
    ("", "a dog"),
    ("a dog", ""),
    ("she  opens   the door", "she closes the door"),
    ("it's the cat’s toy", "its the cats toy"),
    ("naïve café", "naïve cafe"),
    ("e\u0301te\u0301", "été"),
    ("\U0001f468‍\U0001f469‍\U0001f467 waves", "\U0001f468‍\U0001f469 waves"),
    ("flags \U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", "flags \U0001f1eb\U0001f1f7"),
    ("thumbs \U0001f44d\U0001f3fd up", "thumbs \U0001f44d up"),
    ("مرحبا بالعالم", "مرحبا العالم"),
    ("二人が歩く", "三人が歩く"),
    ("一个男人打开门，然后坐下", "一个女人关闭门，然后坐下"),
    ("男性がコーヒーをカップに注ぐ", "男性がコーラをカップに注ぐ"),
    ("ผู้ชายเปิดประตู", "ผู้หญิงปิดประตู"),
    ("person0打开thing_0, 第1页", "person0关上thing_0, 第2页"),
    ("\U0001f3f4\U000e0067\U000e0062\U000e007f waves", "\U0001f3f4\U000e0067\U000e0065\U000e007f waves"),
    ("one. two.", "one. two. three."),
    ("Exactly three times, he claps.", "Exactly four times; he claps."),
    ("a man and a woman walk in the park and talk to a dog", "nobody does any of this at all here today or ever"),
]
WORDS = st.sampled_from(["a", "man", "folds", "unfolds", "the", "shirt", ".", ",", "it's", "Three", "é", "-", "!"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)

ASK = """async (pairs) => {
  const { changedWords, checkText, diffSegments } = await import("STATIC/annotation/writing.js");
  const check = (a, b, others, marks) => checkText(a, b, others, [], marks);
  return pairs.map(([a, b, ...rest]) => [diffSegments(a, b), changedWords(a, b), check(a, b, ...rest)]);
}""".replace("STATIC/", static(""))


@pytest.fixture
def page(sign_in: SignIn) -> Page:
    page = sign_in(make_user())
    page.goto("/")
    return page


def marked(pairs: list[tuple[str, str, list[str]]]) -> list[list[object]]:
    """The pairs with what the page is told of their captions' words."""
    marks = [marks_of(a) for a, _, _ in pairs]
    return [[*pair, {"stay": of.stay, "change": of.change}] for pair, of in zip(pairs, marks, strict=True)]


def expected(a: str, b: str, others: list[str]) -> list[object]:
    """The answers of foilworks.core.text.diff and annotation.rules.editing in the shape of the page's."""
    found = [[finding.problem.value, finding.number] for finding in check_texts(a, [b], others, (), marks_of(a))]
    return [[list(piece) for piece in diff_segments(a, b)], changed_words(a, b), found]


def test_sentences_with_every_kind_of_character(page: Page) -> None:
    pairs = [(a, b, ["A man irons a shirt."]) for a, b in SENTENCES]
    assert page.evaluate(ASK, marked(pairs)) == [expected(*pair) for pair in pairs]


def test_findings_that_need_other_texts_or_long_ones(page: Page) -> None:
    pairs = [
        ("A man folds a shirt.", "a man  FOLDS a shirt", []),
        ("A man folds a shirt.", "A man irons a shirt!", ["a man irons a shirt."]),
        ("A man folds a shirt.", "A man\tirons", []),
        ("A man folds a shirt.", "ａ man folds a shirt", []),
        ("A man folds a shirt.", "x" * 2001, []),
        ("A man folds a shirt.", "\U0001f600" * 2000, []),
        ("A man folds a shirt.", "   ", []),
    ]
    assert page.evaluate(ASK, marked(pairs)) == [expected(*pair) for pair in pairs]


@pytest.mark.full
def test_any_two_word_sequences(page: Page) -> None:
    @settings(max_examples=8, deadline=None)
    @given(st.lists(st.tuples(TEXTS, TEXTS), min_size=30, max_size=60))
    def agree(pairs: list[tuple[str, str]]) -> None:
        asked = [(a, b, ["the man folds"]) for a, b in pairs]
        assert page.evaluate(ASK, marked(asked)) == [expected(*one) for one in asked]

    agree()
