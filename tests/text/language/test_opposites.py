"""Antonyms, WordNet's files, changes of state and forms of verbs."""

from dataclasses import replace

import pytest

from foilworks.core.text.language.antonyms import antonyms_of
from foilworks.core.text.language.change_of_state import TUPLES, by_state, by_verb, lint
from foilworks.core.text.language.verb_forms import inflect_like, verb_form, verb_readings
from foilworks.core.text.language.wordnet import FILES, find_wordnet

LICENCE = "  1 This is the licence, which stands in lines that begin with blanks.  \n"
SYNSETS = (
    "{0:08d} 35 v 02 lift 0 raise 2 001 ! {1:08d} v 0201 01 + 08 00 | move up\n",
    "{1:08d} 35 v 02 lower 0 let_down 1 002 ! {0:08d} v 0102 @ {0:08d} v 0000 01 + 08 00 | move down\n",
)
INDEX = "{word} v 1 2 @ ! 1 1 {offset:08d}  \n"


@pytest.fixture
def wordnet_folder(tmp_path):
    """Files in the format of wndb(5): raise and lower are antonyms, lift (of raise's synset) is none of them."""
    first = len(LICENCE)
    second = first + len(SYNSETS[0].format(0, 0))
    for part in FILES.values():
        (tmp_path / f"index.{part}").write_text(LICENCE)
        (tmp_path / f"data.{part}").write_text(LICENCE)
    (tmp_path / "data.verb").write_text(LICENCE + "".join(line.format(first, second) for line in SYNSETS))
    words = {"let_down": second, "lift": first, "lower": second, "raise": first}
    (tmp_path / "index.verb").write_text(
        LICENCE + "".join(INDEX.format(word=word, offset=offset) for word, offset in words.items())
    )
    return tmp_path


def test_antonyms_are_read_from_wordnets_own_files(wordnet_folder):
    found = find_wordnet([wordnet_folder / "none", wordnet_folder])
    assert found.folder == wordnet_folder
    assert found.antonyms("raise", "VERB") == ("lower",)
    assert found.antonyms("lower", "VERB") == ("raise",)
    assert found.antonyms("lift", "VERB") == ()
    assert found.antonyms("let down", "VERB") == ()
    assert found.antonyms("unknown", "VERB") == found.antonyms("raise", "DET") == ()


def test_without_wordnet_there_are_no_antonyms(tmp_path):
    assert find_wordnet([tmp_path]) is None


def test_the_built_in_list_fills_the_gaps_of_wordnet():
    for word, other in [
        ("lift", "drop"),
        ("throw", "catch"),
        ("grow", "shrink"),
        ("shut", "open"),
        ("load", "unload"),
        ("zip", "unzip"),
        ("put on", "take off"),
    ]:
        assert other in antonyms_of(word)
        assert word in antonyms_of(other)
    assert antonyms_of("chop") == ()


def test_the_lexicon_of_changes_is_large_and_consistent():
    assert len(TUPLES) >= 60
    assert sum(entry.reversible for entry in TUPLES) >= 60
    assert sum(not entry.reversible for entry in TUPLES) >= 20
    assert sum(entry.transitive for entry in TUPLES) >= 40
    assert sum(entry.intransitive for entry in TUPLES) >= 20
    assert sum(bool(entry.particle) for entry in TUPLES) >= 20
    assert lint() == []


def test_the_linter_names_what_is_wrong():
    good = by_verb()["fold"][0]
    assert lint((replace(good, pre="folded"),))[0].endswith("the states before and after are the same")
    assert "its own reverse" in lint((replace(good, reverse="fold"),))[0]
    assert any("'fold' is not a participle" in line for line in lint((replace(good, post="fold"),)))
    assert any("'tore' is not a participle" in line for line in lint((replace(good, post="tore"),)))
    assert any("its reverse is missing" in line for line in lint((good,)))
    assert any("neither a reverse nor a stand-in" in line for line in lint((replace(good, reverse=""),)))
    assert any("not a type of object" in line for line in lint((replace(good, object_type="idea"),)))
    assert any("not a transitivity" in line for line in lint((replace(good, transitivity="maybe"),)))


def test_chop_and_tear_are_never_undone():
    for verb in ("chop", "tear", "cut", "peel", "cook"):
        assert all(not entry.reversible for entry in by_verb()[verb])
    assert {entry.verb for entry in by_state()["folded"]} == {"unfold"}


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("lie", "lies lying lay lain"),
        ("cut", "cuts cutting cut cut"),
        ("tear", "tears tearing tore torn"),
        ("unzip", "unzips unzipping unzipped unzipped"),
        ("dry", "dries drying dried dried"),
        ("unwind", "unwinds unwinding unwound unwound"),
        ("switch", "switches switching switched switched"),
        ("light", "lights lighting lit lit"),
        ("freeze", "freezes freezing froze frozen"),
        ("defrizz", "defrizzes defrizzing defrizzed defrizzed"),
    ],
)
def test_forms_of_verbs(verb, forms):
    assert " ".join(verb_form(verb, tag) for tag in ("VBZ", "VBG", "VBD", "VBN")) == forms


def test_a_particle_stays_after_its_verb():
    assert verb_form("put on", "VBG") == "putting on"


def test_a_verb_takes_the_form_of_another():
    assert inflect_like("Opens", "open", "close") == "Closes"
    assert inflect_like("opened", "open", "tear") == "tore"
    assert inflect_like("opened", "open", "tear", participle=True) == "torn"
    assert inflect_like("opening", "close", "tear") is None
    assert verb_readings("saw") == (("see", "VBD"), ("saw", "VB"))
    assert verb_readings("burnt") == (("burn", "VBD"), ("burn", "VBN"))
    assert verb_readings("are") == verb_readings("table's") == ()
