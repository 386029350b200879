"""A researcher says which model annotators may ask while they write, or switches it off."""

import re
from pathlib import Path

from django.conf import settings
from django.db import transaction

from generation.errors import GenerationError
from generation.model_paths import with_paths
from generation.models import HintModel
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User

SPEC = re.compile(r"[a-z][a-z0-9-]*:.*")


@transaction.atomic
def set_hint_model(person: User | None, project: Project, spec: str, *, enabled: bool = True) -> HintModel:
    """Store it; `person` None is the operator, who may name any folder. GenerationError for what names no model."""
    require_researcher(person, project)
    if not SPEC.fullmatch(spec.strip()) or len(spec) > 500:
        raise GenerationError(f"'{spec}' names no model; write SLUG:ARGUMENT, such as lm:gpt2 or clip:FOLDER")
    below = None if person is None else Path(settings.MODEL_ROOT)
    named = with_paths({"model": spec.strip()}, only_below=below)["model"]
    fields = {"spec": named, "enabled": enabled, "created_by": person}
    found, _made = HintModel.objects.update_or_create(project=project, defaults=fields)
    audit.record(audit.event(project, person, "generation.set_hint_model", found, spec=named, enabled=enabled))
    return found
