"""The taggers on captions labelled by hand, and the one door to them."""

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.text.language.offline import OfflineTagger
from foilworks.core.text.language.tagger_names import LanguageError, installed_spacy_model
from foilworks.core.text.language.tokens import PARTS
from foilworks.core.text.language.tools import in_use, tagger
from tests.text.language.tagger_report import parse_labelled, recall

LABELLED = Path(__file__).with_name("labelled_captions.txt")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "methods-language.md"
BARS = {"verb": 0.84, "noun": 0.95, "preposition": 0.92}


@pytest.fixture(scope="module")
def labelled():
    return parse_labelled(LABELLED.read_text(encoding="utf-8").splitlines())


def test_there_are_sixty_labelled_captions(labelled):
    assert len(labelled) == 60
    counts = recall(OfflineTagger(), labelled)[0]
    assert {name: found.total for name, found in counts.items()} == {"verb": 81, "noun": 168, "preposition": 69}


def test_the_offline_tagger_finds_the_words_of_captions(labelled):
    counts, _ = recall(OfflineTagger(), labelled)
    assert all(counts[name].share >= bar for name, bar in BARS.items()), counts


def test_the_page_lists_every_word_that_is_missed(labelled):
    """docs/reference/methods-language.md: recall and errors, word by word, as they are now."""
    counts, misses = recall(OfflineTagger(), labelled)
    page = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\S+) \| (verb|noun|preposition) \| ([A-Z]+) \| (.+) \|$", page, re.MULTILINE)
    assert listed == [(miss.word, miss.wanted, miss.got, miss.caption) for miss in misses]
    for name, found in counts.items():
        assert f"| {name} | {found.found} of {found.total} | {100 * found.share:.1f} % |" in page


@pytest.mark.skipif(installed_spacy_model() is None, reason="no English spaCy model is installed")
def test_spacy_gives_the_same_report(labelled):
    counts, _ = recall(tagger("spacy"), labelled)
    assert set(counts) == set(BARS)
    assert all(found.share > 0.5 for found in counts.values())


@given(st.text(max_size=60))
def test_tokens_are_disjoint_ordered_and_match_the_text(text):
    at = 0
    for token in OfflineTagger().tag(text):
        assert at <= token.start < token.end
        assert text[token.start : token.end] == token.text
        assert token.part in PARTS
        at = token.end
    assert all(char.isspace() for char in text[at:])


def test_words_are_tagged_by_their_position():
    def parts(text):
        return " ".join(token.part for token in OfflineTagger().tag(text))

    assert parts("a woman drives a car") == "DET NOUN VERB DET NOUN"
    assert parts("a long drive") == "DET ADJ NOUN"
    assert parts("two men play cards") == "NUM NOUN VERB NOUN"
    assert parts("a man's push-ups") == "DET NOUN PART NOUN"
    assert parts("he tries to open it") == "PRON VERB PART VERB PRON"


@pytest.mark.full
def test_a_blank_spacy_pipeline_works_through_the_interface(tmp_path):
    """A real pipeline, made here: an attribute ruler tags by word. No model is downloaded."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("attribute_ruler")
    rows = {"a": ("DET", "DT"), "man": ("NOUN", "NN"), "folds": ("VERB", "VBZ"), "fold": ("VERB", "VBP")}
    for word, (part, tag) in rows.items():
        ruler.add([[{"LOWER": word}]], {"POS": part, "TAG": tag, "LEMMA": word.rstrip("s")})
    ruler.add([[{"LOWER": "ups"}]], {"POS": "NOUN", "TAG": "NNS"})
    pipeline.to_disk(tmp_path / "tiny")
    found = tagger(f"spacy:{tmp_path / 'tiny'}")
    assert found.name.startswith("spaCy")
    tokens = found.tag("A man  folds push-ups")
    assert [(token.start, token.text, token.part, token.tag) for token in tokens] == [
        (0, "A", "DET", ""),
        (2, "man", "NOUN", ""),
        (7, "folds", "VERB", "VBZ"),
        (13, "push-ups", "NOUN", ""),
    ]
    assert tokens[2].lemma == "fold"
    assert found.tag("fold")[0].tag == "VB"


def test_a_missing_tool_is_reported_with_the_remedy(tmp_path):
    with pytest.raises(LanguageError, match="choose auto, offline, spacy"):
        tagger("nltk")
    with pytest.raises(LanguageError, match="choose auto, offline, spacy"):
        tagger("offline:x")
    if importlib.util.find_spec("spacy"):
        with pytest.raises(Exception, match="install it or name its folder"):
            tagger(f"spacy:{tmp_path}")
    if installed_spacy_model() is None:
        assert tagger("auto").name == "offline rules"
        with pytest.raises(LanguageError, match="or use tagger=offline"):
            tagger("spacy")
    assert set(in_use()) == {"tagger", "antonyms"}
