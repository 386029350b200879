"""One odd file or column refuses nothing else: the layouts of current video benchmarks, in small made-up files."""

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from evaluation.audit.audit import Options, audit, sources_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.audit.finding_text import lines_of
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.corpus.records import TextRecord

ACTIONS = ("lifts a cup", "drops a cup", "turns a cup", "hides a cup")


def records_of(path: Path) -> tuple[list[TextRecord], list[str]]:
    problems = Problems()
    return list(read_all(sources_of(Source(path)), problems)), problems.lines


def as_json(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text(json.dumps(rows), encoding="utf-8")


def named_options(number: int) -> list[str]:
    return [f"{letter}. He {action} {number} times." for letter, action in zip("ABCD", ACTIONS, strict=True)]


def test_a_list_column_in_several_row_groups_is_read(tmp_path):
    """As Video-MME's Parquet file has its options: each row group has a dictionary of its own."""
    rows = [
        {"videoID": f"v{n}", "question_id": f"{n}-1", "question": f"What does he do in part {n}?",
         "options": named_options(n), "answer": "ABCD"[n % 4]}
        for n in range(300)
    ]  # fmt: skip
    parquet.write_table(pyarrow.Table.from_pylist(rows), path := tmp_path / "test.parquet", row_group_size=90)
    records, problems = records_of(path)
    assert problems == []
    assert [record.right for record in records] == [f"He {ACTIONS[n % 4]} {n} times." for n in range(300)]


def test_options_in_a_list_column_called_option_are_read(tmp_path):
    """As EgoSchema's Parquet file has them, with the number of the right one as a text."""
    rows = [
        {"question_idx": f"{n:05d}", "question": "What does he do?", "video_idx": f"v{n}", "option": named_options(n),
         "answer": str(n % 4)}
        for n in range(40)
    ]  # fmt: skip
    parquet.write_table(pyarrow.Table.from_pylist(rows), path := tmp_path / "test.parquet")
    records, problems = records_of(path)
    assert problems == []
    assert [record.position for record in records] == [n % 4 for n in range(40)]


class TestFolders:
    """TVBench: ten files, one of which has digits as options."""

    @pytest.fixture
    def folder(self, tmp_path):
        of_actions = [
            {"video": f"v{n}.mp4", "question": f"What happens in part {n}?", "candidates": list(ACTIONS),
             "answer": ACTIONS[n % 4]}
            for n in range(30)
        ]  # fmt: skip
        as_json(tmp_path / "order.json", of_actions)
        of_counts = [
            {"video": f"w{n}.mp4", "question": "How many objects move?", "candidates": ["2", "0", "1", "3"],
             "answer": str(n % 4)}
            for n in range(30)
        ]  # fmt: skip
        as_json(tmp_path / "count.json", of_counts)
        return tmp_path

    def test_the_other_files_decide_what_answers_mean(self, folder):
        records, problems = records_of(folder)
        assert problems == []
        assert len(records) == 60
        assert [record.right for record in records if record.subtest == "count"] == [str(n % 4) for n in range(30)]

    def test_a_file_alone_that_leaves_it_open_is_refused(self, folder):
        with pytest.raises(CorpusError, match="can be read in several ways"):
            records_of(folder / "count.json")

    def test_a_file_that_nothing_decides_is_left_out_and_named(self, folder):
        (folder / "order.json").unlink()
        as_json(folder / "pairs.json", [{"caption": "A cup falls.", "foil": "A cup flies."}])
        records, (problem,) = records_of(folder)
        assert [record.right for record in records] == ["A cup falls."]
        assert "count.json" in problem
        assert problem.endswith("this file is left out")

    def test_nothing_of_a_file_is_read_that_breaks_at_its_end(self, folder):
        rows = (
            json.dumps({"video": f"x{n}", "caption": f"A cup {n} falls.", "foil": "It flies."}) for n in range(6_000)
        )
        (folder / "pairs.jsonl").write_bytes("\n".join(rows).encode() + b'\n{"video": "\xff')
        records, (problem,) = records_of(folder)
        assert len(records) == 60
        assert "pairs.jsonl:6001: encoding" in problem

    def test_a_file_that_is_left_out_fails_the_check_of_records(self, folder):
        (folder / "broken.json").write_text('[{"video": ', encoding="utf-8")
        result = audit(sources_of(Source(folder)), Options())
        (fields,) = [finding for finding in result["findings"] if finding["check"] == "fields"]
        assert (fields["verdict"], fields["value"], fields["details"]["bad"]) == ("fail", 1.0, 0)
        assert fields["details"]["files_left_out"] == 1
        assert "1 file could not be read. Its records are not among them." in lines_of(fields)

    def test_a_broken_file_is_left_out_and_named(self, folder):
        (folder / "broken.json").write_text('[{"video": ', encoding="utf-8")
        records, (problem,) = records_of(folder)
        assert len(records) == 60
        assert "broken.json:1: JSON" in problem


def test_questions_about_numbers_are_solved_beside_those_with_options(tmp_path):
    """As VSI-Bench has them: half of its questions ask for a number, and have no options."""
    rows: list[dict[str, object]] = []
    for n in range(12):
        rows.append({"id": n, "question_type": "count", "question": "How many cups?", "ground_truth": str(n + 2)})
        rows.append({"id": f"d{n}", "question": "How far?", "ground_truth": f"{n}.5", "options": None})
        options = ["A. left", "B. right"]
        rows.append({"id": f"o{n}", "question": f"Where is cup {n}?", "ground_truth": "AB"[n % 2], "options": options})
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = audit(sources_of(Source(tmp_path / "test.jsonl")), Options())
    fields = next(finding for finding in result["findings"] if finding["check"] == "fields")
    assert result["items"] == 12
    assert result["records"] == {"options": 12, "open": 24, "unread": 0}
    assert fields["details"]["problems"] == []
