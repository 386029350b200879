"""Set and query the hint model of a project."""

import hashlib
import re
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.corpus.models import Caption
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.hints import hint_model
from generation.model_paths import with_paths
from generation.models import Hint, HintModel, HintShown

SPEC = re.compile(r"[a-z][a-z0-9-]*:.*")
JOB = "generation.answer_hint"
MAX_CHARACTERS = 2_000
# Max open hint requests per person, so that typing does not fill the queue.
MAX_WAITING_HINTS = 5
WAITS = timedelta(minutes=10)


@transaction.atomic
def set_hint_model(person: User | None, project: Project, spec: str, *, enabled: bool = True) -> HintModel:
    """Save the hint model. `person` None: the operator, who may name any folder. GenerationError: not a model."""
    require_researcher(person, project)
    if not SPEC.fullmatch(spec.strip()) or len(spec) > 500:
        raise GenerationError(f"{quoted(spec)} is not a model; write SLUG:ARGUMENT, such as lm:gpt2 or clip:FOLDER")
    below = None if person is None else Path(settings.MODEL_ROOT)
    named = with_paths({"model": spec.strip()}, only_below=below)["model"]
    fields = {"spec": named, "enabled": enabled, "created_by": person}
    found, _made = HintModel.objects.update_or_create(project=project, defaults=fields)
    audit.record(audit.event(project, person, "generation.set_hint_model", found, spec=named, enabled=enabled))
    return found


@transaction.atomic
def ask_hint(person: User, project: Project, caption: Caption, text: str) -> Hint:
    """Return the hint about `text`, which is requested once per model and text. A job computes its values.

    GenerationError: hints are off, the text is empty, or too many requests are open.
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
        raise GenerationError(_("The model has not yet answered your last requests. Try again when it has."))
