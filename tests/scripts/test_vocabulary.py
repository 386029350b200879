"""What scripts/vocabulary.py finds in small checkouts, and that this one is clean."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts import vocabulary

TABLE = r"""
max_subject = 20
[scopes.pages]
read = "page"
files = ["**/*.html"]
[scopes.messages]
read = "messages"
files = ["shop/*.py"]
[scopes.cli]
read = "helps"
files = ["shop/*.py"]
[scopes.settings]
read = "comments"
files = ["shop/*.py"]
[scopes.docstrings]
read = "docstrings"
files = ["shop/*.py"]
[scopes.tests]
read = "names"
files = ["tests/*.py"]
[scopes.docs]
read = "prose"
files = ["*.md"]
max_words = 6
[[words]]
pattern = '\bgo on\b'
use = "continue"
[[words]]
pattern = '^Store$'
use = "Save"
scopes = ["pages"]
[[words]]
pattern = '\bstands?\b'
use = "is"
unless = ['\bstands? for\b']
not_in = ["shop/old.py"]
"""


def found(folder: Path, files: Mapping[str, str]) -> list[str]:
    for name, text in {"docs/vocabulary.toml": TABLE, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(vocabulary.check(folder))


def old(place: str, word: str, better: str) -> list[str]:
    return [f'{place}: "{word}": use {better}']


@pytest.mark.parametrize(
    ("name", "text", "line", "word", "better"),
    [
        ("a.html", "<p>\n  <b>Store</b>\n</p>", 2, "Store", "Save"),
        ("a.html", "<p>It may\n<b>go</b>\non</p>", 2, "go on", "continue"),
        ("a.html", '<a title="Go on">x</a>', 1, "Go on", "continue"),
        ("a.html", "\n{% include 'x' with label=_(\"Go on\") %}", 2, "Go on", "continue"),
        ("shop/a.py", 'from x import gettext as _\n_("Go on")', 2, "Go on", "continue"),
        ("shop/a.py", 'add("--x", help="how to go on")', 1, "go on", "continue"),
        ("shop/a.py", "A = 1\n# If it does, go\n# on.\n", 2, "go on", "continue"),
        ("shop/a.py", 'class A:\n    """Short.\n\n    It stands."""', 4, "stands", "is"),
        ("tests/test_a.py", "def test_people_go_on():\n    pass", 1, "go on", "continue"),
        ("a.md", "One\ntwo go\non.", 2, "go on", "continue"),
        ("a.md", "| a | b |\n|---|---|\n| c | stands |", 3, "stands", "is"),
    ],
)
def test_an_old_word_is_found_in_each_kind_of_text(tmp_path, name, text, line, word, better):
    assert found(tmp_path, {name: text}) == old(f"{name}:{line}", word, better)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "Store"),
        ("a.html", "<p>Store it</p>{# go on #}<script>go on</script>"),
        ("a.md", "It stands for a name."),
        ("shop/old.py", '"""It stands."""'),
        ("shop/a.py", 'def _hidden():\n    """It stands."""'),
        ("shop/a.py", '"""Call `stand`."""\nx = "go on"  # go on'),
        ("a.md", "Call `go on` ([here](go-on.md)).\n\n```\ngo on\n```\n\n    go on\n"),
    ],
)
def test_a_word_is_right_in_another_scope_sense_or_place_and_in_code(tmp_path, name, text):
    assert found(tmp_path, {name: text}) == []


def test_long_sentences_of_docs_are_found_with_their_line(tmp_path):
    text = "# A heading of more than six words\n\nSix words are not too many.\n\n- Seven words are one word too many."
    assert found(tmp_path, {"a.md": text}) == ["a.md:5: a sentence of 7 words: Seven words are one word too many."]
    assert list(vocabulary.lengths(tmp_path))[2:] == ["| a.md | 2 | 6.5 | 7 |", "| all | 2 | 6.5 | 7 |"]


def test_only_commits_after_the_table_have_short_subjects(tmp_path):
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    assert found(tmp_path, {}) == []
    git("init", "--quiet")
    assert found(tmp_path, {}) == []
    git("add", "docs/vocabulary.toml")
    git("commit", "--quiet", "-m", "Bring the table, with a long subject")
    git("commit", "--quiet", "--allow-empty", "-m", "Of twenty characters")
    assert found(tmp_path, {}) == []
    git("commit", "--quiet", "--allow-empty", "-m", "Of twenty-one letters")
    assert found(tmp_path, {}) == ["commits: 21 characters: Of twenty-one letters"]


# `make checks`, with which `make test` begins, runs the script on this checkout.
@pytest.mark.full
def test_this_checkout_has_no_old_words():
    assert list(vocabulary.check(vocabulary.ROOT)) == []
