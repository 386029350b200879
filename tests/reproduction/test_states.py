"""Every number of the papers has one of nine states, and a reason unless it is equal."""

import json
import os
import re
from pathlib import Path

import pytest
from django.utils.html import escape

from foilworks.site import cli
from foilworks.site.reproduction import contrast_sets
from foilworks.site.reproduction.registry import PAPERS, SAMPLES
from foilworks.site.reproduction.report import MARKS, MEANINGS, latex_of, markdown_of, missing_cells
from foilworks.site.reproduction.table_cells import STATES, count_states

# A folder with vilma/ and contrast-sets/, which hold the files of the authors' repositories.
PUBLIC = os.environ.get("FOILWORKS_PAPERS", "")


# A number that is not given has an address, or the set is never opened.
ADDRESS = re.compile(r"published at \S|https://\S|never opens")


def has_its_reason(cell):
    names_address = cell["state"] != "not given" or ADDRESS.search(cell["why"])
    return cell["state"] in STATES and (cell["state"] == "equal") != bool(cell["why"]) and bool(names_address)


@pytest.mark.full
@pytest.mark.slow(seconds=60)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("paper", PAPERS)
def test_made_up_files_give_no_equal_number_and_every_cell_its_reason(paper, tmp_path, settings):
    settings.MEDIA_ROOT, settings.CACHE_ROOT = tmp_path / "media", tmp_path / "cache"
    assert cli.run(["reproduce", paper, "--sample", "--out", str(tmp_path / "out")]) == 0
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert [cell for cell in report["cells"] if not has_its_reason(cell)] == []
    assert "equal" not in report["states"]
    page = (tmp_path / "out/report.html").read_text()
    tables = {cell["table"]: False for cell in report["cells"]}
    tables |= {cell["table"]: True for cell in report["cells"] if cell["ours"] is not None}
    assert all(f"<h2>{escape(table)}</h2>" in page for table in tables)
    folded = "<details><summary>The paper’s numbers; none of ours: "
    assert page.count(folded) == list(tables.values()).count(False)
    assert "<script" not in page


@pytest.mark.full
@pytest.mark.slow(seconds=400)
@pytest.mark.skipif(not PUBLIC, reason="FOILWORKS_PAPERS names no folder of the papers' public files")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("paper", ["vilma", "contrast-sets"])
def test_public_files_give_equal_numbers_and_every_other_cell_its_reason(paper, tmp_path, settings):
    settings.MEDIA_ROOT, settings.CACHE_ROOT = tmp_path / "media", tmp_path / "cache"
    assert cli.run(["reproduce", paper, "--sources", str(Path(PUBLIC) / paper), "--out", str(tmp_path / "out")]) == 0
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert [cell for cell in report["cells"] if not has_its_reason(cell)] == []
    assert report["states"]["equal"] >= 2
    assert "other data" not in report["states"]


def test_every_state_has_a_mark_and_a_meaning():
    assert set(MARKS) == set(MEANINGS) == set(STATES)


@pytest.mark.django_db
def test_what_is_missing_is_folded_into_a_table_and_the_rest_is_drawn(tmp_path):
    result = contrast_sets.reproduce(SAMPLES / "contrast-sets", tmp_path, weights={}, seed=0)
    folded = missing_cells(result)
    n_without = sum(cell.ours is None for cell in result.cells)
    assert sum(int(count) for *_, count in folded) == n_without > 0
    assert {row[0] for row in folded} == {"not given"}
    assert count_states(result.cells)["other data"] == 2
    text, tables = markdown_of(result), latex_of(result)
    assert text.count("## Contrast sets, Table 2") == 0
    assert "MSR-VTT, msrvtt_lm_contrast_set.tsv | 2554 / 2 O" in text
    assert tables.count("toprule") == tables.count("bottomrule") == 3


@pytest.mark.parametrize("paper", PAPERS)
def test_a_check_lists_what_the_folder_has_and_lacks(paper, capsys):
    assert cli.run(["reproduce", paper, "--sample", "--check", "--json"]) == 0
    sources = json.loads(capsys.readouterr().out)["sources"]
    assert all(source["published_at"] and source["feeds"] for source in sources)
    assert any(source["n_files"] for source in sources)
