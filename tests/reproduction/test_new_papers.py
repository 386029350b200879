"""TsT and Video-Oasis from small made files in their published form."""

import json
import shutil
from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from foilworks.site.reproduction import oasis_printed, tst, tst_printed, video_oasis
from foilworks.site.reproduction.audits import audit_notes
from foilworks.site.reproduction.printed_checks import without_shares
from foilworks.site.reproduction.registry import SAMPLES
from foilworks.site.reproduction.table_cells import count_states
from foilworks.site.reproduction.tst_answers import number_of

# Numbers of the authors' own code (its functions at 472257c) on the files of the sample: table, row, column, number.
RELEASED = json.loads(Path(__file__).with_name("tst_released.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def without_questions(tmp_path_factory):
    """The result of the sample without its questions, so that nothing is audited."""
    folder = tmp_path_factory.mktemp("tst")
    shutil.copytree(SAMPLES / "tst/reproduce", folder / "reproduce")
    return tst.reproduce(folder, folder / "work", weights={}, seed=0)


def test_numbers_equal_those_of_the_authors_code(without_questions):
    reproduced = {(cell.table, cell.row, cell.column): cell.ours for cell in without_questions.cells}
    assert len(RELEASED) == 149
    for *names, number in RELEASED:
        assert reproduced[tuple(names)] == pytest.approx(number, abs=1e-6), names


def test_made_answers_are_other_data_and_what_is_missing_has_its_reason(without_questions):
    states = count_states(without_questions.cells)
    assert set(states) == {"other data", "not given", "needs weights", "not published"}
    assert all(cell.why for cell in without_questions.cells)
    base = {cell.column: cell.state for cell in without_questions.cells if cell.row == tst_printed.BASE}
    assert base["vision"] == "other data"


def test_sizes_of_the_published_questions_are_those_of_the_paper():
    assert sum(tst.ALL_TYPES.values()) == 5130
    assert all(row[0] - row[1] == row[2] for row in tst_printed.TABLES[tst_printed.T9].rows.values())


@pytest.mark.parametrize(
    ("answer", "kind", "number"),
    [
        ("0.6.", "object_abs_distance", 0.6),
        ("60 cm", "object_abs_distance", 0.6),
        ("1.5 meters.", "object_size_estimation", 150),
        ("about 20 centimeters", "object_size_estimation", 20),
        ("Two.", "object_counting", 2),
        ("twenty one", "object_counting", 21),
        ("two hundred and five", "room_size_estimation", 205),
        ("1,200", "room_size_estimation", 1200),
        ("unclear", "object_counting", None),
    ],
)
def test_the_first_number_of_an_answer_is_read_in_the_unit_of_its_question(answer, kind, number):
    assert number_of(answer, kind) == number


def test_contradictions_are_found_by_arithmetic():
    of_tst, of_oasis = list(tst_printed.contradictions()), list(oasis_printed.contradictions())
    assert len(of_tst) == 9
    assert "LLaVA-Video-7B, vision: 36.7 in TsT, Table 2, but 37.04 in TsT, Table 12." in of_tst
    assert len(of_oasis) == 4
    assert "leave 54.8 %" in of_oasis[0]
    assert "Gemini-2.5 Pro: overall over all is 46.7" in of_oasis[1]
    assert "give 48.2" in of_oasis[1]


def test_shares_that_fit_all_rows_blame_none():
    rows = {"a": (10, 20, 15), "b": (30, 50, 40), "c": (0, 8, 4)}
    assert list(without_shares("T", "all", rows)) == []
    assert len(list(without_shares("T", "all", {**rows, "d": (10, 20, 19), "e": (5, 7, 6)}))) == 1


def test_the_closed_sets_are_never_opened(tmp_path):
    folder = tmp_path / "sources"
    shutil.copytree(SAMPLES / "video-oasis", folder)
    for name in ("minerva", "rtv-bench", "mmrvbench", "implicitqa", "vcr-bench"):
        (folder / "data/benchmarks/annos" / name).mkdir()
        (folder / "data/benchmarks/annos" / name / "test.json").write_text("not JSON")
    shutil.rmtree(folder / "data/benchmarks/annos/vsi-bench")
    result = video_oasis.reproduce(folder, tmp_path / "work", weights={}, seed=0)
    sets = {cell.row for cell in result.cells if cell.table == video_oasis.OURS}
    assert sets == {"TVBench", "Video-Holmes"}
    totals = [cell for cell in result.cells if cell.table == oasis_printed.AUDIT]
    assert {(cell.ours, cell.state) for cell in totals} == {(None, "not given")}
    read = {cell.row: cell.ours for cell in result.cells if cell.column == "items that the solver read"}
    assert all(read[name] <= video_oasis.ITEMS for name in sets)
    ratios = {(cell.row, cell.column): cell.ours for cell in result.cells if cell.table == video_oasis.RATIO}
    assert ratios["TVBench", "shortcut-solvable, %"] == pytest.approx(45)
    assert ratios["Video-Holmes", "video-native"] == 7


@pytest.mark.parametrize("module", [tst, video_oasis])
def test_weights_are_refused(module, tmp_path):
    with pytest.raises(EvaluationError, match="'CLIP' is not a model here"):
        module.reproduce(tmp_path, tmp_path, weights={"CLIP": "fake:"}, seed=0)


def test_a_note_of_an_audit_names_its_sample():
    solved = {
        "unit": "questions",
        "value": 0.5,
        "interval": [0.4, 0.6],
        "chance": 0.25,
        "n": 400,
        "verdict": "cannot_tell",
    }
    document = {"items": 2490, "sample": {"items": 400}, "without_video": solved, "findings": []}
    (of_sample,) = audit_notes({"VSI-Bench": document})
    assert "audit of VSI-Bench (a random sample of 400 of its 2,490 items). Cannot tell: 50.0 %" in of_sample
    (of_all,) = audit_notes({"VSI-Bench": document | {"sample": {"items": 2490}}})
    assert "audit of VSI-Bench. Cannot tell" in of_all
