"""Sign in, in one step or two; a demo offers its accounts with one button each."""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from foilworks.core.projects.access import has_second_factor
from foilworks.core.projects.actions.accounts import check_second_factor, note_failed_sign_in, note_sign_in
from foilworks.core.projects.demo_accounts import published_accounts
from foilworks.core.projects.errors import TooManyTries
from foilworks.core.projects.forms.accounts import (
    CodeForm,
    SignInWithCodeForm,
)
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import User
from foilworks.core.projects.sign_in import known_browsers

# The first step, kept in the session until the second: {"person", "next", "at"}.
WAITING = "second_factor"
WAITS_SECONDS = 600
Bars = list[tuple[rate_limits.Limit, tuple[object, ...]]]
OWN_BACKEND = "foilworks.core.projects.sign_in.sessions.OwnAccounts"


class SignIn(LoginView):
    template_name = "projects/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if any(rate_limits.is_exceeded(limit, *key_parts) for limit, key_parts in self._bars()):
            raise TooManyTries(self.refusal())
        return super().post(request, *args, **kwargs)

    def refusal(self) -> str:
        return _(
            "Too many wrong passwords. Wait 15 minutes, or reset your password. If you have a second "
            "factor, you can sign in now at %(address)s."
        ) % {"address": self.request.build_absolute_uri(reverse("projects:sign_in_with_code"))}

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        for limit, key_parts in self._counted():
            rate_limits.hit(limit, *key_parts)
        note_failed_sign_in(self.request, self.request.POST.get("username", ""), "wrong password")
        return super().form_invalid(form)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        limit, key_parts = self._counted()[0]
        rate_limits.reset(limit, *key_parts)
        return complete_login(self.request, form.get_user(), self.get_redirect_url())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        demos, nobody = published_accounts(), not User.objects.exists()
        # Only the sample project is here, so nobody can create another one yet.
        no_owner = bool(demos) and not User.objects.filter(is_superuser=True).exists()
        context = {"demos": demos, "oidc": settings.OIDC_NAME, "nobody": nobody, "no_owner": no_owner}
        return super().get_context_data(**kwargs, **context)

    def _counted(self) -> Bars:
        """Return the limits that a wrong password counts towards, the narrowest first."""
        name, network = self.request.POST.get("username", "")[:150].lower(), rate_limits.network_of(self.request)
        mark = known_browsers.mark_of(self.request, name)
        if mark:
            return [(rate_limits.SIGN_IN_HERE, (name, mark))]
        return [
            (rate_limits.SIGN_IN_HERE, (name, network)),
            (rate_limits.SIGN_IN_ADDRESS, (network,)),
            (rate_limits.SIGN_IN_NAME, (name,)),
        ]

    def _bars(self) -> Bars:
        """Return the limits that refuse an attempt: many wrong ones for a name leave each network three."""
        network_bar, *other_bars = self._counted()
        by_name = [bar for bar in other_bars if bar[0] == rate_limits.SIGN_IN_NAME]
        if any(rate_limits.is_exceeded(limit, *key_parts) for limit, key_parts in by_name):
            network_bar = (rate_limits.SIGN_IN_FEW, network_bar[1])
        return [network_bar, *(bar for bar in other_bars if bar not in by_name)]


class SignInWithCode(SignIn):
    """Sign in with name, password and second factor at once, if wrong passwords closed the usual page."""

    template_name = "projects/sign_in_with_code.html"
    authentication_form = SignInWithCodeForm

    def refusal(self) -> str:
        return _("Too many wrong codes. Wait 15 minutes.")

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return _sign_in(self.request, form.get_user(), self.get_redirect_url())

    def _counted(self) -> Bars:
        name = self.request.POST.get("username", "")[:150].lower()
        return [(rate_limits.SECOND_FACTOR, (name, rate_limits.network_of(self.request)))]


def complete_login(request: HttpRequest, person: User, next_url: str = "") -> HttpResponse:
    """Sign in a person whose identity is proved, or ask for their second factor first; then redirect to `next_url`."""
    if has_second_factor(person):
        request.session.cycle_key()
        request.session[WAITING] = {"person": person.pk, "next": next_url, "at": time.time()}
        return redirect("projects:sign_in_code")
    return _sign_in(request, person, next_url)


def _sign_in(request: HttpRequest, person: User, next_url: str) -> HttpResponse:
    login(request, person, backend=OWN_BACKEND)
    note_sign_in(person, "two steps" if has_second_factor(person) else "one step")
    response = redirect(_landing(request, person, next_url))
    known_browsers.remember(request, response, person.username)
    return response


@sensitive_post_parameters()
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """The second step."""
    waiting = request.session.get(WAITING)
    person = _waiting_person(waiting)
    if person is None:
        return redirect("projects:sign_in")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        bars = _bars_of_codes(request, person)
        if any(rate_limits.is_exceeded(limit, *key_parts) for limit, key_parts in bars):
            raise TooManyTries(_("Too many wrong codes. Wait 15 minutes, then sign in again."))
        if check_second_factor(person, form.cleaned_data["code"]):
            limit, key_parts = bars[0]
            rate_limits.reset(limit, *key_parts)
            del request.session[WAITING]
            return _sign_in(request, person, waiting["next"])
        for limit, key_parts in bars:
            rate_limits.hit(limit, *key_parts)
        note_failed_sign_in(request, person.username, "wrong code")
        form.add_error("code", _("The code is wrong or was already used. Enter the code that the app shows now."))
    return render(request, "projects/sign_in_code.html", {"form": form}, status=422 if form.errors else 200)


def _bars_of_codes(request: HttpRequest, person: User) -> Bars:
    """Return the limits for codes: a known browser's own, else those of its network and of all others."""
    mark = known_browsers.mark_of(request, person.username)
    if mark:
        return [(rate_limits.SECOND_FACTOR, (person.pk, mark))]
    network = rate_limits.network_of(request)
    return [(rate_limits.SECOND_FACTOR, (person.pk, network)), (rate_limits.SECOND_FACTOR_ALL, (person.pk,))]


def _waiting_person(waiting: dict[str, Any] | None) -> User | None:
    if not waiting or time.time() - waiting["at"] > WAITS_SECONDS:
        return None
    return User.objects.filter(pk=waiting["person"], is_active=True).first()


def _landing(request: HttpRequest, person: User, next_url: str) -> str:
    """Lead a person with a temporary password to the page that changes it."""
    if person.password_is_temporary:
        return reverse("projects:password")
    safe = url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure())
    return next_url if next_url and safe else resolve_url(settings.LOGIN_REDIRECT_URL)
