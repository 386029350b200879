"""A person's tokens for programs: made, told once, revoked."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from projects.actions import revoke_token as revoking
from projects.actions.make_token import Made, make_token
from projects.crowd_entry import require_proof
from projects.errors import ProjectError
from projects.forms.tokens import TokenForm
from projects.tokens import live_tokens


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The list; POST makes one, and the answer to it is the only page that ever shows it."""
    require_proof(request)
    form = TokenForm(request.user, request.POST if request.method == "POST" else None)
    made = _made(request, form)
    context = {"form": TokenForm(request.user) if made else form, "made": made, "tokens": live_tokens(request.user)}
    response = render(request, "projects/tokens.html", context, status=422 if form.errors else 200)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    require_proof(request)
    token = revoking.revoke_token(request.user, pk)
    messages.success(request, _("%(name)s opens nothing any more.") % {"name": token.name})
    return redirect("projects:tokens")


def _made(request: HttpRequest, form: TokenForm) -> Made | None:
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return make_token(request.user, **form.cleaned_data)
    except ProjectError as error:
        form.add_error(None, str(error))
        return None
