"""Show and store the prompts of instruction models."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from generation.actions.write_prompt import write_prompt
from generation.errors import GenerationError
from generation.instruction_models.forms import PromptForm, as_initial
from generation.instruction_models.prompt_rows import as_prompt, find_prompt
from generation.instruction_models.prompts import PROMPTS
from generation.models import PromptTemplate


@require_http_methods(["GET", "HEAD", "POST"])
def prompts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the prompts and the form of a new one. `?from=counterfactual@1` fills the form with that prompt."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = PromptForm(request.POST) if request.method == "POST" else PromptForm(initial=_first_words(request, project))
    if request.method == "POST" and form.is_valid():
        try:
            row = write_prompt(request.user, project, **form.cleaned_data)
        except GenerationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Version %(id)s is saved. New runs can use it.") % {"id": row})
            return redirect("generation:prompts", project.slug)
    rows = PromptTemplate.objects.filter(project=project).select_related("created_by")
    own = [{"prompt": as_prompt(row), "row": row} for row in rows]
    context = {"form": form, "own": own, "built_in": PROMPTS.values()}
    return render(request, "generation/prompts.html", context, status=422 if request.method == "POST" else 200)


def _first_words(request: HttpRequest, project: object) -> dict[str, str]:
    prompt_id = request.GET.get("from", "")
    if not prompt_id:
        return {}
    prompt = find_prompt(prompt_id, project)  # type: ignore[arg-type]
    return as_initial(prompt) | ({} if prompt.id in PROMPTS else {"slug": prompt.slug})
