"""Which model annotators may ask while they write: set, switched off, and how often it was asked."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from generation.actions.set_hint_model import set_hint_model
from generation.errors import GenerationError
from generation.models import Hint, HintModel
from projects.access import get_project
from projects.models import Role


class HintForm(forms.Form):
    spec = forms.CharField(
        label=gettext_lazy("Model"),
        max_length=500,
        help_text=gettext_lazy(
            "SLUG:ARGUMENT as in a scoring run: lm:… for how likely a sentence is, clip:… and the "
            "like for how well it fits the video."
        ),
    )
    enabled = forms.BooleanField(label=gettext_lazy("Annotators may ask it"), required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def hints(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    now = HintModel.objects.filter(project=project).first()
    initial = {"spec": now.spec, "enabled": now.enabled} if now else {"enabled": True}
    form = HintForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_bound and form.is_valid():
        try:
            set_hint_model(request.user, project, form.cleaned_data["spec"], enabled=form.cleaned_data["enabled"])
        except GenerationError as error:
            form.add_error("spec", str(error))
        else:
            messages.success(request, _("Stored; it holds for pages that are opened from now on."))
            return redirect(request.path)
    asked = Hint.objects.filter(caption__video__project=project)
    context = {"form": form, "now": now, "n_asked": asked.count(), "failed": asked.exclude(problem="").last()}
    return render(request, "generation/hints.html", context, status=422 if form.errors else 200)
