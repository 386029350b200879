"""What an open page does with its lease: renew it, keep what was typed, give the piece back, undo its submit."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import lease_for
from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.leases import heartbeat as renewing
from annotation.actions.leases import release as releasing
from annotation.actions.leases.decline_video import decline_video
from annotation.actions.leases.save_draft import save_draft
from annotation.actions.undo.undo_choice import undo_choice
from annotation.actions.undo.undo_edit import undo_edit
from annotation.actions.undo.undo_objects import undo_objects
from annotation.actions.undo.undo_review import undo_review
from annotation.actions.undo.undo_vote import undo_vote
from annotation.claims import claim_of
from annotation.errors import AnnotationError, LeaseEnded
from annotation.models import Lease, Stage
from annotation.models.stages import public_stage
from annotation.views._work_pages import milliseconds, next_piece, piece_url, queue_url
from projects.access import get_project, roles_in


@require_POST
def heartbeat(request: HttpRequest, slug: str, token: str) -> JsonResponse:
    """{"seconds_left"}; 410 with {"problem"} where the lease is over, 404 where what is sent under it is not taken."""
    lease = _my_lease(request, slug, token)
    try:
        expires = renewing.heartbeat(request.user, token)
    except LeaseEnded as error:
        if ROLE_OF_STAGE[public_stage(lease.slot.stage)] not in roles_in(request.user, request.project):
            raise Http404(_("There is no such work of yours.")) from error
        return JsonResponse({"problem": str(error)}, status=410)
    return JsonResponse({"seconds_left": round((expires - timezone.now()).total_seconds())})


@require_POST
def draft(request: HttpRequest, slug: str, token: str) -> JsonResponse:
    """{"at": when, in milliseconds}; 410 where the work was sent already, 400 with {"problem"} for what is no draft."""
    _my_lease(request, slug, token)
    try:
        at = save_draft(request.user, token, request.POST.get("draft", ""))
    except AnnotationError as error:
        return JsonResponse({"problem": str(error)}, status=410 if isinstance(error, LeaseEnded) else 400)
    return JsonResponse({"at": milliseconds(at)})


@require_POST
def skip(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    lease = _my_lease(request, slug, token)
    releasing.release(request.user, token)
    return _next_after(request, lease)


@require_POST
def decline(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """A skip at a content warning: the next piece is of another video."""
    lease = _my_lease(request, slug, token)
    decline_video(request.user, token)
    return _next_after(request, lease)


def _next_after(request: HttpRequest, lease: Lease) -> HttpResponse:
    """The piece whose clip the page has loaded already, if it is still free."""
    stage = public_stage(lease.slot.stage)
    return next_piece(request, request.project, stage, last=claim_of(lease, lease.slot))


def _my_lease(request: HttpRequest, slug: str, token: str) -> Lease:
    request.project = get_project(request.user, slug)
    lease = lease_for(request.user, token)
    if lease.slot.project_id != request.project.pk:
        raise Http404(_("There is no such work of yours."))
    return lease


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
