"""Runs whose rungs solve chosen items, from stored scores."""

from collections.abc import Collection, Mapping

from django.utils import timezone

from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import keyed_by, records_of
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.rung_scores import lenders_of
from evaluation.scoring.rungs import Rung, keys_of, ladder_of

CHAIN = ("no_clip", "best_frame", "shuffled")


def make_laddered(owner, release, solved: Mapping[str, Collection[str]], label="model") -> Run:
    """A run of `release` that scored these rungs; `solved`: {rung: ids of the items with the caption on top}.

    A single frame has a small margin, and the best frame a large one, so that it is the one that counts.
    """
    run = start_run(owner, release, RunRequest("fake:", label=label))
    rungs = [rung for rung in Rung if rung in solved and rung != Rung.FULL]
    run.model_key, run.params = f"{label}@1", {**run.params, "ladder": {"rungs": list(map(str, rungs)), "tried": 3}}
    run.scored_at = timezone.now()
    run.save()
    records = [*records_of(release), *records_of(release, private=True)]
    ladder, others, by = ladder_of(run.params), lenders_of(run), keyed_by(run)
    rows = {}
    for rung in (*rungs, Rung.FULL):
        for record in records:
            texts = (record["caption"], *record["foils"])
            keys = keys_of(by, record, "main", texts, rung, ladder, others.get(record["id"]))
            margin = 9.0 if rung == Rung.BEST_FRAME else 1.0
            value = margin if record["id"] in solved[rung] else -margin
            # Of the best frame the last one tried: the first and the middle one are rungs of their own.
            for key in keys[-1:]:
                rows |= {(key, text): 0.0 for text in texts[1:]} | {(key, texts[0]): value}
            for key in keys[:-1]:
                rows = {(key, text): 0.0 for text in texts[1:]} | {(key, texts[0]): -0.5} | rows
    same = {"model_key": run.model_key, "protocol": run.protocol, "kind": "cosine"}
    Score.objects.bulk_create(
        Score(clip_key=key, text_sha256=text_key(text), value=value, **same) for (key, text), value in rows.items()
    )
    return run
