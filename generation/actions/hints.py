"""The model that annotators may ask while they write: choose it, ask it."""

import hashlib
import re
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.models import Caption
from generation.errors import GenerationError
from generation.hints import hint_model
from generation.model_paths import with_paths
from generation.models import Hint, HintModel, HintShown
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher, require_role
from projects.models import Project, Role, User
from text.quoting import quoted

SPEC = re.compile(r"[a-z][a-z0-9-]*:.*")
JOB = "generation.jobs.answer_hint"
MAX_CHARACTERS = 2_000
# So many unanswered questions a person has at once: a queue is not to be filled by typing.
MAX_WAITING_HINTS = 5
WAITS = timedelta(minutes=10)


@transaction.atomic
def set_hint_model(person: User | None, project: Project, spec: str, *, enabled: bool = True) -> HintModel:
    """Store it; `person` None is the operator, who may name any folder. GenerationError for what names no model."""
    require_researcher(person, project)
    if not SPEC.fullmatch(spec.strip()) or len(spec) > 500:
        raise GenerationError(f"{quoted(spec)} names no model; write SLUG:ARGUMENT, such as lm:gpt2 or clip:FOLDER")
    below = None if person is None else Path(settings.MODEL_ROOT)
    named = with_paths({"model": spec.strip()}, only_below=below)["model"]
    fields = {"spec": named, "enabled": enabled, "created_by": person}
    found, _made = HintModel.objects.update_or_create(project=project, defaults=fields)
    audit.record(audit.event(project, person, "generation.set_hint_model", found, spec=named, enabled=enabled))
    return found


@transaction.atomic
def ask_hint(person: User, project: Project, caption: Caption, text: str) -> Hint:
    """The hint about `text`, asked for now or before: a text is asked about once a model. Its values come by a job.

    GenerationError where hints are off, the text is none, or too many questions wait.
    """
    require_role(person, project, Role.ANNOTATOR)
    model = hint_model(project)
    if model is None:
        raise GenerationError(_("Hints are off in this project."))
    text = text.strip()
    if not text or len(text) > MAX_CHARACTERS:
        raise GenerationError(_("Write a sentence first."))
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    key = {"caption": caption, "text_sha256": sha256, "spec": model.spec}
    hint = Hint.objects.select_related("job").filter(**key).first()
    if hint is None:
        _require_room(person)
        hint = Hint.objects.create(**key, text=text)
        hint.job = enqueue(JOB, hint.pk, title=f"Hint: {model.spec}", project_id=project.pk)
        hint.save(update_fields=["job"])
    _shown, is_new = HintShown.objects.get_or_create(hint=hint, person=person)
    if is_new:
        audit.record(audit.event(project, person, "generation.ask_hint", hint, spec=model.spec))
    return hint


def _require_room(person: User) -> None:
    unanswered = Hint.objects.filter(value=None, problem="", created_at__gt=timezone.now() - WAITS)
    if unanswered.filter(shown__person=person).count() >= MAX_WAITING_HINTS:
        raise GenerationError(_("The model has not answered your last questions yet. Try again when it has."))
