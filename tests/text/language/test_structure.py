"""Clauses and whole noun phrases of captions."""

import pytest

from foilworks.core.text.language.living import kind_of
from foilworks.core.text.language.offline import OfflineTagger
from foilworks.core.text.language.structure import Sentence


def clause(text):
    tokens = OfflineTagger().tag(text)
    found = Sentence(tokens).main_clause()
    subject = text[tokens[found.subject.first].start : tokens[found.subject.last - 1].end]
    return subject, tokens[found.verb.main].text


@pytest.mark.parametrize(
    ("text", "subject", "verb"),
    [
        ("A man in a tan coat who smiles slowly opens the door.", "A man in a tan coat who smiles", "opens"),
        ("A man wearing a cap backwards looks ahead.", "A man wearing a cap backwards", "looks"),
        ("Slowly, an old man sits down.", "an old man", "sits"),
        ("A boy and his dog run away.", "A boy and his dog", "run"),
        ("A woman, dressed in black, throws a ball.", "A woman, dressed in black", "throws"),
        ("Someone in a mask waves.", "Someone in a mask", "waves"),
    ],
)
def test_the_subject_has_all_that_describes_it(text, subject, verb):
    assert clause(text) == (subject, verb)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("A boy hits the man in a tan coat against a wall.", "the man in a tan coat"),
        ("A boy hits the man with a beard and a hat with a stick.", "the man with a beard and a hat"),
        ("A boy sees the man wearing a hat, a coat, and boots in a park.", "the man wearing a hat, a coat, and boots"),
        ("A boy sees the man sitting on the ground.", "the man sitting on the ground"),
        ("A boy sees the man who talks and laughs.", "the man who talks and laughs"),
        ("A boy sees the man with short, dark hair.", "the man with short, dark hair"),
        ("A boy looks at the man with a gun.", "the man with a gun"),
        ("A boy hits the man with a gun.", "the man"),
        ("A boy kicks the man on the left.", "the man on the left"),
        ("A boy follows the man on a horse into a town.", "the man on a horse"),
        ("A boy pushes the man into a room.", "the man"),
        ("A boy sees the man using a phone.", "the man"),
        ("A boy pulls the man dressed in all black.", "the man dressed in all black"),
        ("A boy pushes the man with all his strength.", "the man"),
    ],
)
def test_an_object_has_its_descriptions_and_not_the_verbs_places(text, phrase):
    tokens = OfflineTagger().tag(text)
    sentence = Sentence(tokens)
    verb = sentence.main_clause().verb.main
    first = next(one for at, one in sorted(sentence.phrases.items()) if at > verb)
    whole = sentence.whole(sentence.joined(first), tokens[verb])
    assert text[tokens[whole.first].start : tokens[whole.last - 1].end] == phrase


def test_a_caption_without_a_subject_has_no_main_clause():
    assert Sentence(OfflineTagger().tag("pushing a man")).main_clause() is None
    assert Sentence(()).main_clause() is None


def test_nouns_that_can_act_have_a_kind():
    words = ("man", "horsemen", "Women", "cashier", "lions", "thieves", "table", "specimen", "policewoman", "someone")
    assert [kind_of(word) for word in words] == ["m", "m", "f", "n", "a", "n", "", "", "f", "n"]
