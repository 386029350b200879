"""Serve the form of the datasheet, one section per address, and save single answers as they are written."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Project, Role
from foilworks.site.documents.actions.documents import ChangedMeanwhileError, answer_datasheet
from foilworks.site.documents.forms import DatasheetForm, seen_name
from foilworks.site.documents.models import DatasheetAnswer, answer_version
from foilworks.site.publishing.sheet import own_answers

SAVED_EVENT = "answersaved"


@require_http_methods(["GET", "HEAD", "POST"])
def datasheet(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one section; POST saves the answers that it contains."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    release, form = _form(request, project)
    section = form.section_of(request.GET.get("section", ""))
    if form.is_bound and form.is_valid():
        try:
            answer_datasheet(request.user, project, form.submitted(), form.seen())
        except ChangedMeanwhileError as error:
            form.add_conflicts(error)
        except EvaluationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved. New exports contain the change."))
            return redirect(f"{request.path}?section={section['slug']}")
    context = {"form": form, "release": release, "section": section, "sections": form.sections()}
    return render(request, "evaluation/datasheet.html", context, status=422 if form.errors else 200)


@require_POST
def save_answer(request: HttpRequest, slug: str, question: str) -> HttpResponse:
    """Save one answer and return what its field says about it, with the progress of the datasheet."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    seen = request.POST.get(seen_name(question))
    context: dict[str, Any] = {"question": question, "seen_name": seen_name(question), "seen": seen}
    try:
        answer_datasheet(
            request.user, project, {question: request.POST.get(question, "")}, {} if seen is None else {question: seen}
        )
    except ChangedMeanwhileError as error:
        rows = DatasheetAnswer.objects.filter(project=project, question=question)
        theirs = rows.select_related("changed_by").first()
        context |= {"is_conflict": True, "theirs": theirs, "current": answer_version(error.stored[question])}
    except EvaluationError as error:
        context["problem"] = str(error)
    # Counted again: the answer changed the progress.
    form = _form(request, project, bound=False)[1]
    context |= {"form": form, "sections": form.sections()}
    kept = not {"is_conflict", "problem"} & context.keys()
    if kept:
        context |= {"kept": True, "seen": form.version(question)}
    response = render(request, "evaluation/_answer_saved.html", context)
    if kept:
        response.headers["HX-Trigger"] = SAVED_EVENT
        # Without a section, the page opens the first that has open questions: another one once this one has none.
        here = next(one for one in form.sections() if any(row["field"].name == question for row in one["rows"]))
        response.headers["HX-Replace-Url"] = f"{reverse('publishing:datasheet', args=[slug])}?section={here['slug']}"
    return response


def _form(request: HttpRequest, project: Project, *, bound: bool = True) -> tuple[Release | None, DatasheetForm]:
    answers = dict(DatasheetAnswer.objects.filter(project=project).values_list("question", "text"))
    release, own = own_answers(project)
    return release, DatasheetForm(request.POST if bound and request.method == "POST" else None, answers, own)
