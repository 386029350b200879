"""Put the ladders of one model side by side: answered at once, and after a thought."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint
from evaluation.charts import of_models
from evaluation.charts.inline import cached_chart
from evaluation.charts.of_reports import with_interval
from evaluation.ladder.ladders import KIND, chance_of, credit_by_rung, fingerprint_of_ladders, has_ladder
from evaluation.ladder.wording import RUNG_LABELS
from evaluation.metrics import ladder
from evaluation.metrics.comparison import paired_difference
from evaluation.metrics.ladder import LadderScores
from evaluation.metrics.rungs import RUNGS
from evaluation.scoring.models import Run
from evaluation.scoring.run_results import axes_of, is_comparable
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ENDPOINT, GENERATOR
from foilworks.core.hub.catalogue.thinking import LOGPROBS, OFF, READ

# Options that say how long a model may think; all others are equal in a pair, and a run has one set for all its rungs.
THOUGHT = ("thinking", "max_tokens", "reasoning_effort", "chat_template_kwargs")
AT_ONCE = "at once"


def thought_pairs(release: Release) -> list[dict[str, Any]]:
    """Return a pair of ladders for each run after a thought whose model also answered at once, all else equal.

    `rungs`: T of both with their intervals, and `gap`, after a thought minus at once, over the `n` items that both
    scored at all of these rungs.
    """
    at_once: dict[tuple[Any, ...], Run] = {}
    after: list[tuple[tuple[Any, ...], str, Run]] = []
    for run in latest_runs(release):
        if not has_ladder(run) or not is_comparable(run):
            continue
        slug, model, thought = _parted(run)
        thinking = thought.get("thinking", OFF if slug == GENERATOR else "")
        if slug in (GENERATOR, ENDPOINT) and thinking == OFF:
            at_once.setdefault(model, run)
        elif slug in (GENERATOR, ENDPOINT) and thinking in (READ, LOGPROBS):
            after.append((model, ", ".join(f"{name}={value}" for name, value in thought.items()), run))
    return [_pair(at_once[model], run, how) for model, how, run in after if model in at_once]


def _parted(run: Run) -> tuple[str, tuple[Any, ...], dict[str, str]]:
    """Return the adapter, what a pair has in common, and the options of the thought."""
    name, _, tail = run.spec.partition("?")
    options = dict(option.partition("=")[::2] for option in filter(None, tail.split("&")))
    others = frozenset((key, value) for key, value in options.items() if key not in THOUGHT)
    tried = run.params.get("ladder", {}).get("tried")
    common = (name, others, run.protocol, tried)
    return name.partition(":")[0], common, {key: options[key] for key in THOUGHT if key in options}


def _pair(first: Run, second: Run, how: str) -> dict[str, Any]:
    def make() -> dict[str, Any]:
        axes = axes_of(first.release)
        credits = [credit_by_rung(run, axes) for run in (first, second)]
        rungs = [rung for rung in RUNGS if all(rung in credit for credit in credits)]
        every = np.column_stack([credit[rung] for credit in credits for rung in rungs])
        scored = ~np.isnan(every).any(axis=1)
        data = [
            LadderScores({rung: credit[rung] for rung in rungs}, chance_of(axes), axes.clusters).only(scored)
            for credit in credits
        ]
        results = [ladder.compute(scores) for scores in data]
        rows = [
            {"rung": str(rung), "T": [result["rungs"][rung]["T"] for result in results]}
            | {"ci": [result["rungs"][rung]["ci"] for result in results], **_gap(data, rung)}
            for rung in (rungs if scored.any() else ())
        ]
        return {"n": int(scored.sum()), "chance": results[0]["chance"], "rungs": rows}

    subject = f"thought {first.pk} {second.pk}"
    facts = {"model": first.label, "runs": [first.pk, second.pk], "how": [AT_ONCE, how]}
    fingerprint = fingerprint_of_ladders([first, second])
    return facts | cached_by_fingerprint(first.release.project, KIND, subject, fingerprint, make)


def _gap(data: Sequence[LadderScores], rung: str) -> dict[str, Any]:
    gap = paired_difference(data[1].credit[rung], data[0].credit[rung], data[0].clusters)
    return {"gap": gap.value, "gap_ci": gap.ci}


def shown_pairs(pairs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the pairs with labels, and a chart of both ladders in each."""
    return [{**pair, **_drawn(pair)} for pair in pairs if pair["rungs"]]


def _drawn(pair: dict[str, Any]) -> dict[str, Any]:
    rows = [
        (RUNGS[row["rung"]].label, dict(zip(pair["how"], zip(row["T"], row["ci"], strict=True), strict=True)))
        for row in pair["rungs"]
    ]
    alt = "; ".join(
        f"{label}, {how}: {with_interval(value, ci)}" for label, series in rows for how, (value, ci) in series.items()
    )
    draw = partial(of_models.grouped, rows, chance=pair["chance"], label="accuracy (T)")
    labelled = [{**row, "label": RUNG_LABELS[row["rung"]]} for row in pair["rungs"]]
    return {"chart": partial(cached_chart, "thoughts", draw, [rows, pair["chance"]]), "alt": alt, "rungs": labelled}
