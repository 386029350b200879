"""Read the evidence ladders of the sample project for the landing page. Everybody can sign in to that project."""

from typing import Any

from evaluation.ladder.ladders import ladder_of_run, ladder_runs
from evaluation.ladder.wording import RUNG_LABELS
from evaluation.scoring.rungs import Rung
from foilworks.core.corpus.models import Release

SHOWN = (Rung.NO_CLIP, Rung.BEST_FRAME, Rung.SHUFFLED, Rung.FULL)


def sample_ladder() -> list[dict[str, Any]]:
    """Return {name, chance, rungs: [{label, value, low, high}]} of the models of the sample project, in percent.

    Empty without a sample project whose accounts are published, or if its models were not scored with controls.
    """
    shared = Release.objects.filter(project__is_simulated=True, project__deleted_at=None).exclude(
        project__sign_in_hint={}
    )
    release = shared.select_related("project").order_by("pk").first()
    if release is None:
        return []
    ladders = []
    for run in sorted(ladder_runs(release), key=lambda run: run.pk):
        ladder = ladder_of_run(run)
        if ladder is None or not ladder["overall"]["rungs"]:
            continue
        rungs = [_row(rung, ladder["overall"]["rungs"]) for rung in SHOWN if rung in ladder["overall"]["rungs"]]
        ladders.append({"name": run.label, "chance": round(100 * ladder["overall"]["chance"]), "rungs": rungs})
    return ladders


def _row(rung: Rung, rows: dict[str, Any]) -> dict[str, Any]:
    row = rows[rung]
    low, high = row["ci"] or (row["T"], row["T"])
    values = {"value": row["T"], "low": low, "high": high}
    return {"label": RUNG_LABELS[rung], **{name: round(100 * value) for name, value in values.items()}}
