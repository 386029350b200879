"""The part of the page of studies about choices among all texts of an item, with the clip and without it."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.actions.studies import Sample, open_choices
from annotation.forms import BaselineForm
from annotation.models import Stage, Task, TaskState
from foilworks.core.projects.models import Project

# Stage -> title, what it asks of people, and the button that opens it.
WORDS: dict[str, tuple[Promise, Promise, Promise]] = {
    Stage.BASELINE: (
        _("Human baseline"),
        _(
            "Annotators see a clip and all texts of its item in random order, and choose the text that fits best. "
            "People who wrote, edited, reviewed or judged anything for that video are excluded. The result appears on "
            "the leaderboard of the release."
        ),
        _("Start baseline"),
    ),
    Stage.UNSEEN: (
        _("Without the clip"),
        _(
            "Annotators see all texts of an item without its clip, and choose the true one. The same people are "
            "excluded, and nobody judges an item both with and without its clip. If they are right more often than "
            "chance, the texts reveal the answer. The result appears beside the probes of the release and in the "
            "agreement report."
        ),
        _("Start choices without the clip"),
    ),
}


@dataclass(frozen=True)
class ChoiceStudy:
    """`progress`: items that were opened (`asked`) and those that are `done`."""

    stage: str
    title: Promise
    about: Promise
    button: Promise
    form: BaselineForm
    progress: dict[str, int]


def choice_studies(project: Project, study: str, sent: QueryDict | None) -> list[ChoiceStudy]:
    """Return both studies. `sent`: the form of the one that a request opens."""
    return [
        ChoiceStudy(
            *(stage, *words),
            BaselineForm(sent if study == stage else None, project=project, prefix=stage),
            _progress(project, stage),
        )
        for stage, words in WORDS.items()
    ]


def open_choice_study(request: HttpRequest, sample: dict[str, Any], stage: str) -> str:
    n = open_choices(request.user, request.project, stage, Sample(**sample))
    return ngettext("%(n)s item added to the study.", "%(n)s items added to the study.", n) % {"n": n}


def _progress(project: Project, stage: str) -> dict[str, int]:
    tasks = Task.objects.filter(project=project, stage=stage).exclude(state=TaskState.CANCELLED)
    return tasks.aggregate(asked=Count("pk"), done=Count("pk", filter=Q(state=TaskState.DONE)))
