"""Natural pairs: two captions that differ in one word, or in who does what to whom."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.tokens import words
from generation.pairs import signatures
from generation.pairs.natural import natural_pairs
from generation.pairs.proposals import PairCaption
from generation.pairs.signatures import GAP, SignatureIndex, number_of
from generation.pairs.word_order import exchanged

VERBS = ("sitting", "standing", "walking", "running", "dancing", "sleeping")


def of(*texts, **fields):
    return [PairCaption(n, text, f"clip{n}", f"source{n}", **fields) for n, text in enumerate(texts)]


def texts_of(captions, **options):
    return [pair.texts for pair in natural_pairs(captions, **options)]


@pytest.mark.parametrize(
    ("first", "second", "change"),
    [
        ("a man is sitting on a chair", "a man is standing on a chair", "opposite"),
        ("a man is running down a hill", "a man is running up a hill", "opposite"),
        ("three men are playing chess", "two men are playing chess", "count"),
        ("a woman is playing a guitar", "a woman is playing a flute", "object"),
        ("a boy is walking on the road", "a boy is dancing on the road", "action"),
        ("a woman is peeling an onion", "a woman is frying an onion", "action"),
        ("the car on the road is red", "the car on the road is white", "colour"),
        ("a boy is singing on stage", "a girl is singing on stage", "gender"),
        ("a man is walking on the floor", "a dog is walking on the floor", "participant"),
        ("a dog is licking a baby", "a baby is licking a dog", "order of words"),
        ("A man lifts a woman.", "a woman lifts a man", "order of words"),
    ],
)
def test_captions_that_exclude_each_other_are_a_pair(first, second, change):
    (pair,) = natural_pairs(of(first, second))
    assert (pair.texts, pair.change) == ((first, second), change)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a man is singing a song", "the man is singing a song"),
        ("a man is cutting an onion", "a man is slicing an onion"),
        ("a dog runs on a field", "dogs runs on a field"),
        ("a man is playing a guitar", "a man is playing an instrument"),
        ("a man is cooking food", "a person is cooking food"),
        ("a man is singing on stage", "a man is standing on stage"),
        ("a woman is wearing a red shirt", "a woman is wearing a red skirt"),
        ("a man plays gitar at home", "a man plays guitar at home"),
        ("there is no man dancing here", "there is no man running here"),
        ("a black man is walking home", "a white man is walking home"),
        ("a large group of people is dancing", "a small group of people is dancing"),
        ("a man is lifting barbells", "a man is lowering barbells"),
        ("a man and a woman are dancing", "a woman and a man are dancing"),
        ("a man is talking to a woman", "a woman is talking to a man"),
        ("a man is slowly walking home", "a man is walking slowly home"),
        ("a man in a shirt is walking", "a man in a red shirt is walking"),
        ("un homme est assis ici", "un homme est debout ici"),
    ],
)
def test_captions_that_may_both_be_true_are_not_proposed(first, second):
    assert not texts_of(of(first, second))


def test_two_clips_of_one_source_are_not_proposed():
    sits, stands = of("a man is sitting here", "a man is standing here")
    assert texts_of([sits, stands])
    assert not texts_of([sits, replace(stands, source=sits.source)])


def test_a_word_in_another_caption_of_the_clip_rules_the_pair_out():
    captions = of("a man is sitting here", "a man is standing here")
    also = PairCaption(9, "someone stands up, he was standing before", captions[0].clip, captions[0].source)
    assert not texts_of([*captions, also])


def test_near_clips_come_first():
    far, near = of("a man is sitting here", "a man is standing here", "a man is sitting here")[1:]
    wanted = replace(near, label="sport", duration=4.0)
    first = PairCaption(7, "a man is standing here", "clip7", "source7", label="sport", duration=5.0)
    (pair,) = natural_pairs([far, wanted, first], limit=1)
    assert {caption.clip for caption in pair.captions} == {wanted.clip, first.clip}
    assert pair.near == ("label", "length")


def corpus(n):
    return of(*(f"a man is {VERBS[number % 6]} in the {place}" for number, place in enumerate(["park", "room"] * n)))


@pytest.mark.parametrize("per_caption", [1, 2])
def test_each_clip_is_in_few_pairs(per_caption):
    pairs = list(natural_pairs(corpus(30), per_caption=per_caption))
    used = [caption.clip for pair in pairs for caption in pair.captions]
    assert pairs
    assert max(map(used.count, used)) <= per_caption


def test_the_seed_decides_and_the_order_of_the_captions_does_not():
    captions = corpus(40)
    first = texts_of(captions, seed=1)
    assert first == texts_of(captions[::-1], seed=1)
    chosen = [
        {caption.clip for pair in natural_pairs(captions, seed=seed, limit=5) for caption in pair.captions}
        for seed in (1, 2)
    ]
    assert chosen[0] != chosen[1]
    assert len(texts_of(captions, limit=1)) == 1


def test_a_large_bucket_is_drawn_from(monkeypatch):
    monkeypatch.setattr(signatures, "MAX_DRAWN", 4)
    texts = [f"a man is {VERBS[number % 6]}" for number in range(200)]
    with SignatureIndex(0) as index:
        index.add(of(*texts))
        buckets = list(index.buckets())
    assert buckets
    assert max(map(len, buckets)) == 4


@given(st.lists(st.sampled_from(("man", "dog", "park", "red", "sits", "runs")), min_size=3, max_size=8), st.data())
@settings(max_examples=60, deadline=None)
def test_texts_share_a_signature_exactly_if_one_word_differs(text, data):
    other = data.draw(st.lists(st.sampled_from(("man", "dog", "park", "red")), min_size=len(text), max_size=len(text)))
    mine, theirs = ({number_of(*said[:at], GAP, *said[at + 1 :]) for at in range(len(said))} for said in (text, other))
    differing = sum(a != b for a, b in zip(text, other, strict=True))
    assert bool(mine & theirs) == (differing <= 1)


def test_parts_that_change_places_are_named():
    assert exchanged(words("a dog chases a cat"), words("a cat chases a dog")) == ("dog", "cat")
    assert exchanged(words("a big dog pulls a cat"), words("a cat pulls a big dog")) == ("big dog", "cat")
    assert exchanged(words("a dog and a cat"), words("a cat and a dog")) is None


def test_a_pair_has_one_name_whatever_the_seed():
    names = {
        pair.name for seed in (1, 2) for pair in natural_pairs(of("a man is sitting", "a man is standing"), seed=seed)
    }
    assert len(names) == 1
