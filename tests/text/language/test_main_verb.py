"""The main verb of captions: a table of our own, and what the offline tagger does with it."""

from pathlib import Path

import pytest

from foilworks.core.text.language.main_verb import action_verb, verb_group
from foilworks.core.text.language.offline import OfflineTagger

TABLE = Path(__file__).with_name("main_verbs.tsv")
ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("caption", "verb"), ROWS)
def test_the_main_verb_of_a_caption_is_found(caption, verb):
    tokens = OfflineTagger().tag(caption)
    group = action_verb(tokens)
    assert group is not None
    assert tokens[group.main].text == verb
    assert tokens[group.main].part == "VERB"
    assert tokens[group.main].tag == group.tag


@pytest.mark.parametrize("caption", ["a red shirt", "", "...", "a news program about cars", "cartoon show for kids"])
def test_a_caption_without_a_verb_has_no_main_verb(caption):
    assert action_verb(OfflineTagger().tag(caption)) is None


def test_a_passive_is_recognized():
    tokens = OfflineTagger().tag("The ball is being thrown by a boy.")
    group = verb_group(tokens)
    assert (tokens[group.agrees].text, tokens[group.main].text, group.passive) == ("is", "thrown", True)
    assert verb_group(OfflineTagger().tag("A boy throws a ball.")).passive is False


def test_a_noun_taken_for_a_verb_is_corrected():
    tokens = OfflineTagger().tag("A guy in red pants plays the drums.")
    assert [token.part for token in tokens if token.text in ("pants", "plays")] == ["NOUN", "VERB"]


def test_the_tagger_marks_the_main_verb_or_its_auxiliary():
    tagged = [OfflineTagger().tag(text) for text in ("a man folds a shirt", "a man is folding a shirt", "a red shirt")]
    assert [[token.text for token in tokens if token.main] for tokens in tagged] == [["folds"], ["is"], []]
