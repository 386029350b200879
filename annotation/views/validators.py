"""How the validators of a project stand, and what a researcher does about it."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotation.access import validator_for
from annotation.actions.quality.exclude_votes import exclude_votes
from annotation.actions.quality.pause_validator import pause_validator
from annotation.actions.quality.reinstate_votes import reinstate_votes
from annotation.actions.quality.resume_validator import resume_validator
from annotation.errors import AnnotationError
from annotation.messages import PAUSED_WHY
from annotation.models import QualityPolicy
from annotation.queries.quality import bars_of
from annotation.queries.quality import validators as rows_of
from annotation.rules.pausing import accuracy_on_the_line
from projects.access import get_project
from projects.models import Project, Role, User


@require_safe
def validators(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    rows = rows_of(project)
    policy = QualityPolicy.objects.filter(project=project).first()
    context = {
        "rows": [(row, PAUSED_WHY.get(row.standing.paused_why, "") if row.standing else "") for row in rows],
        "policy": policy,
        "line": accuracy_on_the_line(bars_of(policy)) if policy else None,
    }
    return render(request, "annotation/validators.html", context)


@require_POST
def validator_move(request: HttpRequest, slug: str, pk: int, move: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if move not in MOVES:
        raise Http404(_("There is no such move."))
    person = validator_for(request.user, project, pk)
    try:
        said = MOVES[move](request.user, project, person, request.POST.get("note", ""))
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, said)
    return redirect("annotation:validators", slug)


def _pause(actor: User, project: Project, person: User, note: str) -> str:
    pause_validator(actor, project, person.pk, note)
    return _("%(name)s is paused.") % {"name": person.username}


def _resume(actor: User, project: Project, person: User, note: str) -> str:
    resume_validator(actor, project, person.pk, note)
    return _("%(name)s goes on; the counts begin anew.") % {"name": person.username}


def _exclude(actor: User, project: Project, person: User, note: str) -> str:
    n = exclude_votes(actor, project, person.pk, note)
    words = ngettext("%(n)s vote of %(name)s is set aside.", "%(n)s votes of %(name)s are set aside.", n)
    return words % {"n": n, "name": person.username}


def _reinstate(actor: User, project: Project, person: User, note: str) -> str:
    counted, surplus = reinstate_votes(actor, project, person.pk, note)
    words = _("%(counted)s votes of %(name)s count again; %(surplus)s found no place and are surplus.")
    return words % {"counted": counted, "surplus": surplus, "name": person.username}


MOVES: dict[str, Callable[[User, Project, User, str], str]] = {
    "pause": _pause,
    "resume": _resume,
    "set-aside": _exclude,
    "bring-back": _reinstate,
}
