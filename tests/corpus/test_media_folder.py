import unicodedata

import pytest

from foilworks.core.corpus.video_files.media_folder import MediaFolder, spelling


@pytest.fixture
def folder(tmp_path):
    def of(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(b"x")
        return MediaFolder(tmp_path)

    return of


NFC, NFD = (unicodedata.normalize(form, "café_über.mp4") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("there", "asked", "differs_in"),
    [
        (NFD, NFC, "Unicode form"),
        (NFC, NFD, "Unicode form"),
        ("UPPER.MP4", "UPPER.mp4", ""),
        ("IMG_0001.MP4", "IMG_0001", ""),
        ("CLIP.MOV", "clip", "letter case"),
        ("two  words.mp4", "two words.mp4", "blanks"),
        (f"Day 1/{NFD.upper()}", f"day 1/{NFC}", "Unicode form and letter case"),
        ("Straße.mp4", "STRASSE.mp4", "letter case"),
        ("exact.mp4", "exact.mp4", ""),
    ],
)
def test_a_file_is_found_in_whatever_spelling_and_the_difference_is_named(folder, there, asked, differs_in):
    found = folder(there, "other.mp4").find(["", asked])
    assert (found.requested_name, found.path.name, found.differs_in) == (asked, there.rpartition("/")[2], differs_in)


def test_the_exact_name_wins_and_two_of_one_spelling_are_neither(folder):
    files = folder("Clip.mp4", "CLIP.mp4")
    assert files.find(["CLIP.mp4"]).path.name == "CLIP.mp4"
    assert files.find(["clip.mp4"]) is None


def test_a_typing_mistake_finds_nothing_and_names_the_file_that_is_meant(folder):
    files = folder("blue-left.mp4", "red-left.mp4")
    assert files.find(["blue-lefft.mp4"]) is None
    assert files.similar(["blue-lefft.mp4"]) == "blue-left.mp4"
    assert files.similar(["blue-lefft.mp4"], {files.find(["blue-left.mp4"]).path}) != "blue-left.mp4"
    assert files.similar(["something else"]) == ""


def test_spellings_are_equal_only_where_names_look_alike():
    assert spelling(" Ä b/C ") == spelling("A\u0308  B/c")
    assert len({spelling(name) for name in ("a.mp4", "a.mov", "b/a.mp4", "á.mp4")}) == 4
