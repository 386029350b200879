"""Manage background runs: start, resume and stop generation, generate captions, tune a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from foilworks.core.corpus.models import Caption, Split, Subtest, Video
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.queue import cancel, enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted, shortened
from foilworks.core.text.registry import lookup, parse_params
from foilworks.core.text.storable import is_storable
from generation.captioning.registry import CAPTIONERS
from generation.default_filters import default_filters
from generation.errors import GenerationError
from generation.filters.registry import FILTERS, SCREENING
from generation.instruction_models import endpoints
from generation.instruction_models.prompt_rows import find_prompt
from generation.methods.registry import METHODS
from generation.model_paths import with_paths
from generation.models import CandidateGroup, GenerationRun
from generation.models.side_work import CaptionRun, CaptionSources, Tuning
from generation.parameter_checks import check_parameters
from generation.records import MODES
from generation.run_captions import RunCaptions, captions_to_use, with_last_caption
from generation.run_request import FoilRequest
from generation.tuning.parameters import TUNING

GENERATE_JOB = "generation.run"
SELECTION = {"split": str, "key_prefix": str, "caption_keys": list, "limit": int, "without_foil": bool}
MAX_SEED = 2**63 - 1
BUDGET = ("requests", "tokens")
STOPPED = (JobState.FAILED, JobState.CANCELLED)
PREVIEW, STORE = "generation.preview_captions", "generation.make_captions"
TUNE_JOB = "generation.tune"
FROM_ONE = ("epochs", "batch", "checkpoint_every")
MAX_NAME_LENGTH = 300
NO_TRAIN_CAPTIONS = gettext_lazy(
    "The train split has no captions, and training uses only that split. Import splits first."
)


@transaction.atomic
def start_run(person: User | None, project: Project, request: FoilRequest) -> GenerationRun:
    """Start a run: store it and queue its job (`run.job`). `person` None: the operator on the command line.

    Captions imported later are not part of the run. Raises AccessDenied, RegistryError (unknown method, filter,
    parameter) or GenerationError, each saying what to do.
    """
    require_researcher(person, project)
    owner = None if person is None else project
    method, filters = request.method, request.filters
    run = GenerationRun(
        project=project,
        subtest=request.subtest,
        method=method,
        mode=request.mode,
        params=with_paths(_params(method, request.params or {}, request.subtest), owner=owner),
        filters=_filters(
            {slug: {} for slug in default_filters(method, request.mode)} if filters is None else filters, owner
        ),
        seed=request.seed,
        selection=_selection(request.subtest, request.selection or {}),
        created_by=person,
    )
    _check(run)
    run.save()
    queue_run(run)
    names = ("method", "mode", "params", "filters", "seed")
    details = {name: getattr(run, name) for name in names}
    recipe = {"recipe": request.recipe} if request.recipe else {}
    audit.record(audit.event(project, person, "generation.start_run", run, **details, **recipe))
    return run


def queue_run(run: GenerationRun) -> None:
    """Queue the job of the run and store it with the run."""
    entry, model = METHODS[run.method], _loaded_model(run.params)
    run.job = enqueue(
        GENERATE_JOB,
        run.pk,
        queue="gpu" if entry.needs_gpu or model else "default",
        route=model,
        title=f"{entry.label}: {run.subtest.name}",
        project_id=run.project.pk,
    )
    run.save(update_fields=["job"])


def _loaded_model(params: Mapping[str, Any]) -> str:
    """Return the model that the method loads; empty if it uses rules or an endpoint."""
    return "" if params.get("endpoint") else str(params.get("model", "")).strip()


def _params(method: str, raw: Mapping[str, Any], subtest: Subtest) -> dict[str, Any]:
    params = parse_params(lookup(METHODS, method, "method"), raw)
    check_parameters(method, params)
    if endpoints.asks_a_model(params):
        params = endpoints.checked(params)
        find_prompt(params["template"], subtest.project)
    if method != "person":
        return params
    n_foils = params["foils"] or subtest.foils_per_item
    if n_foils != subtest.foils_per_item:
        raise GenerationError(
            f"parameter 'foils' is {n_foils}: the subtest {subtest.name} needs {subtest.foils_per_item} foils per "
            f"item; set foils={subtest.foils_per_item} or 0, or change the subtest"
        )
    return {**params, "foils": n_foils}


def _filters(filter_params: Mapping[str, Mapping[str, Any]], owner: Project | None) -> list[dict[str, Any]]:
    """Return the rows of `GenerationRun.filters`; the job adds the versions, since only jobs load filters."""
    parsed = {slug: parse_params(lookup(FILTERS, slug, "filter"), raw) for slug, raw in filter_params.items()}
    if SCREENING in parsed:
        _check_screening(parsed[SCREENING])
    return [{"slug": slug, "params": _with_vectors(with_paths(params, owner=owner))} for slug, params in parsed.items()]


def _check_screening(params: Mapping[str, Any]) -> None:
    where = f"filter '{SCREENING}': "
    if not 0 <= params["share"] <= 1:
        raise GenerationError(f"{where}parameter 'share' is {params['share']:g}; give a share of 0 to 1, such as 0.1")
    if params["frames"] < 1:
        raise GenerationError(f"{where}parameter 'frames' is {params['frames']}; give a number of frames from 1")
    kind, _colon, argument = params["model"].partition(":")
    if kind == endpoints.ENDPOINT:
        endpoints.endpoint_and_model(argument)


def _with_vectors(params: dict[str, Any]) -> dict[str, Any]:
    """Add the installation's word vectors if a filter needs vectors and names none."""
    return {**params, "vectors": settings.WORD_VECTORS} if params.get("vectors") == "" else params


