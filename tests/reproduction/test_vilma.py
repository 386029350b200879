"""ViLMA's tables from small files of the published form. The texts are made for the tests."""

import hashlib
import json
from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from foilworks.site import cli
from foilworks.site.reproduction import vilma, vilma_collection
from foilworks.site.reproduction.readability import readability
from foilworks.site.reproduction.report import markdown_of
from foilworks.site.reproduction.table_cells import compare, count_states, other_hash
from foilworks.site.reproduction.vilma import import_published, score_cells, score_published
from foilworks.site.reproduction.vilma_counts import count_files, find_files, read_files
from foilworks.site.reproduction.vilma_misprints import find_misprints
from foilworks.site.reproduction.vilma_paper import PUBLISHED
from tests.reproduction.vilma_files import write_files

AGAIN = ("Change of State: Action", "Action Counting: Easy", "Spatial Relations: Prepositions")
VALID = [3, 3, 2]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    write_files(folder)
    return folder


def counted(sources):
    files = find_files(sources)
    return count_files(files, read_files(files))


def cell_of(cells, table, row, column):
    (found,) = [cell for cell in cells if (cell.table, cell.row, cell.column) == (table, row, column)]
    return found


def test_counts_follow_from_the_votes_of_the_files(sources):
    cells = counted(sources)
    spatial = "Spatial Relations: Prepositions"
    found = {
        column: cell_of(cells, "ViLMA, Table 4", spatial, column)
        for column in ("#Inst.", "#Valid", "#Unan.", "#Valid (%)")
    }
    assert {column: cell.ours for column, cell in found.items()} == {
        "#Inst.": 4,
        "#Valid": 3,
        "#Unan.": 1,
        "#Valid (%)": 75.0,
    }
    assert found["#Inst."].why == "this file has 4 items, the paper's 708"
    assert cell_of(cells, "ViLMA, Table 5", spatial, "#Valid").ours == 3
    assert cell_of(cells, "ViLMA, Table 6", spatial, "#Both Valid").ours == 2
    assert cell_of(cells, "ViLMA, Table 1", "Spatial Relations", "#exs.").ours == 2


def test_a_missing_file_leaves_its_cells_empty_and_says_so(sources):
    cells = counted(sources)
    cell = cell_of(cells, "ViLMA, Table 4", "Rare Actions: Action Replacement", "#Valid")
    assert (cell.paper, cell.ours, cell.state) == (781, None, "not given")
    assert "rare-actions-verb-foils.json" in cell.why
    assert cell_of(cells, "ViLMA, Table 6", "Overall", "#Both Valid").state == "not given"


def test_misprints_are_found_by_the_papers_own_numbers():
    found = find_misprints()
    assert "ViLMA, Table 7, InternVideo, Difficult: P+T is 48.74, more than its P (89.63) or T (43.56)." in found
    assert "ViLMA, Table 2, ClipBERT, Spatial Relations: P is 39.7, but ViLMA, Table 11 has 44.0." in found
    assert "ViLMA, Table 10, Merlot Reserve: T over all is 80.57, outside of its subtests (84.39 to 96.27)." in found
    assert "ViLMA, Table 6, Change of State: Action: 37.82 % is printed for 314 of 624; " in "".join(found)
    lower_bounds = [sentence for sentence in found if "less than P + T - 100" in sentence]
    assert [sentence.split(", P")[0].split(": P")[0] for sentence in lower_bounds] == [
        "ViLMA, Table 7, InternVideo, Easy",
        "ViLMA, Table 9, InternVideo, Action",
        "ViLMA, Table 9, InternVideo, Reverse",
        "ViLMA, Table 10, InternVideo, Object Replacement",
    ]
    assert any("UniVL: P+T over all is 32.2; the subtests give 35.6 weighted" in sentence for sentence in found)
    assert len(found) == 24


def test_readability_follows_from_words_sentences_and_syllables():
    grade, ease = readability(["The cat sat on the mat.", "A table is made."])
    # Ten words, two sentences, eleven syllables.
    assert (grade, ease) == pytest.approx((0.39 * 5 + 11.8 * 1.1 - 15.59, 206.835 - 1.015 * 5 - 84.6 * 1.1))


