"""What a project says of itself when it goes out: citation and licences, the questions of the datasheet."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluation.documents.actions.describe_publication import answer_datasheet, describe_publication, sources_in
from evaluation.documents.forms import DatasheetForm, PublicationForm, terms_forms
from evaluation.documents.models import DatasheetAnswer, PublicationFacts
from evaluation.errors import EvaluationError
from evaluation.publishing.sheet import own_answers
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def publication(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    data = request.POST if request.method == "POST" else None
    stored = PublicationFacts.objects.filter(project=project).first() or PublicationFacts(project=project)
    form, terms = PublicationForm(data, instance=stored), terms_forms(project, sources_in(project), data)
    if data is not None and all([form.is_valid(), *(each.is_valid() for each in terms)]):
        sources = [{"source_dataset": each.source, **each.cleaned_data} for each in terms]
        describe_publication(request.user, project, form.cleaned_data, sources)
        messages.success(request, _("It is stored; exports made from now on say so."))
        return redirect("publishing:publication", slug)
    status = 422 if data is not None else 200
    return render(request, "evaluation/publication.html", {"form": form, "terms": terms}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def datasheet(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    data = request.POST if request.method == "POST" else None
    answers = dict(DatasheetAnswer.objects.filter(project=project).values_list("question", "text"))
    release, own = own_answers(project)
    form = DatasheetForm(data, answers, own)
    if data is not None and form.is_valid():
        try:
            answer_datasheet(request.user, project, form.cleaned_data)
        except EvaluationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("It is stored; exports made from now on say so."))
            return redirect("publishing:datasheet", slug)
    context = {"form": form, "release": release}
    return render(request, "evaluation/datasheet.html", context, status=422 if form.errors else 200)
