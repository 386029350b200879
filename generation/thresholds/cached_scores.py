"""A run's filter scores as arrays: read from the tables once, then cached in a file, so that changing a threshold needs
only arithmetic and few queries.

A sheet contains only data that does not change while people work. The candidates' states are queried each time.
"""

import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray

from foilworks.core.corpus.rules.states import CandidateState
from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun

C = CandidateState
# Sheets per process in memory; one of 100,000 candidates and five filters takes 6 MB.
KEPT = 4
REJECTED, PASSED, NOT_JUDGED = 0, 1, -1
# States set by filters alone; after work by people a candidate has another state.
FILTER_STATES = (C.GENERATED, C.FILTERED_OUT, C.QUEUED)

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RunScores:
    """n candidates of the run's method, by id. `scores`, `verdicts`: filter -> (n,); a missing score is nan, a filter
    that did not judge (a cheaper one had rejected the foil) is NOT_JUDGED. `sampled`: filter -> (n,) drawn to pass
    whatever the score."""

    ids: Ints
    groups: Ints
    scores: dict[str, NDArray[np.float64]]
    verdicts: dict[str, NDArray[np.int8]]
    sampled: dict[str, NDArray[np.bool_]]

    def at(self, ids: Ints) -> NDArray[np.bool_]:
        """Return (n,) which candidates are in `ids`."""
        return np.isin(self.ids, ids)


@dataclass(frozen=True)
class CandidateStates:
    """The current states of the sheet's candidates, each (n,). `waits`: for people, in a group not started;
    `out`: rejected by filters alone; `held_back`: by a selection; `free`: their group is not started."""

    waits: NDArray[np.bool_]
    out: NDArray[np.bool_]
    held_back: NDArray[np.bool_]
    free: NDArray[np.bool_]


def scores_of(run: GenerationRun, slug: str) -> Iterator[tuple[int, float | None, bool, bool]]:
    """Yield (candidate, score, passed, sampled) of one filter in the run."""
    rows = FilterScore.objects.filter(run=run, filter=slug).order_by()
    yield from _raw(rows.values_list("candidate_id", "score", "passed", "sampled"))


def run_scores(run: GenerationRun) -> RunScores:
    """Return the run's sheet from its file, or read it from the tables (one query per filter plus one) and cache it."""
    path = _path(run)
    try:
        return _load(str(path))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        sheet = _read(run)
        _save(path, sheet)
        return sheet


def candidate_states(run: GenerationRun, sheet: RunScores) -> CandidateStates:
    """Query the current states: three queries, whatever the size of the run; one more without an edit stage."""
    own = Candidate.objects.filter(group__in=CandidateGroup.objects.filter(run=run)).order_by()
    waiting = C.QUEUED if run.project.edit_stage else C.IN_REVIEW
    waits = sheet.at(_ids(own.filter(state=waiting)))
    held_back = sheet.at(_ids(own.filter(state=C.FILTERED_OUT, held_back_by__gt="")))
    moved_on = _table(own.exclude(state__in=(*FILTER_STATES, waiting)).values_list("id", "group_id"), 2)
    begun = np.isin(sheet.groups, moved_on[:, 1])
    if not run.project.edit_stage:
        # All candidates wait for reviewers, so a group counts as started once it has review tasks.
        begun |= np.isin(sheet.groups, _ids(own.filter(state=waiting, group__tasked=True).distinct(), "group_id"))
    return CandidateStates(waits & ~begun, ~(waits | sheet.at(moved_on[:, 0]) | held_back), held_back, ~begun)


def _ids(rows: QuerySet[Candidate], column: str = "id") -> Ints:
    return np.fromiter((row[0] for row in _raw(rows.values_list(column))), dtype=np.int64)


def _table(rows: QuerySet[Candidate], width: int) -> Ints:
    return np.array(_raw(rows), dtype=np.int64).reshape(-1, width)


def _raw(rows: QuerySet) -> list[tuple]:
    """Return the rows as raw tuples: for a hundred thousand rows this takes a third of the ORM's time."""
    sql, params = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def _read(run: GenerationRun) -> RunScores:
    generated = Candidate.objects.filter(group__run=run, author=None, parent=None).order_by("id")
    rows = _table(generated.values_list("id", "group_id"), 2)
    ids, scores, verdicts, sampled = rows[:, 0], {}, {}, {}
    for slug in (row["slug"] for row in run.filters):
        score_rows = list(scores_of(run, slug))
        indices = np.searchsorted(ids, np.fromiter((row[0] for row in score_rows), dtype=np.int64))
        scores[slug] = np.full(len(ids), np.nan)
        scores[slug][indices] = [np.nan if row[1] is None else row[1] for row in score_rows]
        verdicts[slug] = np.full(len(ids), NOT_JUDGED, dtype=np.int8)
        verdicts[slug][indices] = [PASSED if row[2] else REJECTED for row in score_rows]
        sampled[slug] = np.zeros(len(ids), dtype=np.bool_)
        sampled[slug][indices] = [bool(row[3]) for row in score_rows]
    return RunScores(ids, rows[:, 1], scores, verdicts, sampled)


def _path(run: GenerationRun) -> Path:
    """Return the path of the sheet, which changes when a job of the run adds candidates."""
    if run.job and run.job.finished_at:
        stamp = f"{run.job_id}-{run.job.finished_at.timestamp():.6f}"
    else:
        stamp = f"open-{FilterScore.objects.filter(run=run).count()}"
    return Path(settings.CACHE_ROOT) / "score_sheets" / f"{run.pk}-{stamp}.npz"


def _save(path: Path, sheet: RunScores) -> None:
    """Save the sheet atomically, and delete older sheets of the run. A full disk is ignored."""
    columns = {"ids": sheet.ids, "groups": sheet.groups}
    columns |= {f"score:{slug}": column for slug, column in sheet.scores.items()}
    columns |= {f"verdict:{slug}": column for slug, column in sheet.verdicts.items()}
    columns |= {f"sampled:{slug}": column for slug, column in sheet.sampled.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as work:
            written = Path(work) / path.name
            np.savez(written, **columns)
            for old in path.parent.glob(f"{path.name.partition('-')[0]}-*.npz"):
                old.unlink(missing_ok=True)
            written.replace(path)
    except OSError:
        return


@lru_cache(maxsize=KEPT)
def _load(path: str) -> RunScores:
    """Load a sheet; its file never changes."""
    with np.load(path, allow_pickle=False) as columns:
        columns_by_name = {name: columns[name] for name in columns.files}

    def part(kind: str) -> dict[str, NDArray]:
        return {
            name.partition(":")[2]: column for name, column in columns_by_name.items() if name.startswith(f"{kind}:")
        }

    return RunScores(columns_by_name["ids"], columns_by_name["groups"], part("score"), part("verdict"), part("sampled"))
