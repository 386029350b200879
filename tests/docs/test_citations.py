"""Every citation of the code and of the documentation resolves, and nothing is listed that nobody cites."""

import re
from pathlib import Path

import pytest

from tests.docs.citations import INDEX, PLACES, cited_places, decisions, files, flat, problems, spelled_out, works
from tests.docs.pages import DOCS, ROOT, anchors, name_of

TEXTS = {path: path.read_text(encoding="utf-8") for path in files()}
FOLDERS = sorted({path.relative_to(ROOT).parts[0] for path in TEXTS})
CODE = ROOT / "evaluation" / "made_up.py"
STATUS = re.compile(
    r"^Status: superseded (?P<part>in part )?by (?:\[decision (?P<by>\d+)\]\(\d{4}-[\w-]+\.md\)|the code)"
    r"(?P<what>: .+)?\.$"
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_citation_resolves(folder: str) -> None:
    mine = {path: text for path, text in TEXTS.items() if path.relative_to(ROOT).parts[0] == folder}
    assert not [f"{name_of(path)}: {why}" for path, text in mine.items() for why in problems(path, text)]


def test_the_checked_files_are_source_tests_templates_and_docs() -> None:
    assert {"annotation", "docs", "evaluation", "foilworks", "scripts", "tests", "README.md"} <= set(FOLDERS)
    assert {".html", ".js"} <= {path.suffix for path in TEXTS}


# A tilde keeps each of these from being one where it stands.
MADE_UP = [
    ("(docs/work~flow.md#rule-99)", "the page has no such anchor"),
    ("(docs/met~rics.md)", "there is no such page"),
    ("(work~flow.md, provenance)", "there is no such page"),
    ("(as ru~le 5 has it)", "cite the rule by its anchor"),
    ("(deci~sion 999)", "there is no deci~sion 999"),
    ("(ViLMA, Ta~ble 99)", "Ta~ble 99 is not among the cited places of ViLMA"),
    ("(ViLMA, Ta~bles 4-99)", "Ta~ble 99 is not among the cited places of ViLMA"),
    ("(ViLMA, Se~c. 9.9 and Ta~ble 4)", "Se~c. 9.9 is not among the cited places of ViLMA"),
    ("(contrast~ sets 3.2)", "write Sec., Table, Fig. or Eq."),
    ("(Vi~LMA, B.1)", "write Sec., Table, Fig. or Eq."),
    ("(Ta~ble 4)", "name its paper"),
    ("(VALSE, se~ction 3)", "name its paper"),
    ("(Somebody et~ al., CVPR 2016)", "cite the work by its short name"),
    ("(Some~body & No~body 1999)", "has no such work"),
]


@pytest.mark.parametrize(("cited", "why"), MADE_UP)
def test_an_invented_citation_is_found(cited: str, why: str) -> None:
    plain = cited.replace("~", "")
    for text in (f'"""A summary {plain}."""\n', f"# A comment {plain}\nx = 1\n"):
        assert why.replace("~", "") in "; ".join(problems(CODE, text))


def test_a_citation_may_continue_on_the_next_line() -> None:
    text = '''"""A summary (ViLMA,
Sec. 3.2 and
Table 4), (docs/workflow.md#rule-5)."""
x = "(UTD, "
"Table 4)"
# ViLMA,
# Fig. 11
'''
    assert not list(problems(CODE, text))
    assert [len(list(spelled_out(found[2]))) for _name, found in cited_places(flat(text))] == [2, 1, 1]


def test_a_link_leads_to_the_decision_of_its_number() -> None:
    page = DOCS / "made-up.md"
    assert not list(problems(page, "[decision 27](decisions/0027-x.md), [rule 5](workflow.md#rule-5)"))
    assert "decision 27 links the page of decision 28" in "; ".join(
        problems(page, "[decision 27](decisions/00~28-x.md)".replace("~", ""))
    )


def test_places_are_spelled_out() -> None:
    places = spelled_out("Tab~les F.2-F.4, Se~cs. A.1 and B and Fi~g. 1b".replace("~", ""))
    assert "|".join(places).replace(" ", "~") == "Table~F.2|Table~F.3|Table~F.4|Sec.~A.1|Sec.~B|Fig.~1b"


def test_every_work_and_every_place_that_is_listed_is_cited() -> None:
    plain = {path: flat(text.partition("## Cited places")[0]) for path, text in TEXTS.items() if path != INDEX}
    everything = "\n".join(plain.values())
    uncited = {name: set(work.places) for name, work in works().items()}
    for name, found in cited_places(everything):
        uncited[name] -= set(spelled_out(found[2]))
    for name, work in works().items():
        for found in PLACES.findall(plain.get(work.page or Path(), "")):
            uncited[name] -= set(spelled_out(found))
        assert name in everything or name.replace("et al.", "et al.,") in everything, name
    assert not {name: places for name, places in uncited.items() if places}


def test_every_rule_has_an_anchor() -> None:
    page = (DOCS / "workflow.md").read_text(encoding="utf-8")
    assert {f"rule-{number}" for number in range(13)} <= anchors(page)
    assert re.findall(r"^\(rule-(\d+)\)=\n### Rule (\d+): ", page, re.MULTILINE) == [
        (f"{n}", f"{n}") for n in range(13)
    ]


def test_superseded_decisions_say_so_in_one_form_and_the_index_shows_them() -> None:
    index = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    found = {}
    for number, page in decisions().items():
        title, *rest = page.read_text(encoding="utf-8").split("\n\n")
        assert title.startswith(f"# {number}. "), page.name
        lines = [part for part in rest if part.startswith("Status:")]
        if not lines:
            continue
        line = " ".join(lines[0].split())
        assert rest[0] == lines[0], page.name
        if line.startswith("Status: withdrawn (0."):
            found[number] = f"| [{number}]({page.name}) | withdrawn |"
            continue
        status = STATUS.match(line)
        assert status, page.name
        assert bool(status["part"]) == bool(status["what"]), f"{page.name} says what is superseded in part"
        by = f"[decision {status['by']}]({decisions()[int(status['by'])].name})" if status["by"] else "the code"
        found[number] = f"| [{number}]({page.name}) | {'in part, ' if status['part'] else ''}by {by} |"
    assert [line for line in index.split("\n") if line.startswith("| [")] == list(found.values())
