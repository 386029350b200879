"""What people of a project agree to: the page that asks, and the owner's page that says."""

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from projects.access import get_project, needs_consent
from projects.actions.give_consent import give_consent
from projects.actions.publish_consent_text import publish_consent_text
from projects.errors import ProjectError
from projects.forms.accounts import ConsentForm, ConsentTextForm
from projects.forms.strict import refuse_other_fields
from projects.models import Consent, ConsentText, Role


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest text; POST agrees to it."""
    project = request.project = get_project(request.user, slug, consenting=True)
    text = ConsentText.objects.filter(project=project).first()
    form = ConsentForm(request.POST if request.method == "POST" else None, initial={"version": text and text.version})
    if request.method == "POST":
        refuse_other_fields(request, form, project=project)
        if form.is_valid():
            give_consent(request.user, project, form.cleaned_data["version"])
            messages.success(request, _("Thank you: you have agreed to version %(n)s.") % {"n": text.version})
            wanted = request.POST.get("next", "")
            safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
            return redirect(wanted if wanted and safe else "annotation:work", *([] if wanted and safe else [slug]))
    context = {
        "text": text,
        "form": form,
        "asked": needs_consent(request.user, project),
        "given": Consent.objects.filter(person=request.user, text__project=project).select_related("text"),
        "next": request.GET.get("next", ""),
    }
    return render(request, "projects/consent.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def consent_texts(request: HttpRequest, slug: str) -> HttpResponse:
    """All versions, with how many agreed to each; POST publishes a new one."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    standing = Count("given", filter=Q(given__withdrawn_at=None))
    left = Count("given", filter=Q(given__withdrawn_at__isnull=False))
    texts = list(ConsentText.objects.filter(project=project).annotate(n_given=standing, n_withdrawn=left))
    newest = ConsentText(text=texts[0].text, on_withdrawal=texts[0].on_withdrawal) if texts else None
    form = ConsentTextForm(request.POST if request.method == "POST" else None, instance=newest)
    if request.method == "POST" and form.is_valid():
        try:
            made = publish_consent_text(request.user, project, **form.cleaned_data)
        except ProjectError as error:
            form.add_error("text", str(error))
        else:
            words = _("Version %(n)s is published; people are asked for it before they go on.")
            messages.success(request, words % {"n": made.version})
            return redirect("projects:consent_texts", slug)
    context = {"form": form, "texts": texts}
    return render(request, "projects/consent_texts.html", context, status=422 if form.errors else 200)
