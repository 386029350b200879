"""Read answers that count in sets: records with `set`, or the files that publishers and harnesses write of such sets.

Records have `id`, `set`, and `correct` or `prediction` and `right`; an empty answer is unreadable. `options`: how many
there are (2). `clip`, `question`, `part`, `structure`, `place`: docs/reference/formulas.md#metric-sets. Published
files: samples of lmms-eval of MVP and Video-MME-v2, results of TimeBlind.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.sets import CONSISTENCY, PARTS, STRUCTURES, SetAnswers
from evaluation.score_files.answers import read_flag
from evaluation.score_files.harness_logs import is_harness_log, logged_answers
from evaluation.score_files.harness_shapes import LoggedAnswer
from evaluation.score_files.json_records import Row
from evaluation.score_files.tables import Table
from foilworks.core.text.model_answers import read_answer
from foilworks.core.text.quoting import quoted

# Video-MME-v2 calls a set without a chain so.
RELEVANCE = "relevance"
TIMEBLIND = frozenset({"index", "video_path", "model_output"})
TIMEBLIND_ANSWERS = 4


@dataclass(frozen=True)
class _Answer:
    """One answer; `right` is None if it cannot be read."""

    id: str
    set: str
    right: bool | None
    clip: str = ""
    question: str = ""
    part: str = ""
    structure: str = ""
    place: float = 0.0
    n_options: int = 2
    subtest: str = ""
    cluster: str = ""


def read_sets(path: Path, columns: Mapping[str, str] | None = None) -> SetAnswers:
    """Read the answers of one model. EvaluationError names file, record and field."""
    if is_harness_log(path):
        _details, logged = logged_answers(path)
        answers = [_of_log(answer) for answer in logged]
    else:
        table = Table(path, columns)
        is_timeblind = set(table.names) >= TIMEBLIND or set(table.names) >= (TIMEBLIND - {"index"}) | {"id"}
        answers = list(_of_timeblind(table) if is_timeblind else _of_records(table))
    if not answers:
        raise EvaluationError(f"{path}: record: there is none; give at least one answer")
    # The answers of a chain in its order, whatever that of the file.
    answers.sort(key=lambda answer: answer.place)
    return SetAnswers(
        ids=[answer.id for answer in answers],
        right=np.array([np.nan if answer.right is None else float(answer.right) for answer in answers]),
        sets=[answer.set for answer in answers],
        clips=[answer.clip for answer in answers],
        questions=[answer.question for answer in answers],
        parts=[answer.part for answer in answers],
        structures=[answer.structure for answer in answers],
        chance=np.array([1 / answer.n_options for answer in answers]),
        subtests=[answer.subtest or path.stem for answer in answers],
        clusters=[f"cluster {answer.cluster}" if answer.cluster else f"set {answer.set}" for answer in answers],
    )


def _of_records(table: Table) -> Iterator[_Answer]:
    seen: dict[str, int] = {}
    for row in table.rows():
        part = row.text("part", "")
        if part and part not in PARTS:
            row.fail("part", f"is {quoted(part)}", f"give one of: {', '.join(PARTS)}")
        n_options = row.number("options") if row.fields.get("options") not in (None, "") else 2
        if n_options < 1 or n_options != int(n_options):
            row.fail("options", f"is {n_options:g}", "give the number of options")
        yield _Answer(
            row.new_name("id", seen),
            row.text("set"),
            _is_right(row),
            row.text("clip", ""),
            row.text("question", ""),
            part,
            _structure(row),
            row.number("place") if row.fields.get("place") not in (None, "") else 0.0,
            int(n_options),
            row.text("subtest", ""),
            row.text("cluster", ""),
        )


def _is_right(row: Row) -> bool | None:
    if row.fields.get("correct") not in (None, ""):
        return read_flag(row, "correct")
    if row.fields.get("prediction") in (None, ""):
        return None
    return str(row.fields["prediction"]).strip().casefold() == row.text("right").strip().casefold()


def _structure(row: Row) -> str:
    structure = _named_structure(str(row.fields.get("structure") or ""))
    if structure and structure not in STRUCTURES:
        row.fail("structure", f"is {quoted(structure)}", f"give one of: {', '.join(STRUCTURES)}")
    return structure


def _named_structure(text: str) -> str:
    plain = re.sub(r"\s", "", text)
    return CONSISTENCY if plain == RELEVANCE else plain


def _of_timeblind(table: Table) -> Iterator[_Answer]:
    """Yield answers of TimeBlind: of four, the first and the last are yes or A (utils.py, build_answers)."""
    for row in table.rows():
        name = row.text("id") if "id" in row.fields else str(row.fields.get("index"))
        if not name.isdecimal():
            row.fail("index", f"is {quoted(name)}", "give the number of the answer")
        set_number, role = divmod(int(name), TIMEBLIND_ANSWERS)
        prompt = row.text("question")
        has_letters = prompt.rstrip(" .").endswith("A or B")
        options = ("A", "B") if has_letters else ("yes", "no")
        reading = read_answer(str(row.fields.get("model_output") or ""), options, has_letters=has_letters)
        right = None if reading.option is None else reading.option == (role in (1, 2))
        yield _Answer(name, str(set_number), right, str(role % 2), str(role // 2), place=int(name))


def _of_log(answer: LoggedAnswer) -> _Answer:
    """Return an answer of lmms-eval's tasks of MVP and Video-MME-v2. EvaluationError: another task."""
    facts = answer.facts
    name = str(facts.get("video_id") or "")
    if answer.right is None or not ({"group_type", "group_structure"} <= facts.keys() or "rating" in facts):
        raise EvaluationError(
            f"{answer.where}: set: the log names no sets; give samples of the tasks of MVP or Video-MME-v2, or records "
            "with set and correct"
        )
    reading = read_answer(answer.text, answer.options, finish_reason=answer.finish_reason)
    right = None if reading.option is None else reading.option == answer.right
    if "group_type" in facts:
        is_chain = facts["group_type"] != RELEVANCE
        structure = _named_structure(str(facts["group_structure"])) if is_chain else CONSISTENCY
        number = str(facts.get("question_id") or "").rpartition("-")[2]
        place = float(number) if number.isdecimal() else 0.0
        return _Answer(answer.id, name, right, structure=structure, place=place, n_options=len(answer.options))
    set_name, _, clip = name.rpartition("_")
    return _Answer(name, set_name, right, clip=clip, question="1", n_options=len(answer.options))
