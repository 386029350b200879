"""How much of the work reviewers see: the project's shares, annotators with a rate of their own, what came of each."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.actions.settings.set_review_sampling import set_review_sampling
from annotation.errors import AnnotationError
from annotation.forms import ReviewSharesForm
from annotation.queries.review_sampling import annotator_shares, policy_of, waiting_second_reviews
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def review_shares(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    shares = annotator_shares(project)
    form = ReviewSharesForm(
        request.POST if request.method == "POST" else None, policy=policy_of(project), shares=shares
    )
    if form.is_bound and form.is_valid():
        try:
            set_review_sampling(request.user, project, **form.shares())
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The shares hold from now on."))
            return redirect(request.path)
    rows = [(share, form[form.field_of(share.person)]) for share in shares]
    context = {"form": form, "rows": rows, "waiting": waiting_second_reviews(project)}
    return render(request, "annotation/review_shares.html", context, status=422 if form.errors else 200)
