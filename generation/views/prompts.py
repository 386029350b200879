"""The prompts that runs can name: those that come with Foilworks, and a project's own, written and versioned here."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from generation.actions.write_prompt import write_prompt
from generation.asking.forms import PromptForm, as_initial
from generation.asking.prompt_rows import as_prompt, find_prompt
from generation.asking.prompts import PROMPTS
from generation.errors import GenerationError
from generation.models import PromptTemplate
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def prompts(request: HttpRequest, slug: str) -> HttpResponse:
    """`?from=counterfactual@1` opens the form with that prompt's words."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = PromptForm(request.POST) if request.method == "POST" else PromptForm(initial=_start(request, project))
    if request.method == "POST" and form.is_valid():
        try:
            row = write_prompt(request.user, project, **form.cleaned_data)
        except GenerationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Version %(id)s is there; new runs can name it.") % {"id": row})
            return redirect("generation:prompts", project.slug)
    rows = PromptTemplate.objects.filter(project=project).select_related("created_by")
    own = [{"prompt": as_prompt(row), "row": row} for row in rows]
    context = {"form": form, "own": own, "built_in": PROMPTS.values()}
    return render(request, "generation/prompts.html", context, status=422 if request.method == "POST" else 200)


def _start(request: HttpRequest, project: object) -> dict[str, str]:
    wanted = request.GET.get("from", "")
    if not wanted:
        return {}
    prompt = find_prompt(wanted, project)  # type: ignore[arg-type]
    return as_initial(prompt) | ({} if prompt.id in PROMPTS else {"slug": prompt.slug})
