"""A person's own account: name and address, second factor, password, tokens, the projects that they belong to."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from projects import rate_limits
from projects.access import has_second_factor
from projects.actions import revoke_token as revoking
from projects.actions.change_account import change_account
from projects.actions.change_password import change_password
from projects.actions.check_second_factor import check_second_factor
from projects.actions.make_token import Made, make_token
from projects.actions.set_up_second_factor import (
    begin_second_factor,
    confirm_second_factor,
    remove_second_factor,
    renew_recovery_codes,
)
from projects.crowd_entry import require_proof
from projects.demo_accounts import is_published
from projects.errors import ProjectError, TooManyTries
from projects.forms.accounts import AccountForm, CodeForm, TokenForm
from projects.forms.strict import refuse_other_fields
from projects.models import Membership, RecoveryCode, User
from projects.second_factor import picture
from projects.tokens import live_tokens


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


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    form = PasswordChangeForm(request.user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        change_password(request.user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, request.user)
        messages.success(request, _("Your password is changed."))
        return redirect("home")
    return render(request, "projects/password.html", {"form": form}, status=422 if form.errors else 200)


class AskForm(PasswordResetForm):
    def get_users(self, email: str) -> list[User]:
        """Demo accounts, whose password is published, get no mail."""
        return [person for person in super().get_users(email) if not is_published(person)]


class AskForReset(PasswordResetView):
    template_name = "projects/password_reset.html"
    email_template_name = "projects/password_reset_mail.txt"
    subject_template_name = "projects/password_reset_subject.txt"
    form_class = AskForm
    success_url = reverse_lazy("projects:sign_in")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not rate_limits.hit(rate_limits.RESET, rate_limits.network_of(request)):
            raise TooManyTries(_("Too many mails were asked for; wait an hour."))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        answer = super().form_valid(form)
        messages.success(self.request, _("If that address belongs to an account, a mail is on its way to it."))
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, by_mail=settings.MAIL_IS_SET)


class Reset(PasswordResetConfirmView):
    template_name = "projects/password_new.html"

    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        change_password(form.user, form.cleaned_data["new_password1"])
        del self.request.session["_password_reset_token"]
        messages.success(self.request, _("Your password is changed; sign in with it."))
        return redirect("projects:sign_in")


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
