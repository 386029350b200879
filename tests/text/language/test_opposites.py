"""Antonyms, WordNet's files, changes of state and forms of verbs."""

from dataclasses import replace
from zipfile import ZipFile

import nltk
import pytest

from foilworks.core.text.language import tools
from foilworks.core.text.language.antonyms import antonyms_of
from foilworks.core.text.language.change_of_state import TUPLES, by_verb
from foilworks.core.text.language.tagger_names import LanguageError
from foilworks.core.text.language.verb_forms import inflect_like, verb_form, verb_readings
from foilworks.core.text.language.wordnet import WordNet
from foilworks.core.text.language.wordnet_files import find_wordnet_files
from tests.text.language.lexicon_of_changes import lint

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
    for part in ("verb", "noun", "adj", "adv"):
        (tmp_path / f"index.{part}").write_text(LICENCE)
        (tmp_path / f"data.{part}").write_text(LICENCE)
        (tmp_path / f"{part}.exc").write_text("")
    (tmp_path / "data.verb").write_text(LICENCE + "".join(line.format(first, second) for line in SYNSETS))
    words = {"let_down": second, "lift": first, "lower": second, "raise": first}
    (tmp_path / "index.verb").write_text(
        LICENCE + "".join(INDEX.format(word=word, offset=offset) for word, offset in words.items())
    )
    return tmp_path


@pytest.fixture
def unchanged_nltk(monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [*nltk.data.path])


def check_antonyms(wordnet):
    assert wordnet.antonyms("raise", "VERB") == ("lower",)
    assert wordnet.antonyms("lower", "VERB") == ("raise",)
    assert wordnet.antonyms("lift", "VERB") == ()
    assert wordnet.antonyms("let down", "VERB") == ()
    assert wordnet.antonyms("unknown", "VERB") == wordnet.antonyms("raise", "DET") == ()


def test_antonyms_are_read_from_a_folder_without_lexnames(wordnet_folder, unchanged_nltk):
    assert find_wordnet_files([wordnet_folder / "none", wordnet_folder]) == wordnet_folder
    check_antonyms(WordNet(wordnet_folder))


def test_antonyms_are_read_behind_a_link_and_from_the_zip_of_nltk(wordnet_folder, tmp_path_factory, unchanged_nltk):
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "link").symlink_to(wordnet_folder)
    check_antonyms(WordNet(folder / "link"))
    with ZipFile(folder / "wordnet.zip", "w") as archive:
        archive.writestr("wordnet/", "")
        for path in wordnet_folder.iterdir():
            archive.write(path, f"wordnet/{path.name}")
    assert find_wordnet_files([folder / "wordnet"]) == folder / "wordnet.zip"
    check_antonyms(WordNet(folder / "wordnet.zip"))


def test_the_error_names_files_that_nltk_refuses(wordnet_folder, unchanged_nltk):
    (wordnet_folder / "verb.exc").unlink()
    with pytest.raises(LanguageError, match=r"nltk cannot read WordNet \(.*verb.exc.*; copy its files to ~/nltk_data"):
        WordNet(wordnet_folder)


def test_adjectives_with_a_marker_have_antonyms(wordnet_folder, unchanged_nltk):
    """data.adj marks the position of some: `asleep(p)` stands only after a verb."""
    lines = (
        "{0:08d} 00 a 01 asleep(p) 0 001 ! {1:08d} a 0101 | in sleep\n",
        "{1:08d} 00 a 01 awake(p) 0 001 ! {0:08d} a 0101 | not in sleep\n",
    )
    first = len(LICENCE)
    second = first + len(lines[0].format(0, 0))
    (wordnet_folder / "data.adj").write_text(LICENCE + "".join(line.format(first, second) for line in lines))
    (wordnet_folder / "index.adj").write_text(
        LICENCE + f"asleep a 1 1 ! 1 0 {first:08d}  \n" + f"awake a 1 1 ! 1 0 {second:08d}  \n"
    )
    assert WordNet(wordnet_folder).antonyms("asleep", "ADJ") == ("awake",)


def test_without_wordnet_or_nltk_there_are_no_antonyms(tmp_path, wordnet_folder, monkeypatch):
    assert find_wordnet_files([tmp_path / "none"]) is None
    monkeypatch.setattr(tools, "find_wordnet_files", lambda: wordnet_folder)
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    assert tools.wordnet.__wrapped__() is None


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
    assert {entry.verb for entry in TUPLES if entry.pre == "folded"} == {"unfold"}


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
