"""Read answers that count in sets: records with `set`, or the files that publishers and harnesses write of such sets.

Records have `id`, `set`, and `correct` or `prediction` and `right`; an empty answer is unreadable. `options`: how many
there are (2). `clip`, `question`, `part`, `structure`, `place`: docs/reference/formulas.md#metric-sets. Published
files: samples of lmms-eval of MVP, Vinoground and Video-MME-v2, results of TimeBlind.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.sets import SetAnswers
from evaluation.score_files.answers import read_flag
from evaluation.score_files.json_records import Row
from evaluation.score_files.set_places import ANSWERS_OF_FOUR, TIMEBLIND, YES_ROLES, SetPlace, place_of
from evaluation.score_files.tables import Table
from foilworks.core.text.model_answers import read_answer
from foilworks.core.text.quoting import quoted

if TYPE_CHECKING:
    from evaluation.score_files.harness_logs import LoggedAnswer

# Of tasks whose prompt lists no options: what may be answered, and whether these are letters.
PLAIN_OPTIONS = ((("A", "B"), True), (("yes", "no"), False))


@dataclass(frozen=True)
class SetAnswer:
    """One answer at its place; `right` is None if it cannot be read."""

    id: str
    place: SetPlace
    right: bool | None
    n_options: int = 2
    subtest: str = ""
    cluster: str = ""


def read_sets(path: Path, columns: Mapping[str, str] | None = None) -> SetAnswers:
    """Read the answers of one model. EvaluationError names file, record and field, or a set that lacks answers."""
    # On request: every process that has reports imports this module, and pydantic reads logs alone.
    from evaluation.score_files.harness_logs import is_harness_log, logged_answers

    if is_harness_log(path):
        _details, logged = logged_answers(path)
        answers = [_of_log(answer) for answer in logged]
    else:
        table = Table(path, columns)
        is_timeblind = set(table.names) >= {*TIMEBLIND, "model_output"} or set(table.names) >= {
            "id",
            "video_path",
            "model_output",
        }
        answers = list(_of_timeblind(table) if is_timeblind else _of_records(table))
    if not answers:
        raise EvaluationError(f"{path}: record: there is none; give at least one answer")
    if short := incomplete_sets(answers):
        name, (n, size) = next(iter(short.items()))
        raise EvaluationError(f"{path}: set {quoted(name)} has {n} answers; give all {size} of each set")
    return set_answers(answers, path.stem)


def incomplete_sets(answers: Iterable[SetAnswer]) -> dict[str, tuple[int, int]]:
    """Return the sets that lack answers, or have too many: their number, and the right one."""
    counts = Counter(answer.place.set for answer in answers)
    sizes = {answer.place.set: answer.place.size for answer in answers}
    return {name: (counts[name], size) for name, size in sizes.items() if size not in (0, counts[name])}


def set_answers(answers: Sequence[SetAnswer], subtest: str) -> SetAnswers:
    """Return answers as columns; `subtest`: of answers without one."""
    # The answers of a chain in its order, whatever that of the file.
    answers = sorted(answers, key=lambda answer: answer.place.place)
    return SetAnswers(
        ids=[answer.id for answer in answers],
        right=np.array([np.nan if answer.right is None else float(answer.right) for answer in answers]),
        sets=[answer.place.set for answer in answers],
        clips=[answer.place.clip for answer in answers],
        questions=[answer.place.question for answer in answers],
        parts=[answer.place.part for answer in answers],
        structures=[answer.place.structure for answer in answers],
        chance=np.array([1 / answer.n_options for answer in answers]),
        subtests=[answer.subtest or subtest for answer in answers],
        clusters=[f"cluster {answer.cluster}" if answer.cluster else f"set {answer.place.set}" for answer in answers],
    )


def _of_records(table: Table) -> Iterator[SetAnswer]:
    seen: dict[str, int] = {}
    for row in table.rows():
        n_options = row.number("options") if row.fields.get("options") not in (None, "") else 2
        if n_options < 1 or n_options != int(n_options):
            row.fail("options", f"is {n_options:g}", "give the number of options")
        name = row.new_name("id", seen)
        row.text("set")
        yield SetAnswer(
            name, _place(row), _is_right(row), int(n_options), row.text("subtest", ""), row.text("cluster", "")
        )


def _place(row: Row) -> SetPlace:
    try:
        place = place_of(row.fields)
    except EvaluationError as error:
        raise EvaluationError(f"{row.path}:{row.line}: {error}") from error
    if place is None:
        row.fail("set", "is missing", "name the set of the answer")
    return place


def _is_right(row: Row) -> bool | None:
    if row.fields.get("correct") not in (None, ""):
        return read_flag(row, "correct")
    if row.fields.get("prediction") in (None, ""):
        return None
    return str(row.fields["prediction"]).strip().casefold() == row.text("right").strip().casefold()


def _of_timeblind(table: Table) -> Iterator[SetAnswer]:
    """Yield answers of TimeBlind: of four, the first and the last are yes or A (utils.py, build_answers)."""
    for row in table.rows():
        name = row.text("id") if "id" in row.fields else str(row.fields.get("index"))
        if not name.isdecimal():
            row.fail("index", f"is {quoted(name)}", "give the number of the answer")
        has_letters = row.text("question").rstrip(" .").endswith("A or B")
        options = ("A", "B") if has_letters else ("yes", "no")
        reading = read_answer(str(row.fields.get("model_output") or ""), options, has_letters=has_letters)
        place = place_of({"index": name, "video_path": row.fields.get("video_path")})
        if place is not None:
            is_yes = int(name) % ANSWERS_OF_FOUR in YES_ROLES
            right = None if reading.option is None else (reading.option == 0) == is_yes
            yield SetAnswer(name, place, right)


def _of_log(answer: "LoggedAnswer") -> SetAnswer:
    """Return an answer of lmms-eval's tasks of MVP, Vinoground or Video-MME-v2. EvaluationError: another task."""
    place = place_of(answer.facts)
    options, right, has_letters = _options_of(answer)
    if right is None or place is None:
        raise EvaluationError(
            f"{answer.where}: set: the log names no sets; give samples of the tasks of MVP, Vinoground or "
            "Video-MME-v2, or records with set and correct"
        )
    reading = read_answer(answer.text, options, has_letters=has_letters, finish_reason=answer.finish_reason)
    is_right = None if reading.option is None else reading.option == right
    ids = (answer.facts.get(name) for name in ("question_id", "video_id"))
    name = next((str(value) for value in ids if value), answer.id)
    return SetAnswer(name, place, is_right, len(options))


def _options_of(answer: "LoggedAnswer") -> tuple[Sequence[str], int | None, bool]:
    """Return the options, the place of the right one, None if that is unknown, and whether they have letters."""
    if answer.right is not None:
        return answer.options, answer.right, True
    for options, has_letters in PLAIN_OPTIONS:
        if answer.target.casefold() in (lowered := [option.casefold() for option in options]):
            return options, lowered.index(answer.target.casefold()), has_letters
    return (), None, True
