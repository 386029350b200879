"""Captions made where a source has none: a look at what a maker would make, then, when somebody says so, all of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.models import Caption, Split, Video
from generation.asking import endpoints
from generation.asking.prompt_rows import find_prompt
from generation.captioning.registry import CAPTIONERS
from generation.errors import GenerationError
from generation.model_paths import with_paths
from generation.models.side_work import CaptionRun, CaptionSources
from generation.records import MODES
from jobs.queue import enqueue
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User
from text.registry import lookup, parse_params

PREVIEW, STORE = "generation.jobs.run_caption_preview", "generation.jobs.run_captions"


@transaction.atomic
def preview_captions(
    person: User,
    project: Project,
    *,
    maker: str,
    mode: str = "corrected",
    params: Mapping[str, Any] | None = None,
    sources: str = CaptionSources.CAPTIONS.value,
    split: str = "",
    seed: int = 0,
) -> CaptionRun:
    """Store what is asked and queue the look at its first sources; nothing is made yet.

    AccessDenied, RegistryError (unknown maker or parameter), GenerationError where there is no source.
    """
    require_role(person, project, Role.RESEARCHER)
    if mode not in MODES or sources not in CaptionSources.values or split not in Split.values:
        raise GenerationError(_("Mode, sources or split are none of those that the form offers; choose from it."))
    own_videos = Video.objects.filter(project=project)
    rows = own_videos if sources == CaptionSources.VIDEOS else Caption.objects.filter(video__in=own_videos)
    last = rows.aggregate(last=Max("pk"))["last"]
    if last is None:
        raise GenerationError(_("There is nothing to make captions of; import videos or captions first."))
    run = CaptionRun.objects.create(
        project=project,
        maker=maker,
        mode=mode,
        seed=seed,
        sources=sources,
        split=split,
        last_source=last,
        params=_params(project, maker, params or {}),
        created_by=person,
    )
    _queue(run, PREVIEW, _("Looking at %(maker)s"))
    details = {"maker": maker, "mode": mode, "params": run.params, "sources": sources, "split": split, "seed": seed}
    audit.record(audit.event(project, person, "generation.preview_captions", run, **details))
    return run


@transaction.atomic
def make_captions(person: User, run: CaptionRun) -> CaptionRun:
    """Queue the job that stores the captions. GenerationError: no look yet, one that shows none, or twice."""
    require_role(person, run.project, Role.RESEARCHER)
    if run.preview is None:
        raise GenerationError(_("The preview is not there yet; wait for it."))
    if not run.preview["n_made"]:
        raise GenerationError(_("The maker makes nothing of the first sources; see why, and choose otherwise."))
    now = timezone.now()
    if CaptionRun.objects.filter(pk=run.pk, asked_at=None).update(asked_at=now) != 1:
        raise GenerationError(_("These captions were asked for before; reload to see them."))
    run.asked_at = now
    _queue(run, STORE, _("Captions by %(maker)s"))
    audit.record(audit.event(run.project, person, "generation.make_captions", run, maker=run.maker))
    return run


def _params(project: Project, maker: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    params = parse_params(lookup(CAPTIONERS, maker, "caption maker"), raw)
    if endpoints.asks_a_model(params):
        params = endpoints.checked(params)
        find_prompt(params["template"], project)
    return with_paths(params, only_below=Path(settings.MODEL_ROOT))


def _queue(run: CaptionRun, dotted: str, title: str) -> None:
    label = CAPTIONERS[run.maker].label
    run.job = enqueue(dotted, run.pk, title=title % {"maker": label}, project_id=run.project.pk)
    run.save(update_fields=["job"])
