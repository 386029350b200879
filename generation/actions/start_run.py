"""A new generation run, queued: a method with its parameters over captions of a project, for one subtest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from corpus.models import Split, Subtest
from generation.asking import endpoints
from generation.asking.prompt_rows import find_prompt
from generation.errors import GenerationError
from generation.filters.registry import FILTERS, default_filters
from generation.methods.registry import METHODS
from generation.model_paths import with_paths
from generation.models import GenerationRun
from generation.records import MODES
from generation.run_captions import RunCaptions, selected_rows
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User
from text.registry import lookup, parse_params
from text.storable import is_storable

JOB = "generation.jobs.run_generation"
SELECTION = {"split": str, "key_prefix": str, "caption_keys": list}
MAX_SEED = 2**63 - 1


@transaction.atomic
def start_run(
    person: User | None,
    project: Project,
    *,
    subtest: Subtest,
    method: str,
    mode: str = "corrected",
    params: Mapping[str, Any] | None = None,
    filters: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    selection: Mapping[str, Any] | None = None,
    recipe: str = "",
) -> GenerationRun:
    """Store the run and queue its job (`run.job`). `person` None is the operator of the command line.

    `filters`: slug -> its parameters, in the order they run; None = the default ones. `selection`: see RunCaptions;
    captions that come in later are not part of the run. Raises AccessDenied, RegistryError (unknown method, filter,
    parameter) or GenerationError, each saying what to do.
    """
    require_researcher(person, project)
    below = None if person is None else Path(settings.MODEL_ROOT)
    run = GenerationRun(
        project=project,
        subtest=subtest,
        method=method,
        mode=mode,
        params=with_paths(_params(method, params or {}, subtest), only_below=below),
        filters=_filters({slug: {} for slug in default_filters(method)} if filters is None else filters, below),
        seed=seed,
        selection=_selection(project, selection or {}),
        created_by=person,
    )
    _check(run)
    run.save()
    queue_run(run)
    details = {"method": method, "mode": mode, "params": run.params, "filters": run.filters, "seed": seed}
    named = {"recipe": recipe} if recipe else {}
    audit.record(audit.event(project, person, "generation.start_run", run, **details, **named))
    return run


def queue_run(run: GenerationRun) -> None:
    """Queue the job that works on the run, and note it as the run's own."""
    entry = METHODS[run.method]
    run.job = enqueue(
        JOB,
        run.pk,
        queue="gpu" if entry.needs_gpu else "default",
        title=f"{entry.label}: {run.subtest.name}",
        project_id=run.project.pk,
    )
    run.save(update_fields=["job"])


def _params(method: str, raw: Mapping[str, Any], subtest: Subtest) -> dict[str, Any]:
    params = parse_params(lookup(METHODS, method, "method"), raw)
    if endpoints.asks_a_model(params):
        params = endpoints.checked(params)
        find_prompt(params["template"], subtest.project)
    if method != "person":
        return params
    wanted = params["foils"] or subtest.foils_per_item
    if wanted != subtest.foils_per_item:
        raise GenerationError(
            f"the subtest {subtest.name} takes {subtest.foils_per_item} foils an item; "
            f"set foils={subtest.foils_per_item} or 0, or change the subtest"
        )
    return {**params, "foils": wanted}


def _filters(wanted: Mapping[str, Mapping[str, Any]], below: Path | None) -> list[dict[str, Any]]:
    """The rows of `GenerationRun.filters`; the job adds the versions, since only jobs load filters."""
    parsed = {slug: parse_params(lookup(FILTERS, slug, "filter"), raw) for slug, raw in wanted.items()}
    return [
        {"slug": slug, "params": _with_vectors(with_paths(params, only_below=below))} for slug, params in parsed.items()
    ]


def _with_vectors(params: dict[str, Any]) -> dict[str, Any]:
    """The installation's word vectors where a filter needs some and none are named."""
    return {**params, "vectors": settings.WORD_VECTORS} if params.get("vectors") == "" else params


def _selection(project: Project, wanted: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in wanted.items():
        if name not in SELECTION or not isinstance(value, SELECTION[name]):
            raise GenerationError(f"captions cannot be selected by {name}={value!r}; use {', '.join(SELECTION)}")
    if not is_storable(wanted) or not all(isinstance(key, str) for key in wanted.get("caption_keys", ())):
        raise GenerationError("captions cannot be selected by what no key holds: give text, without a NUL character")
    if wanted.get("split", "") not in Split.values:
        raise GenerationError(f"there is no split '{wanted['split']}'; choose one of: {', '.join(Split.values[1:])}")
    last = selected_rows(project, {}).aggregate(last=Max("pk"))["last"]
    return {**wanted, "last_caption": last or 0}


def _check(run: GenerationRun) -> None:
    if run.mode not in MODES:
        raise GenerationError(f"there is no mode '{run.mode}'; choose one of: {', '.join(MODES)}")
    if run.subtest.project_id != run.project.pk:
        raise GenerationError(f"the subtest {run.subtest.name} belongs to another project; choose one of this project")
    if not 0 <= run.seed <= MAX_SEED:
        raise GenerationError(f"the seed is {run.seed}; give a whole number from 0 to {MAX_SEED}")
    if not len(RunCaptions(run)):
        raise GenerationError("the run has no captions; import captions into the project or select others")
