"""Compute the evidence ladder of a run, and what a release needs over all its runs: after they end, then cached."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import NDArray

from evaluation.board.leaderboard import latest_runs
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics import ladder, need_evidence, needs
from evaluation.metrics.ladder import CHAIN, FULL, MIDDLE_FRAME, NO_CLIP, SHUFFLED, LadderScores
from evaluation.metrics.need_evidence import Evidence
from evaluation.metrics.needs import NeedData, Solver
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import item_texts_of, records_of, scored_records
from evaluation.scoring.run_results import (
    RUNGS_VERSION,
    Axes,
    axes_from,
    axes_of,
    credits_from,
    credits_of,
    fingerprint_of,
    is_comparable,
    is_settled,
    rungs_of,
)
from evaluation.scoring.rungs import Rung, ladder_of
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_records import cluster

Floats = NDArray[np.float64]
Record = Mapping[str, Any]
# In addition to the metrics' own versions: raise it if ladders are computed differently.
VERSION = "6"
KIND = "ladder"
TEXT_SOLVER = "blind solver"
# The rungs that show what items need; the others are only compared with the full clip.
LEVEL_RUNGS = frozenset(rung for rungs in ladder.SHOWN_BY.values() for rung in rungs)


def chance_of(axes: Axes) -> Floats:
    """Return the credit of a guess on each item, (n,)."""
    return 1.0 / (1.0 + np.array(axes.n_foils, dtype=np.float64))


def has_ladder(run: Run) -> bool:
    return is_settled(run) and len(rungs_of(run)) > 1


def scored_rungs(run: Run) -> list[str]:
    """Return the rungs of the run with a score; it can lack scores that it was asked for."""
    return cached_by_fingerprint(
        run.release.project,
        KIND,
        f"rungs {run.pk}",
        fingerprint_of_ladders([run]),
        lambda: list(credit_by_rung(run, axes_of(run.release))),
    )


def credit_by_rung(run: Run, axes: Axes) -> dict[str, Floats]:
    """Return {rung: (n,) credit} of every rung with a score."""
    credits = {str(rung): credits_of(run, axes, rung).main for rung in rungs_of(run)}
    return {rung: credit for rung, credit in credits.items() if not np.isnan(credit).all()}


def ladder_of_run(run: Run) -> dict[str, Any] | None:
    """Return `metrics.ladder` of the run, also by subtest; None if it scored no rung but the full clip."""
    if not has_ladder(run):
        return None

    def make() -> dict[str, Any]:
        axes = axes_of(run.release)
        data = LadderScores(credit_by_rung(run, axes), chance_of(axes), axes.clusters)
        names = dict.fromkeys(axes.subtests)
        subtests = {name: ladder.compute(data.only(axes.scope(f"subtest:{name}"))) for name in names}
        return {"overall": ladder.compute(data), "subtests": subtests}

    facts = {"run": run.pk, "model": run.label, "model_key": run.model_key, "protocol": run.protocol}
    results = cached_by_fingerprint(run.release.project, KIND, str(run.pk), fingerprint_of_ladders([run]), make)
    # The other rungs have no scores yet, for example while a job waits for a worker.
    return None if results["overall"]["rungs"].keys() == {FULL} else {**facts, **results}


def fingerprint_of_ladders(runs: Sequence[Run]) -> str:
    """Return what ladders follow from: the scores of the runs, and which views they are of."""
    scored = [[fingerprint_of(run), run.params.get("ladder")] for run in runs]
    return digest([VERSION, RUNGS_VERSION, ladder.VERSION, needs.VERSION, scored])


def ladder_runs(release: Release) -> list[Run]:
    """Return the runs whose rungs are compared over a benchmark, latest first, one per model and protocol.

    Those with the whole chain; if there are none, those that share the most rungs of it.
    """
    chains: dict[tuple[str, ...], list[Run]] = {}
    for run in latest_runs(release):
        if has_ladder(run) and is_comparable(run):
            scored = scored_rungs(run)
            chain = tuple(rung for rung in CHAIN if rung in scored)
            if len(chain) > 1:
                chains.setdefault(chain, []).append(run)
    return max(chains.items(), key=lambda chain_runs: (len(chain_runs[0]), len(chain_runs[1])), default=((), []))[1]


def text_runs(release: Release) -> list[Run]:
    """Return the runs of models that read texts alone and have no ladder: what they answer needs no clip."""
    runs = [run for run in latest_runs(release) if not has_ladder(run) and run.model_key and is_comparable(run)]
    # One score of a model tells; there may be a million.
    without_clip = Exists(Score.objects.filter(model_key=OuterRef("model_key"), clip_key=""))
    text_only = Run.objects.filter(without_clip, pk__in=[run.pk for run in runs]).values_list("pk", flat=True)
    return [run for run in runs if run.pk in set(text_only)] if runs else []


def ladder_of_release(release: Release) -> dict[str, Any] | None:
    """Return what a release needs (`metrics.needs`), by subtest and overall; None without a ladder.

    `models`: those with a ladder. `evidence`: effective `looks` per level, and per need those that count, whether they
    are `enough` to name items, and how many items are `supported`.
    """
    runs = ladder_runs(release)
    if not runs:
        return None
    blind = text_runs(release)

    def make() -> dict[str, Any]:
        axes = axes_of(release)
        data = need_data(runs, blind)
        found = need_evidence.evidence(data, axes.subtests)
        return {
            "overall": needs.shares(data),
            "subtests": {
                name: needs.shares(data.only(axes.scope(f"subtest:{name}"))) for name in dict.fromkeys(axes.subtests)
            },
            "evidence": {
                "looks": found.looks,
                "needs": {
                    need: {
                        "looks": found.looks_for(need),
                        "enough": found.is_enough(need),
                        "supported": int(found.supported(need).sum()),
                    }
                    for need in need_evidence.LOWEST
                },
            },
        }

    results = cached_by_fingerprint(
        release.project, KIND, f"release {release.pk}", fingerprint_of_ladders([*runs, *blind]), make
    )
    models = [{"run": run.pk, "model": run.label, "model_key": run.model_key, "protocol": run.protocol} for run in runs]
    return {"release": release.pk, "models": models, **results}


def evidence_of(runs: Sequence[Run], *, with_private: bool = False) -> tuple[list[Record], Evidence]:
    """Return the records of the runs' release, public ones first, and the evidence of the runs for each."""
    release = runs[0].release
    records = [*records_of(release), *(records_of(release, private=True) if with_private else ())]
    blind = text_runs(release)

    def make() -> dict[str, Any]:
        data = need_data(runs, blind, with_private=with_private)
        found = need_evidence.evidence(data, [record["subtest"] for record in records])
        return {"p": {need: p.tolist() for need, p in found.p_need.items()}, "looks": found.looks}

    subject = f"evidence {sorted(run.pk for run in runs)} {with_private}"
    stored = cached_by_fingerprint(release.project, KIND, subject, fingerprint_of_ladders([*runs, *blind]), make)
    p_need = {need: np.array(p, dtype=np.float64) for need, p in stored["p"].items()}
    return records, Evidence(p_need, stored["looks"])


