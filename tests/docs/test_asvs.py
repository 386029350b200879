"""docs/explanation/asvs.md has each requirement of OWASP ASVS 5.0.0, levels 1 and 2, and names what exists."""

import ast
import tomllib
from functools import cache

import pytest

from scripts.doc_pages import DOCS, ROOT
from tests.docs import asvs

# What the standard wants written: number -> page, and words of it that say so.
WRITTEN = {
    "2.1.1": ("docs/reference/formats.md", ("`caption`", "at most")),
    "2.1.2": ("docs/workflow.md", ("## Rules", "proficiency")),
    "5.1.1": ("docs/explanation/video.md", ("## Refused files", "not videos, whatever their names say")),
    "6.1.1": ("docs/how-to/people.md", ("**Wrong passwords**",)),
    "6.1.2": ("docs/how-to/people.md", ("At least six\n  other characters must remain",)),
    "6.1.3": (
        "docs/how-to/people.md",
        ("**Second factor**", "**Identity provider**", "signed links"),
    ),
    "6.2.10": ("docs/how-to/people.md", ("Passwords do not expire",)),
    "7.1.1": ("docs/explanation/asvs.md", ("## Sessions", "NIST SP 800-63B")),
    "7.1.2": ("docs/how-to/people.md", ("in any number of browsers",)),
    "7.1.3": ("docs/explanation/asvs.md", ("by our limits and our sign-out",)),
    "8.1.1": ("docs/workflow.md", ("Researcher", "Validator", "may")),
    "8.1.2": ("docs/explanation/threat-model.md", ("## Actors", "a task's page does not name its clip")),
    "11.1.1": ("docs/explanation/asvs.md", ("To replace `SECRET_KEY`", "To destroy a key")),
    "11.1.2": ("docs/explanation/asvs.md", ("## Keys and algorithms", "AES-SIV", "PBKDF2-SHA-256")),
    "14.1.2": ("docs/explanation/asvs.md", ("## Classes of data", "Retention:")),
    "15.1.1": ("SECURITY.md", ("| critical", "within", "every 60 days")),
    "15.1.3": ("docs/explanation/asvs.md", ("## Expensive work", "MAX_OPEN_JOBS_PER_PROJECT")),
    "16.1.1": ("docs/how-to/operations.md", ("## Log locations", "how long", "readers")),
}


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_number_occurs_exactly_once():
    numbers = asvs.levels()
    assert (len(numbers), [*numbers.values()].count(1)) == (253, 70)
    listed = [number for rows in asvs.statuses().values() for number in rows]
    assert sorted(listed) == sorted(numbers)
    assert {*asvs.statuses()} == {"applies", "does_not_apply", "not_met"}


def test_each_row_that_applies_has_a_file_and_a_test_that_exist():
    wrong = {}
    for number, (control, file, test) in asvs.statuses()["applies"].items():
        path, _colons, name = test.partition("::")
        if not control or not (ROOT / file).is_file():
            wrong[number] = file
        elif not ((ROOT / path).is_file() and name.startswith("test_") and name in functions(path)):
            wrong[number] = test
    assert wrong == {}


def test_requirements_that_do_not_apply_or_are_not_met_have_a_reason():
    found = asvs.statuses()
    assert [number for number, why in found["does_not_apply"].items() if not 1 < len(why.split()) < 5] == []
    assert [number for number, why in found["not_met"].items() if len(why.split()) < 6] == []


def test_the_page_has_the_table():
    page = asvs.PAGE.read_text(encoding="utf-8")
    assert page == asvs.written(page), "run: .venv/bin/python python -m tests.docs.asvs update"


def test_the_page_is_linked():
    for page in ("explanation/index.md", "explanation/threat-model.md"):
        assert "(asvs.md)" in (DOCS / page).read_text(encoding="utf-8")
    assert "docs/explanation/asvs.md" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", WRITTEN)
def test_the_documentation_that_the_standard_requires_exists(number: str):
    file, words = WRITTEN[number]
    text = (ROOT / file).read_text(encoding="utf-8")
    assert [each for each in words if each not in " ".join(text.split()) and each not in text] == []


def test_every_row_about_a_page_names_its_words():
    about = {
        number for number, row in asvs.statuses()["applies"].items() if row[2].endswith("standard_requires_exists")
    }
    assert about == {*WRITTEN}
    assert {number: asvs.statuses()["applies"][number][1] for number in about} == {n: WRITTEN[n][0] for n in about}


def test_a_file_that_stays_open_fails_a_test():
    """A warning about it is an error, and pytest turns what a destructor says into one."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert options["filterwarnings"] == ["error"]
