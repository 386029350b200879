"""CSV formula injection: what people write, and what they call themselves, is never a formula in a file they open."""

import csv
import io
import re

import pytest

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.text.registry import load, parse_params
from foilworks.core.text.storable import mark, safe_row
from foilworks.site.exports.collect import collect_release
from tests.attacks.guards import guarded_by, replaced
from tests.attacks.places import every_page, hostile_world
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video
from tests.test_access_matrix import RULES

pytestmark = pytest.mark.django_db

CELLS = replaced(
    "foilworks.core.text.storable.is_run",
    "an apostrophe before every text that a spreadsheet would run",
    lambda text: False,
)
FORMULA = "=HYPERLINK(1);=2"
LEADS = ("=", "+", "@", "＝", "＋", "＠", "\t", "\r", "\n")


def run_by_a_spreadsheet(text: str) -> list[str]:
    """Cells that a spreadsheet would run; a minus before a number is a number."""
    rows = [row for separator in ",;\t" for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)]
    return [cell for row in rows for cell in row if cell.startswith(LEADS)]


@guarded_by(CELLS)
@pytest.mark.parametrize(
    "text", ["=1", "+1", "-a", "@SUM(1)", "\t=1", "\r=1", "'=1", "\n=1", "＝1", "＋1", "－a", "＠SUM(1)"]
)
def test_no_text_becomes_a_formula(text):
    (cell,) = safe_row([text])
    assert cell == mark(text)


@guarded_by(CELLS)
@pytest.mark.parametrize("separator", [";", "; ", "\t", "\n", "\r\n"])
def test_no_text_becomes_a_formula_where_the_file_is_split_otherwise(separator):
    out = io.StringIO(newline="")
    csv.writer(out).writerow(safe_row(["id", f"a{separator}=1"]))
    assert [cell for cell in re.split(r"[;\t\r\n]", out.getvalue()) if cell.lstrip(" ").startswith("=")] == []


@guarded_by(CELLS)
def test_no_page_gives_a_file_with_a_formula():
    world = hostile_world(FORMULA).world
    names = [name for name in RULES if name.endswith("_file")]
    pages = [*every_page(world, only=names), *every_page(world, only=names, extension="csv")]
    files = {name: page.text for name, page in pages if page.kind == "text/csv"}
    assert {"annotation:people_figures_file"} <= set(files)
    assert any("HYPERLINK" in text for text in files.values()), "the formula is in none of the files: no attack"
    assert {name: found for name, text in files.items() if (found := run_by_a_spreadsheet(text))} == {}


@guarded_by(CELLS)
def test_no_export_writes_a_formula(tmp_path):
    release = refrozen(FORMULA)
    entry = EXPORTERS["csv"]
    module = load(entry)
    content = collect_release(release, tables=False)
    paths = module.write(content, tmp_path / "out", params=parse_params(entry, {}))
    text = "".join(path.read_text(encoding="utf-8") for path in paths if path.suffix == ".csv")
    assert "HYPERLINK" in text
    assert run_by_a_spreadsheet(text) == []


def refrozen(formula: str) -> Release:
    project = make_project()
    subtest = make_subtest(project, name=formula)
    caption = make_caption(make_video(project), formula)
    make_item(subtest, caption, foils=(f"{formula} not",), state="valid", key=formula)
    return freeze_release(make_member(project, "researcher"), project, name=formula)