def need_data(runs: Sequence[Run], blind: Sequence[Run], *, with_private: bool = False) -> NeedData:
    """Return all looks of the runs at the items of their release; `blind`: runs that only count against a need."""
    release = runs[0].release
    parts = [scored_records(release), *([records_of(release, private=True)] if with_private else ())]
    axes = [axes_from(records) for records in parts]
    pairs = list(zip(axes, parts, strict=True))
    solvers = [Solver(run.label, _stacked([_looks(run, *pair) for pair in pairs])) for run in runs]
    for run in blind:
        credit = [credits_from(run, *pair).main[:, None] for pair in pairs]
        solvers.append(Solver(run.label, {NO_CLIP: np.vstack(credit)}, is_model=False))
    solver = _text_solver(release, [record for records in parts for record in records])
    solvers.append(Solver(TEXT_SOLVER, {NO_CLIP: solver[:, None]}, is_model=False))
    chance = np.concatenate([chance_of(part) for part in axes])
    control, control_chance = _control(runs, axes[0], parts[0])
    return NeedData(solvers, chance, [name for part in axes for name in part.clusters], control, control_chance)


def _stacked(parts: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {rung: np.vstack([part[rung] for part in parts]) for rung in parts[0]}


def _looks(run: Run, axes: Axes, records: Sequence[Record]) -> dict[str, Floats]:
    """Return rung -> (n, looks): the score of the rung, then further looks; single frames are looks at one frame."""
    ladder_params = ladder_of(run.params)
    scored = scored_rungs(run)
    looks: dict[str, list[Floats]] = {}
    for rung in rungs_of(run):
        if rung not in scored or rung not in LEVEL_RUNGS:
            continue
        looks.setdefault(str(rung), []).append(credits_from(run, axes, records, rung).main)
        for look in ladder_params.looks_of(rung) if ladder_params and rung not in ladder_params.files else ():
            name = {Rung.BEST_FRAME: MIDDLE_FRAME, Rung.FULL: needs.DRAWN}.get(rung, str(rung))
            looks.setdefault(name, []).append(credits_from(run, axes, records, rung, look).main)
    return {rung: np.column_stack(columns) for rung, columns in looks.items()}


def _control(runs: Sequence[Run], axes: Axes, records: Sequence[Record]) -> tuple[dict[int, dict[str, Floats]], Floats]:
    """Return the credits of proficiency items, which ask for no order by design, for the shuffled and the full clip."""
    has_pair = np.array([bool(item_texts_of(record).proficiency) for record in records], dtype=bool)
    n_texts = np.array([max(2, len(item_texts_of(record).proficiency)) for record in records])
    control = {}
    for number, run in enumerate(runs):
        rungs = {rung: credits_of(run, axes, Rung(rung)).proficiency[has_pair] for rung in (SHUFFLED, FULL)}
        if (~np.isnan(rungs[SHUFFLED] + rungs[FULL])).sum() >= ladder.MIN_ITEMS:
            control[number] = {rung: values[:, None] for rung, values in rungs.items()}
    return control, 1.0 / n_texts[has_pair]


def _text_solver(release: Release, records: Sequence[Record]) -> Floats:
    """Return whether the solver of the audit answers each item from its texts, (n,): 1, or .5 if it cannot choose."""

    def make() -> list[float]:
        # Imported here: its learner takes a second.
        from foilworks.core.solver.questions import Row, separate_answers
        from foilworks.core.solver.solve import first_view

        rows = [
            Row(row["caption"], tuple(row["foils"]), video=cluster(row["video"]), kind=row["subtest"])
            for row in records
        ]
        solution = first_view(*separate_answers(rows))
        return [float(np.sign(item.s - 0.5) / 2 + 0.5) for item in solution.items]

    fingerprint = digest([needs.VERSION, release.content_hash, len(records)])
    return np.array(cached_by_fingerprint(release.project, KIND, f"texts {release.pk}", fingerprint, make))
