"""Run scoring through an endpoint: one job with as many requests in flight as the endpoint accepts.

It is not cut into shards: the rate and the budget of a run are counted in one place. A worker that continues the run
repeats no answered question.
"""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from time import monotonic
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.loop import ScoringCounts
from evaluation.scoring.models import Run, RunUsage
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.served.opening import Served
from evaluation.scoring.served.rows import OutcomeRows, adopt_answers, note_versions
from evaluation.scoring.served.served_model import UNPARSABLE_ANSWERS, Stop, score_served
from evaluation.scoring.shards.pending_pairs import ClipWork, ScoreWriter, in_time, listed, store
from evaluation.scoring.shards.plan import Todo, costs, pairs_of, rounds_of
from foilworks.core.hub.served.budget import SPENT
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.media.decode_pool import DecodePool, usual_workers

SCORES_PER_WRITE, SECONDS_PER_WRITE = 64, 2.0


def run_requests(run: Run, opened: Any, work: list[ClipWork], todo: Todo, job: Job) -> dict[str, Any]:
    """Query everything and store the results; return what has no score, by problem and item.

    EvaluationError: the budget is used up, or the endpoint stopped answering. Results so far are stored.
    """
    served: Served = opened.served
    tally, stop, began = ScoringCounts(), Stop(), monotonic()
    adopt_answers(run, work)
    outcomes = OutcomeRows(run, work)
    try:
        done = _ask(run, opened, todo, job, tally, stop, outcomes)
    finally:
        outcomes.close()
        note_versions(run)
        RunUsage.objects.filter(pk=served.usage.pk).update(seconds=F("seconds") + monotonic() - began)
    if stop.why:
        raise EvaluationError(_stopped(run, stop, done, job.total, served))
    progress(job, job.total)
    return listed(work, tally)


def _ask(run: Run, opened: Any, todo: Todo, job: Job, tally: ScoringCounts, stop: Stop, outcomes: OutcomeRows) -> int:
    """Return how many of the run's texts have a score now."""
    served: Served = opened.served
    before, done = dict(job.measured), max(0, job.total - pairs_of(todo))
    decoders = settings.FOILWORKS_DECODERS or usual_workers()
    with ScoreWriter(partial(store, run, opened.info)) as writer, DecodePool(decoders) as pool:

        def report_progress(_replies: int) -> None:
            measured = costs(tally, writer.seconds, before, _device(served.facts))
            progress(job, done, message=f"asking {opened.info.model_id}", measured=measured)

        served.answers.heard = report_progress
        new_scores = score_served(
            served.model,
            [request for round_requests in rounds_of(todo, len(todo) or 1) for request in round_requests],
            tally=tally,
            read_clip=reader(opened.protocol, opened.caches.frames),
            pool=pool,
            note=outcomes.note,
            stop=stop,
        )
        # Closed at once after an error or a signal: otherwise requests would be sent until it is collected.
        with closing(new_scores):
            for scores in in_time(new_scores, SCORES_PER_WRITE, SECONDS_PER_WRITE):
                # Before their scores: a question with a score is not asked again after a kill.
                outcomes.close()
                writer.put(scores)
                done += len(scores)
    job.measured = costs(tally, writer.seconds, before, _device(served.facts))
    progress(job, done, measured=job.measured)
    return done


def _device(facts: Mapping[str, Any]) -> str:
    return f"endpoint {facts['endpoint']}"


def _stopped(run: Run, stop: Stop, done: int, total: int, served: Served) -> str:
    counts = {"done": done, "total": total}
    if stop.why == UNPARSABLE_ANSWERS:
        return _(
            "None of the first %(n)s answers names an option (the last: %(said)s). If the model reasons before it "
            "answers, raise max_tokens. Retry the run to send more requests."
        ) % {"n": stop.useless, "said": stop.last_answer}
    if stop.why != SPENT:
        counts["said"] = getattr(served.model.stored.chat, "last_failure", "")
        return (
            _(
                "The endpoint failed too many times in a row (the last: %(said)s). %(done)s of %(total)s texts are "
                "scored. Retry the run when the endpoint works."
            )
            % counts
        )
    limits = ", ".join(f"{value:g} {name}" for name, value in run.params.get("budget", {}).items())
    return _(
        "The budget is used up (%(limits)s). %(done)s of %(total)s texts are scored. Raise the budget and "
        "retry the run."
    ) % {**counts, "limits": limits}
