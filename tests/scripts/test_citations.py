"""What scripts/citations.py says against made-up citations."""

import re
from pathlib import Path

import pytest

from scripts.citations import cited_places, files, flat, problems, spelled_out, status_problems, uncited
from scripts.doc_pages import DOCS, ROOT, anchors

CODE = ROOT / "evaluation" / "made_up.py"


def test_the_checked_files_are_source_tests_templates_and_docs() -> None:
    tops = {path.relative_to(ROOT).parts[0] for path in files()}
    assert {"annotation", "docs", "evaluation", "foilworks", "scripts", "tests", "README.md"} <= tops
    assert {".html", ".js"} <= {path.suffix for path in files()}


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


def test_every_rule_has_an_anchor() -> None:
    page = (DOCS / "workflow.md").read_text(encoding="utf-8")
    assert {f"rule-{number}" for number in range(13)} <= anchors(page)
    assert re.findall(r"^\(rule-(\d+)\)=\n### Rule (\d+): ", page, re.MULTILINE) == [
        (f"{n}", f"{n}") for n in range(13)
    ]


def test_a_work_that_no_text_cites_is_named() -> None:
    lines = list(uncited({DOCS / "made-up.md": "(Vi~LMA, Ta~ble 4)".replace("~", "")}))
    assert any(line.endswith("no text cites VALSE") for line in lines)
    assert not [line for line in lines if line.endswith("no text cites ViLMA")]


def test_a_decision_whose_status_has_another_form_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "0001-made-up.md"
    page.write_text("# 1. A title\n\nStatus: superseded some day.\n\nA text.\n")
    monkeypatch.setattr("scripts.citations.decisions", lambda: {1: page})
    monkeypatch.setattr("scripts.citations.name_of", lambda path: path.name)
    assert "0001-made-up.md: write the status below the title; in part: also what is superseded" in status_problems()
