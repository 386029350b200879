"""Takes back the last submit while the project's seconds for it last."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.actions.undo.undo_choice import undo_choice
from annotation.actions.undo.undo_edit import undo_edit
from annotation.actions.undo.undo_objects import undo_objects
from annotation.actions.undo.undo_review import undo_review
from annotation.actions.undo.undo_vote import undo_vote
from annotation.errors import AnnotationError
from annotation.models import Stage
from annotation.views._work_pages import piece_url, queue_url
from projects.access import get_project

UNDO = {
    "edit": (undo_edit, Stage.EDIT),
    "review": (undo_review, Stage.REVIEW),
    "vote": (undo_vote, Stage.VALIDATION),
    "choice": (undo_choice, Stage.BASELINE),
    "objectanswer": (undo_objects, Stage.OBJECTS),
}


@require_POST
def undo(request: HttpRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug)
    if kind not in UNDO:
        raise Http404(_("There is no such work of yours."))
    action, stage = UNDO[kind]
    try:
        claim = action(request.user, pk)
    except AnnotationError as error:
        messages.error(request, str(error))
        return redirect(queue_url(project, stage))
    return redirect(piece_url(project, claim))
