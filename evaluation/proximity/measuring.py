"""Measure how close foils are to captions in meaning, batch by batch; only jobs import it, because encoders are
models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils import timezone

from evaluation.proximity.models import ProximityRun
from evaluation.proximity.stored_proximity import ROWS, cases_of
from evaluation.scoring.queries import records_of
from evaluation.scoring.truncation import cuts_of_parts
from foilworks.core.hub.catalogue.registry import ENCODER as ENCODER_ROLE
from foilworks.core.hub.opening import open_helper
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.text.language.tools import in_use
from foilworks.core.text.registry import load
from generation.filters.registry import FILTERS
from generation.models import Measure, Scorer
from generation.pair_measures import pair_sha256, scorer_sha256
from generation.records import Case

# The key of the filter with the same measure, so that its measurements are reused.
ENCODER = "sentence_similarity"
ANTONYMS = "antonym"
# A killed worker loses at most these.
PAIRS_PER_BATCH = 256

Batch = Callable[[Sequence[Case]], list[dict[str, Any]]]


def measure(run: ProximityRun, job: Job) -> None:
    """Measure every distinct pair of the run's release that is not measured yet. HubError: no such encoder."""
    records = records_of(run.release)
    cases = {pair_sha256(case): case for cases_of_record in cases_of(records) for case in cases_of_record}
    encoder, opposites = load(FILTERS[ENCODER]), load(FILTERS[ANTONYMS])
    params = {"model": run.model, "device": run.device}
    progress(job, 0, 2 * len(cases), f"pairs of texts: {len(cases)} ({run.name})")
    run.scorer = _scorer(ENCODER, encoder.VERSION, encoder.scorer(params))
    run.antonyms = _scorer(ANTONYMS, opposites.VERSION, in_use())
    texts = [(record["id"], "main", (record["caption"], *record["foils"])) for record in records]
    run.problems = cuts_of_parts(open_helper(run.model, ENCODER_ROLE, device=run.device), run.name, texts)
    run.save(update_fields=["scorer", "antonyms", "problems"])

    def by_rules(batch: Sequence[Case]) -> list[dict[str, Any]]:
        verdicts = [opposites.judge(case.caption, case.foil, others=(), params={"tagger": "auto"}) for case in batch]
        return [{"antonym": float(verdict.passed)} for verdict in verdicts]

    def by_encoder(batch: Sequence[Case]) -> list[dict[str, Any]]:
        return [dict(measure) for measure in encoder.measure_many(batch, params=params)]

    n_done = _measure(run.antonyms, cases, by_rules, job, 0)
    _measure(run.scorer, cases, by_encoder, job, n_done)
    run.measured_at = timezone.now()
    run.save(update_fields=["measured_at"])


def _measure(scorer: Scorer, cases: Mapping[str, Case], ask: Batch, job: Job, n_done: int) -> int:
    """Store what `ask` measures for the cases without a measure of the scorer; return how many steps are done."""
    keys = list(cases)
    for first in range(0, len(keys), ROWS):
        chunk = keys[first : first + ROWS]
        measured_pairs = set(
            Measure.objects.filter(scorer=scorer, pair_sha256__in=chunk).values_list("pair_sha256", flat=True)
        )
        missing = [key for key in chunk if key not in measured_pairs]
        n_done += len(chunk) - len(missing)
        for start in range(0, len(missing), PAIRS_PER_BATCH):
            batch = missing[start : start + PAIRS_PER_BATCH]
            measures = ask([cases[key] for key in batch])
            rows = [
                Measure(scorer=scorer, pair_sha256=key, values=values)
                for key, values in zip(batch, measures, strict=True)
            ]
            # Another job may have measured the same pair since.
            Measure.objects.bulk_create(rows, ignore_conflicts=True)
            n_done += len(batch)
            progress(job, n_done)
    progress(job, n_done)
    return n_done


def _scorer(slug: str, version: str, depends_on: Mapping[str, Any]) -> Scorer:
    key = scorer_sha256(slug, version, depends_on)
    defaults = {"filter": slug, "filter_version": version, "params": dict(depends_on)}
    return Scorer.objects.get_or_create(sha256=key, defaults=defaults)[0]
