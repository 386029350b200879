"""Store the values of score files: of the whole clips, and of the rungs, each in a file of its own."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.pairwise import PairScores
from evaluation.score_files.score_readers import AUTO, read_given
from evaluation.score_files.scores import Notes
from evaluation.scoring.clip_keys import Keyed, text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import SCORE_FILE, Record, item_texts_of, records_of
from evaluation.scoring.rungs import Rung, keys_of, ladder_of
from evaluation.scoring.unread_answers import ANSWER_UNPARSABLE, MODEL_REFUSED
from foilworks.core.corpus.records import WINNER
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.text.batches import batched
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.model_answers import REFUSED

ROWS_PER_QUERY = 500
NO_ITEM = "{}: none of its ids is in the release; use the ids of items.jsonl of the release"


def store_files(run: Run, job: Job) -> dict[str, Any]:
    """Store the values of a run's score file, and of the files of its rungs that are not stored yet, by item.

    Returns the run's problems: ids on one side only are listed, not dropped.
    """
    records = records_of(run.release)
    # A run that gets a rung later keeps what it has: its first file may be gone.
    problems = dict(run.problems) if run.scored_at is not None else _store_whole(run, records, job)
    files = run.params.get("ladder", {}).get("files", {})
    for rung in [rung for rung, file_facts in files.items() if "sha256" not in file_facts]:
        _store_rung(run, records, Rung(rung), problems)
    progress(job, len(records), len(records))
    return problems


def _read(path: Path, file_facts: Mapping[str, Any], records: Sequence[Record], notes: Notes) -> PairScores:
    able = Path(file_facts["proficiency"]) if file_facts.get("proficiency") else None
    try:
        form, columns = file_facts.get("form", AUTO), file_facts.get("columns")
        return read_given(path, form, records, able, notes=notes, columns=columns)
    except ActionableError as error:
        # Only the file name: users do not know the folder.
        raise EvaluationError(str(error).replace(f"{path.parent}/", "")) from error


def _store_rung(run: Run, records: Sequence[Record], rung: Rung, problems: dict[str, Any]) -> None:
    """Store the values of one rung under the hash of its file; its problems replace those of an earlier file."""
    ladder = run.params["ladder"]
    file_facts = ladder["files"][rung]
    path, notes = Path(file_facts["path"]), Notes()
    try:
        data = _read(path, file_facts, records, notes)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    except EvaluationError as error:
        raise EvaluationError(f"{rung}: {error}") from error
    stored_facts = {**file_facts, "sha256": sha256, **({"harness": notes.harness} if notes.harness else {})}
    run.params = {**run.params, "ladder": {**ladder, "files": {**ladder["files"], rung: stored_facts}}}
    rows, file_problems = _rows_of(run, records, data, WINNER if notes.only_winners else "file", notes.unreadable, rung)
    if not rows:
        raise EvaluationError(f"{rung}: {NO_ITEM.format(path.name)}")
    _upsert(rows)
    run.save(update_fields=["params"])
    mark = f"({rung})"
    for name in {*problems, *file_problems}:
        before = [
            problem for problem in problems.get(name, ()) if not (isinstance(problem, str) and problem.endswith(mark))
        ]
        problems[name] = [*before, *(f"{problem} {mark}" for problem in file_problems.get(name, ()))]
    for name, unread in _unread_problems(run, records, notes.unreadable, rung).items():
        before = [problem for problem in problems.get(name, ()) if problem.get("rung") != rung]
        problems[name] = [*before, *unread]


def _store_whole(run: Run, records: Sequence[Record], job: Job) -> dict[str, Any]:
    """Store the file of the whole clips under its own hash."""
    path = Path(run.spec.removeprefix(SCORE_FILE))
    able = Path(run.params["proficiency"]) if run.params.get("proficiency") else None
    notes = Notes()
    data = _read(path, run.params, records, notes)
    content = path.read_bytes() + (able.read_bytes() if able else b"")
    run.model_key = "file:" + hashlib.sha256(content).hexdigest()
    if notes.harness:
        run.params = {**run.params, "harness": notes.harness}
    run.save(update_fields=["model_key", "params"])
    rows, problems = _rows_of(run, records, data, WINNER if notes.only_winners else "file", notes.unreadable)
    problems["ignored_columns"] = list(notes.ignored)
    problems |= _unread_problems(run, records, notes.unreadable)
    if not rows:
        why = next(iter(notes.unreadable.values()), "")
        raise EvaluationError(f"{path.name}: no answer can be read: {why}" if why else NO_ITEM.format(path.name))
    if PROTOCOLS[run.protocol].paired_only and np.isnan(data.proficiency).all():
        raise EvaluationError(
            f"{path.name}: has no scores of proficiency items, which {PROTOCOLS[run.protocol].label} requires; give "
            "their file too (--proficiency, or the second file on the page), or choose another protocol"
        )
    # Values that an older version or a different format read differently are corrected.
    _upsert(rows)
    progress(job, len(records), len(records), f"items of the file: {len(data.ids) - len(problems['not_in_release'])}")
    without_item = notes.unmatched.get("proficiency_without_item", [])
    problems["not_in_release"] += [f"{name} (proficiency)" for name in without_item]
    return problems


def _unread_problems(
    run: Run, records: Sequence[Record], unreadable: Mapping[str, str], rung: Rung = Rung.FULL
) -> dict[str, list[Any]]:
    """Return the unreadable answers as problems, and delete scores that an earlier reader of answers gave them."""
    problems: dict[str, list[Any]] = {MODEL_REFUSED: [], ANSWER_UNPARSABLE: []}
    keys: set[str] = set()
    for record in records:
        why = unreadable.get(record["id"])
        if why is None:
            continue
        problem = {"item": record["id"], "why": why}
        if rung != Rung.FULL:
            problem |= {"why": f"{rung.replace('_', ' ')}: {why}", "rung": str(rung)}
        problems[MODEL_REFUSED if why == REFUSED else ANSWER_UNPARSABLE].append(problem)
        texts = item_texts_of(record, Keyed.ITEM)
        keys.update(keys_of(Keyed.ITEM, record, "main", texts.main, rung, ladder_of(run.params)))
    for batch in batched(sorted(keys), ROWS_PER_QUERY):
        Score.objects.filter(model_key=run.model_key, protocol=run.protocol, clip_key__in=batch).delete()
    return problems


def _upsert(rows: list[Score]) -> None:
    Score.objects.bulk_create(
        rows,
        batch_size=ROWS_PER_QUERY,
        update_conflicts=True,
        update_fields=["value", "kind"],
        unique_fields=["model_key", "protocol", "clip_key", "text_sha256"],
    )


def _rows_of(
    run: Run,
    records: Sequence[Record],
    data: PairScores,
    kind: str,
    unreadable: Collection[str],
    rung: Rung = Rung.FULL,
) -> tuple[list[Score], dict[str, list[Any]]]:
    """Return the scores that a file gives the items of the release, and ids on one side only."""
    row_by_id = {name: row for row, name in enumerate(data.ids)}
    ladder = ladder_of(run.params)
    problems: dict[str, list[Any]] = {"not_in_file": [], "not_in_release": [], "wrong_number_of_texts": []}
    left_out: list[str] = []
    n_pairs = 0
    rows: list[Score] = []
    for record in records:
        row = row_by_id.get(record["id"])
        if record["id"] in unreadable:
            continue
        if row is None:
            problems["not_in_file"].append(record["id"])
            continue
        item_texts = item_texts_of(record, Keyed.ITEM)
        n_pairs += bool(item_texts.proficiency)
        comparisons = [
            ("main", item_texts.main, data.main[row]),
            ("proficiency", item_texts.proficiency, data.proficiency[row]),
        ]
        for comparison, texts, scores in comparisons:
            values = scores[~np.isnan(scores)]
            if len(values) == len(texts):
                (key,) = keys_of(Keyed.ITEM, record, comparison, texts, rung, ladder)
                rows += _file_rows(run, key, texts, values.tolist(), kind)
            elif len(values):
                problems["wrong_number_of_texts"].append(f"{record['id']} ({comparison})")
            else:
                left_out.append(f"{record['id']} ({comparison})")
    # A file without proficiency pairs omits none of them.
    if len(left_out) < n_pairs:
        problems["not_in_file"] += left_out
    item_ids = {record["id"] for record in records}
    problems["not_in_release"] = [name for name in data.ids if name not in item_ids]
    return rows, problems


def _file_rows(run: Run, key: str, texts: tuple[str, ...], values: list[float], kind: str) -> list[Score]:
    """Return rows of one item; of a foil that occurs twice in it, the higher score counts, its stronger rival."""
    best: dict[str, float] = {}
    for text, value in zip(texts, values, strict=True):
        best[text] = max(value, best.get(text, value))
    return [
        Score(
            model_key=run.model_key,
            protocol=run.protocol,
            clip_key=key,
            text_sha256=text_key(text),
            value=value,
            kind=kind,
        )
        for text, value in best.items()
    ]
