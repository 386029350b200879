"""Compute what a run's stored parts of scores say: tokens, accuracy by tokens, calibration, majority and pass@k."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.cached_results.cache import cached_by_fingerprint
from evaluation.metrics.answers import by_tokens, calibration, sampled, selective
from evaluation.metrics.ties import hit, standing
from evaluation.scoring.clip_keys import score_key, text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import item_texts_of, keyed_by, scored_records
from evaluation.scoring.run_results import fingerprint_of, is_settled
from evaluation.scoring.rung_scores import rows_of
from evaluation.scoring.rungs import Rung
from foilworks.core.hub.catalogue.registry import ENDPOINT, GENERATOR
from foilworks.core.hub.catalogue.thinking import TOKEN_COUNTS

# A caption's value with its parts, then those of its foils.
Answered = Sequence[tuple[float, Mapping[str, float]]]


def answer_figures(run: Run) -> dict[str, Any] | None:
    """Return the figures of the whole clips' items; None for a run whose scores have no tokens.

    Cached once the run's job is over.
    """
    if run.spec.partition(":")[0] not in (GENERATOR, ENDPOINT) or not run.model_key:
        return None
    if not is_settled(run):
        return _figures(run) or None
    project = run.release.project
    return cached_by_fingerprint(project, "answers", str(run.pk), fingerprint_of(run), lambda: _figures(run)) or None


def _figures(run: Run) -> dict[str, Any]:
    rows = rows_of(Score.objects.filter(model_key=run.model_key, protocol=run.protocol), run, Rung.FULL)
    rows = rows.filter(parts__has_key=TOKEN_COUNTS[0])
    fields = rows.values_list("clip_key", "text_sha256", "value", "parts", "kind")
    stored = {(clip, text): (value, parts, kind) for clip, text, value, parts, kind in fields.iterator()}
    if not stored:
        return {}
    kind = next(iter(stored.values()))[2]
    items: list[Answered] = []
    for record in scored_records(run.release):
        texts = item_texts_of(record).main
        key = score_key(keyed_by(run), record, "main", texts)
        values = [stored.get((key, text_key(text)), stored.get(("", text_key(text)))) for text in texts]
        if all(values):
            items.append([value[:2] for value in values if value is not None])
    if not items:
        return {}
    credit = np.array([_credit(item, PROTOCOLS[run.protocol].ties) for item in items])
    tokens = {name: np.array([sum(parts.get(name, 0) for _, parts in item) for item in items]) for name in TOKEN_COUNTS}
    # A clip's tokens are among those of its prompt.
    total = sum(tokens[name] for name in TOKEN_COUNTS if name != "clip_tokens")
    figures = {
        "n": len(items),
        "accuracy": float(credit.mean()),
        "tokens_per_item": {name: float(counts.mean()) for name, counts in tokens.items()},
        "by_tokens": by_tokens(np.asarray(total, dtype=np.float64), credit),
        "compute_seconds": (run.job.measured or {}).get("compute") if run.job else None,
    }
    if kind == "p_yes":
        figures |= _probabilities(items, credit)
    return figures


def _credit(item: Answered, ties: str) -> float:
    return float(hit(standing(np.array([[value for value, _ in item]])), ties)[0])


def _probabilities(items: Sequence[Answered], credit: np.ndarray) -> dict[str, Any]:
    probabilities = np.array([value for item in items for value, _ in item])
    outcomes = np.array([float(at == 0) for item in items for at in range(len(item))])
    best = [sorted((value for value, _ in item), reverse=True)[:2] for item in items]
    masses = [parts["mass"] for item in items for _, parts in item if "mass" in parts]
    counts = [
        (int(item[0][1]["n"]), int(item[0][1]["yes"]), max(int(parts["yes"]) for _, parts in item[1:]))
        for item in items
        if len(item) > 1 and all("yes" in parts for _, parts in item)
    ]
    return {
        "calibration": calibration(probabilities, outcomes),
        "selective": selective(np.array([pair[0] - pair[-1] for pair in best]), credit),
        "mass": {"mean": float(np.mean(masses)), "least": float(min(masses))} if masses else None,
        "samples": sampled(counts, [1 / len(item) for item in items if len(item) > 1]),
    }
