"""UTD again from small files in the published form: what each table gets, and what it says where it gets nothing."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Caption
from foilworks.site.reproduction import utd
from foilworks.site.reproduction.printed_tables import printed
from foilworks.site.reproduction.utd_models import rows_of
from foilworks.site.reproduction.utd_printed import COLUMNS, SETS, TABLES
from tests.reproduction import utd_sources, utd_varied

# Numbers of the authors' scripts (2b22d48) on `utd_varied`, with the hashed words of `fake-words:` as their encoder.
RELEASED = json.loads(Path(__file__).with_name("utd_released.json").read_text(encoding="utf-8"))


def cells(result, table):
    return {(cell.row, cell.column): cell for cell in result.cells if cell.table == f"UTD, Table {table}"}


def test_printed_tables_share_their_numbers():
    for column in SETS:
        sequence = [TABLES["A.3"].number(f"{name}, sequence of frames", column) for name in TABLES["1"].rows]
        assert sequence == [TABLES["1"].number(name, column) for name in TABLES["1"].rows]
        by_time = [TABLES["A.3"].number(f"obj+comp+act, {name}", column) for name in TABLES["3"].rows]
        assert by_time == [TABLES["3"].number(name, column) for name in TABLES["3"].rows]
        shares = [numbers[SETS.index(column)] for row, numbers in TABLES["4"].rows.items() if row.startswith("%")]
        assert sum(shares) == 100
    for name, row in (("6", "umt-b-5M"), ("5", "videomae-L-UH")):
        longer = {"6": "A.2", "5": "A.1"}[name]
        assert TABLES[longer].rows[row][: len(COLUMNS[name])] == TABLES[name].rows[row]


def test_the_paper_benchmarks_24_classifiers_17_retrievers_and_30_models():
    classifiers, retrievers = set(TABLES["5"].rows), set(TABLES["6"].rows)
    assert (len(classifiers), len(retrievers)) == (24, 17)
    renamed = {name.replace("WV10M", "WebVid10M") for name in retrievers}
    assert len(classifiers | renamed) == 30
    assert set(TABLES["5"].rows) < set(rows_of("UCF"))


def test_weights_of_a_model_that_is_not_in_the_paper_are_refused(tmp_path):
    with pytest.raises(EvaluationError, match="'CLIP' is not a model here"):
        utd.reproduce(tmp_path, tmp_path, weights={"CLIP": "fake:"}, seed=0)


def test_a_row_with_a_missing_number_is_refused():
    with pytest.raises(ValueError, match="objects: has 1 numbers for 2 columns"):
        printed("objects | 1.0", ("UCF", "SSv2"))


@pytest.mark.django_db
def test_without_sources_every_number_of_the_paper_stays_with_its_reason(tmp_path):
    result = utd.reproduce(tmp_path, tmp_path / "work", weights={}, seed=0)
    assert len(result.cells) == sum(len(list(table.cells())) for table in TABLES.values()) + 11
    assert {cell.state for cell in result.cells} == {"not given", "needs weights", "not published"}
    assert all(cell.why for cell in result.cells)
    assert len(result.missing) == 4
    assert "published at https://utd-project.github.io" in result.missing[0]


@pytest.mark.full
@pytest.mark.django_db
def test_published_files_give_biases_splits_and_models(tmp_path, settings):
    settings.MEDIA_ROOT, settings.CACHE_ROOT = tmp_path / "media", tmp_path / "cache"
    sources, out = utd_sources.write(tmp_path / "sources"), tmp_path / "out"
    models = ["--weights", "umt-b-17M=fake:", "--weights", "E5-Mistral-7B-Instruct=fake-words:"]
    call_command("reproduce", "utd", "--sources", str(sources), "--out", str(out), "--json", *models)
    result = json.loads((out / "report.json").read_text())
    found = {(cell["table"], cell["row"], cell["column"]): cell for cell in result["cells"]}
    share = found["UTD, Table 4", "% object-biased samples", "UCF"]
    assert (share["ours"], share["state"]) == (25, "other data")
    full = found["UTD, Table 5", utd_sources.MODEL, "UCF, full"]
    assert full["ours"] == pytest.approx(100 * 7 / 12)
    assert found["UTD, Table 5", utd_sources.MODEL, "UCF, UTD-split"]["ours"] == pytest.approx(100 * 6 / 9)
    assert found["UTD, Table 6", utd_sources.RETRIEVER, "MSR, full"]["ours"] == 50
    assert found["UTD, Table A.2", utd_sources.RETRIEVER, "MSR, UTD-split"]["ours"] == 75
    assert Caption.objects.filter(text="the dog's turn").count() == 1
    assert found["UTD, Table 6", "umt-b-17M", "MSR, full"]["ours"] is not None
    assert found["UTD, Table A.4", "E5-Mistral-7B-Instruct", "MSR"]["state"] == "other data"
    told = found["UTD, Table 1", "activities", "UCF"]
    assert (told["ours"], told["state"]) == (100, "tiny model")
    assert told["why"].startswith("encoded by hashed words")
    assert found["UTD, Table 2", "dataset bias", "UCF, objects"]["state"] == "tiny model"
    assert found["UTD, Table A.3", "objects, middle frame", "MSR"]["state"] == "tiny model"
    assert found["UTD, Table 1", "objects", "K400"]["why"].startswith("source not given: UTD_descriptions")
    assert {cell["state"] for (table, *_), cell in found.items() if "user study" in table} == {"not published"}
    top_five = found["UTD, code: R@5, R@10 and top-5 of the models", utd_sources.MODEL, "UCF, top-5, full"]
    assert (top_five["paper"], top_five["state"]) == (None, "no number in the paper")
    recall = {row: cell["ours"] for (table, row, _), cell in found.items() if table.startswith("UTD, code: recall")}
    assert recall
    assert any("our split and the published one both remove" in note for note in result["notes"])
    assert {path.name for path in (out / "ucf").iterdir()} >= {"splits.json", "tables.csv", "classes.svg"}


@pytest.mark.full
@pytest.mark.django_db
def test_biases_and_recalls_equal_those_of_the_authors_scripts(tmp_path, settings):
    settings.MEDIA_ROOT, settings.CACHE_ROOT = tmp_path / "media", tmp_path / "cache"
    result = utd.reproduce(utd_varied.write(tmp_path / "sources"), tmp_path / "work", weights={}, seed=0)
    reproduced = {(cell.table, cell.row, cell.column): cell.ours for cell in result.cells}
    assert len(RELEASED) == 74
    for *names, number in RELEASED:
        assert reproduced[tuple(names)] == pytest.approx(number, abs=1e-6), names