@pytest.mark.parametrize(
    ("paper", "ours", "state"),
    [(37.8, 37.76, "equal"), (37.8, 37.9, "differs"), (None, 37.8, "no number in the paper")],
)
def test_numbers_are_equal_if_they_round_to_the_printed_one(paper, ours, state):
    assert compare("T", "row", "column", paper, ours, digits=1, why="other weights").state == state


@pytest.mark.parametrize("ours", [None, 37.9])
def test_a_number_that_is_not_equal_needs_a_reason(ours):
    with pytest.raises(ValueError, match="T, row, column"):
        compare("T", "row", "column", 37.8, ours, digits=1)


def test_an_equal_number_from_other_files_is_other_data(sources):
    caveat = other_hash(sources / "relations.json", PUBLISHED.values())
    cell = compare("T", "row", "column", 37.8, 37.8, digits=1, caveat=caveat)
    assert (cell.state, cell.ours) == ("other data", 37.8)
    published = hashlib.sha256((sources / "relations.json").read_bytes()).hexdigest()
    assert other_hash(sources / "relations.json", [published]) is None


@pytest.mark.django_db
def test_an_empty_folder_gives_a_report_with_every_missing_file(tmp_path):
    result = vilma.reproduce(tmp_path, tmp_path / "work", weights={}, seed=0)
    assert count_states(result.cells).keys() == {"not given"}
    assert len(result.missing) == 11
    assert "source not given: change-state-action.json" in markdown_of(result)


def test_an_unknown_name_of_weights_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(EvaluationError, match="'GPT2' is not a model here; choose one of: GPT-2, OPT, CLIP"):
        vilma.reproduce(tmp_path, tmp_path / "work", weights={"GPT2": "lm:gpt2"}, seed=0)


@pytest.mark.full
@pytest.mark.slow(seconds=60)
@pytest.mark.django_db(transaction=True)
def test_given_language_models_are_scored_on_the_published_items(sources, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    files = find_files(sources)
    items = read_files(files)
    project = import_published(files, items, sources, tmp_path)
    scored = score_published(project, files, items, sources, tmp_path, {"OPT": "fake:text"})
    found = {(cell.row, cell.column): cell for cell in score_cells(scored) if cell.table == "ViLMA, Table 11"}
    assert found["OPT", "Prepositions, T"].ours in {0.0, 50.0, 100.0}
    assert found["OPT", "Prepositions, T"].state == "other data"
    assert found["GPT-2", "Prepositions, T"].state == "tiny model"
    assert found["CLIP", "Prepositions, T"].state == "needs weights"


@pytest.mark.full
@pytest.mark.slow(seconds=60)
@pytest.mark.django_db(transaction=True)
def test_the_command_makes_scores_validates_and_releases(sources, tmp_path, monkeypatch, settings, capsys):
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(vilma_collection, "VALIDATORS", 5)
    out = tmp_path / "out"
    arguments = ["reproduce", "vilma", "--sources", str(sources), "--out", str(out)]
    assert cli.run(arguments) == 0
    told = json.loads((out / "report.json").read_text(encoding="utf-8"))
    cells = {(cell["table"], cell["row"], cell["column"]): cell for cell in told["cells"]}
    random = cells["ViLMA, Table 11", "Random", "Prepositions, P+T"]
    assert (random["paper"], random["ours"], random["state"]) == (25.0, 25.0, "other data")
    assert cells["ViLMA, Table 11", "GPT-2", "Prepositions, T"]["state"] == "tiny model"
    assert cells["ViLMA, Table 11", "CLIP", "Prepositions, T"]["state"] == "needs weights"
    again = cells["ViLMA, Table 4, foils made again", "Action Counting: Easy", "#Inst."]
    assert (again["ours"], again["state"]) == (4, "simulated")
    valid = [cells["ViLMA, Table 4, foils made again", row, "#Valid"]["ours"] for row in AGAIN]
    # The same seed gives the same votes, whoever gets the tasks.
    assert valid == VALID
    assert {path.name for path in out.iterdir()} >= {"report.md", "cells.csv", "audit.json", "release", "release-again"}
    assert {"figure-11-of-models.svg", "figure-11-of-categories.svg"} <= {path.name for path in out.glob("figures/*")}
    assert "finds it unchanged" in "".join(told["notes"])
    assert "simulated" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.run(arguments)
    assert "is not empty" in capsys.readouterr().err
