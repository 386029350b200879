"""The report on mutants: which line a mutant changes, and what counts."""

import pytest

from tests.mutations.mutations import (
    KILLED,
    PACKAGES,
    ROOT,
    SURVIVED,
    UNTESTED,
    Mutant,
    changed,
    function_of,
    mutants_of,
    reasons,
    report,
    sample,
    score,
)
from tests.mutations.mutations import test_files as files_of_tests

HALF = "foilworks/core/corpus/rules/half.py"
SOURCE = '''"""Doc."""


def half(number):
    return number / 2


class Ruler:
    def at(self, place):
        return place + 1
'''
MUTATED = """def x_half__mutmut_orig(number):
    return number / 2
def x_half__mutmut_1(number):
    return number * 2
def x_half__mutmut_2(number):
    return number / 3
class Ruler:
    def xǁRulerǁat__mutmut_orig(self, place):
        return place + 1
    def xǁRulerǁat__mutmut_1(self, place):
        return place - 1
"""
SPANS = {
    "x_half__mutmut_orig": (1, 2),
    "x_half__mutmut_1": (3, 4),
    "x_half__mutmut_2": (5, 6),
    "xǁRulerǁat__mutmut_orig": (8, 9),
    "xǁRulerǁat__mutmut_1": (10, 11),
}


@pytest.fixture
def found() -> list[Mutant]:
    return list(mutants_of(HALF, SOURCE, MUTATED, SPANS))


def test_a_mutant_is_identified_by_its_line_and_its_change(found):
    assert [(each.key, each.function, each.line, each.was, each.now) for each in found] == [
        ("foilworks.core.corpus.rules.half.x_half__mutmut_1", "half", 5, "return number / 2", "return number * 2"),
        ("foilworks.core.corpus.rules.half.x_half__mutmut_2", "half", 5, "return number / 2", "return number / 3"),
        (
            "foilworks.core.corpus.rules.half.xǁRulerǁat__mutmut_1",
            "Ruler.at",
            10,
            "return place + 1",
            "return place - 1",
        ),
    ]
    assert found[0].covered_as == found[1].covered_as == "foilworks.core.corpus.rules.half.x_half"
    assert len({each.identity for each in found}) == 3


def test_it_is_a_different_mutant_if_its_function_has_changed(found):
    later = list(mutants_of(HALF, SOURCE, MUTATED.replace("number / 2", "number / 4", 1), SPANS))
    assert later[0].identity != found[0].identity
    assert later[2].identity == found[2].identity


def test_a_change_may_span_several_lines_and_include_the_first():
    assert changed("def a(x=1):\n    return x", "def b(x=2):\n    return x") == (0, "x=1):", "x=2):")
    assert changed("def a():\n    b\n    c\n    d", "def a():\n    b\n    e\n    f\n    d") == (2, "c", "e f")
    assert changed("def a():\n    b\n    c", "def a():\n    c") == (1, "b", "")
    assert function_of("x__count__mutmut_12") == "_count"


def test_equivalent_mutants_do_not_count_and_stale_rows_are_reported(found, capsys):
    known = {found[1].place: "why", (HALF, "half", "gone", "gone too"): "why"}
    ended = {found[0].identity: KILLED, found[1].identity: SURVIVED, found[2].identity: UNTESTED}
    whole = score(found, ended, known)
    assert (whole.killed, whole.survived, whole.equivalent, whole.untried, whole.share) == (1, 1, 1, 0, 0.5)
    assert score(found, {}, known).untried == 3
    assert score(found, {}, known).share is None
    wrong = report(found, ended, known)
    stale = f"{HALF} half: no survivor is `gone too`; remove the row"
    assert wrong == ["foilworks/core/corpus/rules: 50.0 % is below 85 %", stale]
    said = capsys.readouterr().out
    assert f"{HALF}:10 Ruler.at  (no test runs this)\n    - return place + 1\n" in said
    assert "number / 3" not in said


def test_the_table_of_equivalents_gives_a_reason_for_each():
    row = '[[equivalent]]\nfile = "f"\nfunction = "g"\nwas = "a"\nnow = "b"\nwhy = "c"\n'
    assert reasons(row) == {("f", "g", "a", "b"): "c"}
    assert reasons("") == {}


def mutants(file: str, n: int) -> list[Mutant]:
    return [Mutant(f"{file}{k}", f"{file} {k}", file, "f", k, "a", "b") for k in range(n)]


def test_a_sample_has_each_file_in_its_share_and_depends_on_the_seed():
    large, small = mutants("foilworks/core/media/clock.py", 80), mutants("foilworks/core/media/ranges.py", 20)
    others = mutants("foilworks/core/corpus/rules/states.py", 7)
    drawn = sample([*large, *small, *others], 10, seed=1)
    assert [sum(each in rows for each in drawn) for rows in (large, small, others)] == [8, 2, 7]
    assert sample([*others, *small, *large[::-1]], 10, seed=1) == sample([*others, *small, *large], 10, seed=1)
    assert set(map(id, sample(large, 10, seed=1))) != set(map(id, sample(large, 10, seed=2)))
    assert len(set(sample(large, 79, seed=3))) == 79


def test_a_score_of_a_sample_has_an_interval(found, capsys):
    ended = {found[0].identity: KILLED, found[1].identity: KILLED, found[2].identity: KILLED}
    assert report(found, ended, {(HALF, "half", "gone", "gone"): "why"}, sampled=True) == []
    # Wilson: 3 of 3 are at least 3 / (3 + 1.96 ** 2).
    assert "100.0 % (43.9 to 100.0)" in capsys.readouterr().out


def test_tests_that_name_a_package_through_a_helper_are_read(tmp_path):
    folder = tmp_path / "tests" / "generation"
    folder.mkdir(parents=True)
    (folder / "making.py").write_text("from generation.methods.registry import METHODS\n")
    (folder / "test_through.py").write_text("from tests.generation.making import drafts\n")
    (folder / "test_directly.py").write_text("from generation.methods import number\n")
    (folder / "test_tables.py").write_text("import generation.methods\n\npytestmark = pytest.mark.django_db\n")
    (folder / "test_media.py").write_text("# The media of a clip.\n")
    named = ["tests/generation/test_directly.py", "tests/generation/test_through.py"]
    assert files_of_tests(tmp_path, ["generation/methods"]) == named
    assert files_of_tests(tmp_path, ["foilworks/core/media"]) == []


def test_every_file_that_gets_mutants_exists():
    files = [ROOT / package / file for package, names in PACKAGES.items() for file in names]
    assert [path for path in files if not path.is_file()] == []
    assert all((ROOT / package).is_dir() for package in PACKAGES)
