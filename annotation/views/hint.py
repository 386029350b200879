"""An annotator asks the project's model about a text for the caption in hand; asked again, it tells what came since."""

from django.http import Http404, HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import lease_for
from annotation.models import Stage
from generation.actions.ask_hint import ask_hint
from generation.errors import GenerationError
from generation.hints import hint_answer
from projects.access import get_project
from projects.models import Role


@require_POST
def hint(request: HttpRequest, slug: str, token: str) -> JsonResponse:
    """{"state", "words", "text", "caption"}; 400 with {"problem"} where nothing can be asked."""
    project = request.project = get_project(request.user, slug, Role.ANNOTATOR)
    lease = lease_for(request.user, token)
    if lease.slot.project_id != project.pk or lease.slot.stage != Stage.EDIT:
        raise Http404(_("There is no such work of yours."))
    try:
        found = hint_answer(ask_hint(request.user, project, lease.task.group.caption, request.POST.get("text", "")))
    except GenerationError as error:
        return JsonResponse({"problem": str(error)}, status=400)
    return JsonResponse({"state": found.state, "words": str(found.words), "text": found.text, "caption": found.caption})
