"""Compute the stress tests of a run from its stored answers: after it ends, then cached."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics import stress
from evaluation.metrics.stress import CLAIMS, REVERSED_FORWARD, STRESS
from evaluation.scoring.clip_keys import score_key
from evaluation.scoring.models import Run
from evaluation.scoring.queries import item_texts_of, keyed_by, scored_records, view_scores
from evaluation.scoring.run_results import fingerprint_of, is_settled
from evaluation.scoring.rung_scores import StoredScores, values_of
from evaluation.scoring.rungs import ladder_of, shown_key
from foilworks.core.corpus.release_records import cluster

Floats = NDArray[np.float64]


def stress_of_run(run: Run) -> dict[str, dict[str, Any]]:
    """Return {name: `metrics.stress` of it} of the stress tests that the run was asked for; {} before it ends."""
    ladder = ladder_of(run.params)
    names = ladder.stress if ladder is not None and is_settled(run) else ()
    if not names:
        return {}
    fingerprint = digest([stress.VERSION, fingerprint_of(run), names])

    def make() -> dict[str, dict[str, Any]]:
        return {name: _measured(run, name) for name in names}

    return cached_by_fingerprint(run.release.project, "ladder", f"stress {run.pk}", fingerprint, make)


def _measured(run: Run, name: str) -> dict[str, Any]:
    kind, records = STRESS[name], scored_records(run.release)
    scores = view_scores(run, [*kind.views, ""])
    clusters = [cluster(record["video"]) for record in records]
    if name == REVERSED_FORWARD:
        forward, backward = (_values(run, records, scores, view, kind.texts)[:, 0] for view in kind.views)
        return stress.reversed_forward(forward, backward, clusters)
    assert name == CLAIMS
    claimed = _values(run, records, scores, kind.views[0])
    plain = _values(run, records, scores, "")
    return stress.claims(claimed[:, 0], claimed[:, 1:], plain[:, 1:], clusters)


def _values(
    run: Run, records: list[dict[str, Any]], scores: StoredScores, view: str, asked: tuple[str, ...] = ()
) -> Floats:
    """Return (n, texts) values of a view of each record's clip; NaN without one, and beyond an item's texts."""
    rows = []
    for record in records:
        texts = asked or item_texts_of(record).main
        keyed = keyed_by(run)
        key = shown_key(keyed, record, "main", texts, view) if view else score_key(keyed, record, "main", texts)
        rows.append(values_of(scores, key, texts) or [])
    values = np.full((len(rows), max(map(len, rows), default=0) or 1 + (not asked)), np.nan)
    for at, row in enumerate(rows):
        values[at, : len(row)] = row
    return values