def _selection(subtest: Subtest, raw_selection: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in raw_selection.items():
        if name not in SELECTION or not isinstance(value, SELECTION[name]):
            known = ", ".join(SELECTION)
            raise GenerationError(f"captions cannot be selected by {shortened(name)}={quoted(value)}; use {known}")
    if not is_storable(raw_selection) or not all(isinstance(key, str) for key in raw_selection.get("caption_keys", ())):
        raise GenerationError("a caption key contains a NUL character or invalid text; remove it")
    if raw_selection.get("split", "") not in Split.values:
        raise GenerationError(
            f"there is no split {quoted(raw_selection['split'])}; choose one of: {', '.join(Split.values[1:])}"
        )
    if raw_selection.get("limit", 1) < 1:
        raise GenerationError(f"the limit is {quoted(raw_selection['limit'])}; give a whole number of captions from 1")
    return with_last_caption(subtest, dict(raw_selection))


def _check(run: GenerationRun) -> None:
    if run.mode not in MODES:
        raise GenerationError(f"there is no mode {quoted(run.mode)}; choose one of: {', '.join(MODES)}")
    if run.subtest.project_id != run.project.pk:
        raise GenerationError(f"the subtest {run.subtest.name} belongs to another project; choose one of this project")
    if not 0 <= run.seed <= MAX_SEED:
        raise GenerationError(f"the seed is {run.seed}; give a whole number from 0 to {MAX_SEED}")
    if not len(RunCaptions(run)):
        raise GenerationError("the run has no captions; import captions into the project or select others")


@transaction.atomic
def resume_run(person: User, run: GenerationRun, *, budget: dict[str, int] | None = None) -> GenerationRun:
    """Resume a run; stored results stay. `budget`: new limits on requests and tokens.

    AccessDenied: not a researcher. GenerationError: the run is in progress, or nothing is left to do.
    """
    require_role(person, run.project, Role.RESEARCHER)
    job = run.job
    if job is not None and not job.is_over:
        raise GenerationError(_("The run is still in progress. Wait until it ends, or stop it first."))
    unanswered = CandidateGroup.objects.filter(run=run, unanswered=True).count()
    if not unanswered and job is not None and job.state not in STOPPED:
        raise GenerationError(_("This run has nothing left to do."))
    before = {name: run.params[name] for name in BUDGET if name in run.params}
    if budget:
        unknown = set(budget) - set(before)
        if unknown:
            raise GenerationError(_("This run uses no endpoint, so it has no budget. Leave the budget fields empty."))
        run.params = endpoints.checked({**run.params, **budget})
    n_updated = GenerationRun.objects.filter(pk=run.pk, job=job).update(params=run.params, job=None)
    if not n_updated:
        raise GenerationError(_("Another person has just restarted this run. Reload the page."))
    queue_run(run)
    after = {name: run.params[name] for name in before}
    details = {"before": before, "budget": after, "unanswered": unanswered}
    audit.record(audit.event(run.project, person, "generation.resume_run", run, **details))
    return run


@transaction.atomic
def stop_run(person: User, run: GenerationRun) -> None:
    """Stop a run: its job ends at its next progress update. The run can be resumed (`resume_run`).

    AccessDenied: not a researcher. GenerationError: the run is over.
    """
    require_role(person, run.project, Role.RESEARCHER)
    if run.job is None or not cancel(run.job):
        raise GenerationError(_("The run is already over, so it cannot be stopped. Reload the page."))
    audit.record(audit.event(run.project, person, "generation.stop_run", run))


@transaction.atomic
def preview_captions(
    person: User | None,
    project: Project,
    *,
    maker: str,
    mode: str = "corrected",
    params: Mapping[str, Any] | None = None,
    sources: str = CaptionSources.CAPTIONS.value,
    split: str = "",
    seed: int = 0,
) -> CaptionRun:
    """Store a caption run and queue its preview of the first sources. `person` None: the operator on the command line.

    AccessDenied, RegistryError (unknown maker or parameter), GenerationError: there is no source.
    """
    require_researcher(person, project)
    if mode not in MODES or sources not in CaptionSources.values or split not in Split.values:
        raise GenerationError(
            _("The mode, the sources or the split is not one of the options. Choose options from the form.")
        )
    own_videos = Video.objects.filter(project=project)
    rows = own_videos if sources == CaptionSources.VIDEOS else Caption.objects.filter(video__in=own_videos)
    last = rows.aggregate(last=Max("pk"))["last"]
    if last is None:
        raise GenerationError(_("This project has nothing to make captions from. Import videos or captions first."))
    run = CaptionRun.objects.create(
        project=project,
        maker=maker,
        mode=mode,
        seed=seed,
        sources=sources,
        split=split,
        last_source=last,
        params=_caption_params(project, maker, params or {}, None if person is None else project),
        created_by=person,
    )
    _queue(run, PREVIEW, _("Preview of %(maker)s"))
    details = {"maker": maker, "mode": mode, "params": run.params, "sources": sources, "split": split, "seed": seed}
    audit.record(audit.event(project, person, "generation.preview_captions", run, **details))
    return run


@transaction.atomic
def make_captions(person: User | None, run: CaptionRun) -> CaptionRun:
    """Queue the job that stores the captions. `person` None: the operator on the command line.

    GenerationError: no preview yet, an empty one, or queued before.
    """
    require_researcher(person, run.project)
    if run.preview is None:
        raise GenerationError(_("The preview is not ready yet. Wait until it is done."))
    if not run.preview["n_made"]:
        raise GenerationError(
            _("The caption maker made no captions from the first sources. Read the reasons, and change the settings.")
        )
    now = timezone.now()
    if CaptionRun.objects.filter(pk=run.pk, asked_at=None).update(asked_at=now) != 1:
        raise GenerationError(_("These captions were already requested. Reload the page to see them."))
    run.asked_at = now
    _queue(run, STORE, _("Captions by %(maker)s"))
    audit.record(audit.event(run.project, person, "generation.make_captions", run, maker=run.maker))
    return run


def _caption_params(project: Project, maker: str, raw: Mapping[str, Any], owner: Project | None) -> dict[str, Any]:
    params = parse_params(lookup(CAPTIONERS, maker, "caption maker"), raw)
    if endpoints.asks_a_model(params):
        params = endpoints.checked(params)
        find_prompt(params["template"], project)
    return with_paths(params, owner=owner)


def _queue(run: CaptionRun, dotted: str, title: str) -> None:
    label = CAPTIONERS[run.maker].label
    run.job = enqueue(dotted, run.pk, title=title % {"maker": label}, project_id=run.project.pk)
    run.save(update_fields=["job"])


def why_no_tuning(project: Project) -> str | Promise:
    """Return why nothing can be learned from the project's captions now; "" if something can."""
    return "" if captions_to_use(project).filter(video__split=Split.TRAIN).exists() else NO_TRAIN_CAPTIONS


@transaction.atomic
def start_tuning(
    person: User | None, project: Project, *, params: Mapping[str, Any] | None = None, seed: int = 0
) -> Tuning:
    """Start a tuning: store it and queue its job. `person` None: the operator on the command line.

    AccessDenied; RegistryError (unknown parameter); GenerationError: the train split is empty, a value that no
    training can use, or a model folder that a page may not name.
    """
    require_researcher(person, project)
    tuning_params = parse_params(TUNING, params or {})
    _check_tuning(tuning_params)
    tuning_params = with_paths(tuning_params, owner=None if person is None else project)
    folder = Path(tuning_params["model"])
    if folder.is_absolute() and not folder.is_dir():
        raise GenerationError(
            _("There is no model folder %(path)s. Check the path.") % {"path": tuning_params["model"]}
        )
    train = captions_to_use(project).filter(video__split=Split.TRAIN).order_by("-pk")
    last = train.values_list("pk", flat=True).first()
    if last is None:
        raise GenerationError(str(NO_TRAIN_CAPTIONS))
    tuning = Tuning.objects.create(
        project=project,
        base_model=tuning_params["model"][:MAX_NAME_LENGTH],
        params=tuning_params,
        seed=seed,
        last_caption=last,
        created_by=person,
    )
    title = _("Tuning %(model)s") % {"model": Path(tuning.base_model).name}
    tuning.job = enqueue(TUNE_JOB, tuning.pk, queue="gpu", title=title, project_id=project.pk)
    tuning.save(update_fields=["job"])
    audit.record(audit.event(project, person, "generation.start_tuning", tuning, params=tuning_params, seed=seed))
    return tuning


def _check_tuning(tuning_params: Mapping[str, Any]) -> None:
    for name in FROM_ONE:
        if tuning_params[name] < 1:
            raise GenerationError(_("%(name)s must be a whole number of at least 1.") % {"name": name})
    if not (
        0 < tuning_params["learning_rate"] <= 1 and 0 < tuning_params["density"] < 1 and tuning_params["mean_span"] >= 1
    ):
        raise GenerationError(_("learning_rate and density must be between 0 and 1. mean_span must be at least 1."))
    if not 0 <= tuning_params["verb_share"] <= 1:
        raise GenerationError(_("verb_share must be between 0 and 1."))
