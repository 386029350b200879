"""A person's own account: name and address, second factor, the projects that they belong to."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from projects import rate_limits
from projects.access import has_second_factor
from projects.actions.change_account import change_account
from projects.actions.check_second_factor import check_second_factor
from projects.actions.set_up_second_factor import (
    begin_second_factor,
    confirm_second_factor,
    remove_second_factor,
    renew_recovery_codes,
)
from projects.crowd_entry import require_proof
from projects.errors import ProjectError, TooManyTries
from projects.forms.accounts import AccountForm, CodeForm
from projects.forms.strict import refuse_other_fields
from projects.models import Membership, RecoveryCode
from projects.second_factor import picture


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    require_proof(request)
    form = AccountForm(request.POST if request.method == "POST" else None, instance=request.user)
    if request.method == "POST":
        refuse_other_fields(request, form)
        if form.is_valid():
            change_account(request.user, **form.cleaned_data)
            messages.success(request, _("Stored."))
            return redirect("projects:account")
    mine = Membership.objects.filter(person=request.user).select_related("project")
    context = {
        "form": form,
        "has_second_factor": has_second_factor(request.user),
        "recovery_codes": RecoveryCode.objects.filter(person=request.user).count(),
        "oidc": settings.OIDC_NAME,
        "memberships": mine.order_by("project__name", "role"),
    }
    return render(request, "projects/account.html", context, status=422 if form.errors else 200)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set it up; where there is one, remove it or make new recovery codes, for a code of it."""
    require_proof(request)
    if has_second_factor(request.user):
        return _change(request)
    form = CodeForm(request.POST if request.method == "POST" else None)
    factor = begin_second_factor(request.user)
    if request.method == "POST" and form.is_valid():
        try:
            codes = confirm_second_factor(request.user, form.cleaned_data["code"])
        except ProjectError as error:
            form.add_error("code", str(error))
        else:
            return render(request, "projects/recovery_codes.html", {"codes": codes})
    context = {"form": form, "secret": factor.secret, "picture": picture(factor.secret, request.user.username)}
    return render(request, "projects/second_factor.html", context, status=422 if form.errors else 200)


def _change(request: HttpRequest) -> HttpResponse:
    form = CodeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        if rate_limits.is_exceeded(rate_limits.SECOND_FACTOR, request.user.pk):
            raise TooManyTries(_("Too many wrong codes; wait a quarter of an hour."))
        if check_second_factor(request.user, form.cleaned_data["code"]):
            if request.POST.get("do") == "remove":
                remove_second_factor(request.user)
                messages.success(request, _("The second factor is removed."))
                return redirect("projects:account")
            return render(request, "projects/recovery_codes.html", {"codes": renew_recovery_codes(request.user)})
        rate_limits.hit(rate_limits.SECOND_FACTOR, request.user.pk)
        form.add_error("code", _("This code does not fit, or was used already; type the one that the app shows now."))
    return render(request, "projects/second_factor_change.html", {"form": form}, status=422 if form.errors else 200)
