"""A person's own password; the temporary one that a researcher told them ends here."""

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
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from projects import rate_limits
from projects.actions.change_password import change_password
from projects.demo_accounts import is_published
from projects.errors import TooManyTries
from projects.models import User


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
        if not rate_limits.hit(rate_limits.RESET, rate_limits.address_of(request)):
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
